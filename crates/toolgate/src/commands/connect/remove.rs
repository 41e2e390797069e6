//! Taking one entry out of a file by cutting text out: everything else stays as it was written, comments too.

use std::path::Path;

use jsonc_parser::{ast::Object, common::Ranged};
use serde_json::Value;

use super::insert::{comma_at, indent};
use crate::commands::client_file::{self, FileProblem, without_mark};

#[derive(Debug, thiserror::Error)]
pub enum CannotRemove {
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("'{1}' can't be taken out of {0} without changing something else; take it out by hand")]
    Unsafe(String, String),
}

/// `text` without `key`.`name`; the same text where there is none.
pub fn entry(path: &Path, text: &str, key: &str, name: &str) -> Result<String, CannotRemove> {
    let (mark, body) = without_mark(text);
    let root = client_file::object(path, body)?;
    let Some(servers) = root.get(key).and_then(|member| member.value.as_object()) else { return Ok(text.to_owned()) };
    let Some(index) = servers.properties.iter().position(|member| member.name.as_str() == name) else {
        return Ok(text.to_owned());
    };
    let by_hand = || CannotRemove::Unsafe(path.display().to_string(), name.to_owned());
    let edited = without(body, servers, index).ok_or_else(by_hand)?;
    // INVARIANT: what is written says what was there without the entry, nothing else
    let mut wanted = client_file::members(&root);
    if let Some(servers) = wanted.get_mut(key).and_then(Value::as_object_mut) {
        servers.remove(name);
    }
    let found = client_file::object(path, &edited).map_err(|_| by_hand())?;
    if client_file::members(&found) != wanted {
        return Err(by_hand());
    }
    Ok(format!("{mark}{edited}"))
}

fn without(text: &str, object: &Object<'_>, index: usize) -> Option<String> {
    let member = object.properties.get(index)?;
    let next = object.properties.get(index + 1).map_or(object.end().checked_sub(1)?, Ranged::start);
    let comma = comma_at(text.get(member.end()..next)?);
    let (mut start, mut end) = (member.start(), member.end() + comma.map_or(0, |at| at + 1));
    let rest = text.get(end..next)?;
    let line = rest.split('\n').next()?;
    let is_line_end = line.len() < rest.len() && (line.trim().is_empty() || line.trim().starts_with("//"));
    match indent(text, start).filter(|_| is_line_end) {
        // whole lines, with a comment that stands at the end of the last
        Some(indent) => {
            start -= indent.len();
            end += line.len() + 1;
        }
        None => end += if comma.is_some() { rest.len() - rest.trim_start_matches(' ').len() } else { 0 },
    }
    let head = match index.checked_sub(1).filter(|_| comma.is_none()) {
        None => text.get(..start)?.to_owned(),
        // what was the last but one is the last now
        Some(previous) => {
            let previous = object.properties.get(previous)?.end();
            let at = previous + comma_at(text.get(previous..start)?)?;
            let between = text.get(at + 1..start)?;
            format!(
                "{}{}",
                text.get(..at)?,
                if between.trim().is_empty() { between.trim_end_matches(' ') } else { between }
            )
        }
    };
    Some(format!("{head}{}", text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_goes_with_its_comma_and_its_line_and_the_rest_stays() {
        let cases = [
            ("{\"s\":{\"a\":{},\"b\":{}}}", "a", "{\"s\":{\"b\":{}}}"),
            ("{\"s\":{\"a\":{},\"b\":{}}}", "b", "{\"s\":{\"a\":{}}}"),
            ("{\"s\": { \"a\": {}, \"b\": {} }}", "a", "{\"s\": { \"b\": {} }}"),
            ("{\"s\": { \"a\": {}, \"b\": {} }}", "b", "{\"s\": { \"a\": {} }}"),
            ("{\"s\": {\"a\": {}}}", "a", "{\"s\": {}}"),
            ("{\"s\": {\"a\": {}}}", "c", "{\"s\": {\"a\": {}}}"),
            (
                "{\n  \"s\": {\n    \"a\": {\n      \"x\": 1\n    }, // first\n    // of b\n    \"b\": {}\n  }\n}\n",
                "a",
                "{\n  \"s\": {\n    // of b\n    \"b\": {}\n  }\n}\n",
            ),
            (
                "{\n  \"s\": {\n    \"a\": {}, // a\n    \"b\": {}\n  }\n}\n",
                "b",
                "{\n  \"s\": {\n    \"a\": {} // a\n  }\n}\n",
            ),
            (
                "{\r\n  \"s\": {\r\n    \"a\": {},\r\n    \"b\": {},\r\n  },\r\n}",
                "b",
                "{\r\n  \"s\": {\r\n    \"a\": {},\r\n  },\r\n}",
            ),
            ("\u{feff}{\"s\": {\"a\": {} /* , */, \"b\": 1}}", "a", "\u{feff}{\"s\": {\"b\": 1}}"),
        ];
        for (before, name, after) in cases {
            assert_eq!(entry(Path::new("f"), before, "s", name).unwrap(), after, "{before}");
        }
    }
}
