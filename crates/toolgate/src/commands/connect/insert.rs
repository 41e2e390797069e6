//! Putting one entry into a file by putting text in: everything else stays as it was written, comments too.

use std::path::Path;

use jsonc_parser::{
    ast::{Object, ObjectProp},
    common::Ranged,
};
use serde::Serialize;
use serde_json::{Map, Value, json, ser::PrettyFormatter};

use crate::commands::client_file::{self, FileProblem, without_mark};

#[derive(Debug, thiserror::Error)]
pub enum CannotInsert {
    #[error(transparent)]
    File(#[from] FileProblem),
    #[error("the entry can't be put into {0} without changing something else; add it by hand: {1}")]
    Unsafe(String, String),
}

/// `text` with `value` at `key`.`name`; the same text where it is there already.
pub fn entry(path: &Path, text: &str, key: &str, name: &str, value: &Value) -> Result<String, CannotInsert> {
    let (mark, body) = without_mark(text);
    if body.trim().is_empty() {
        let style = Style { newline: "\n", unit: "  " };
        return Ok(format!("{mark}{}\n", style.pretty(&json!({ key: { name: value } }), "")));
    }
    let root = client_file::object(path, body)?;
    let page = Page { text: body, style: Style::of(body, &root) };
    let edited = match root.get(key) {
        None => page.with_member(&root, key, &json!({ name: value })),
        Some(member) => {
            let servers = servers(path, key, member)?;
            match servers.get(name) {
                Some(there) if client_file::value(&there.value) == *value => Some(body.to_owned()),
                Some(there) => page.with_value(there, value),
                None => page.with_member(servers, name, value),
            }
        }
    };
    let by_hand = || CannotInsert::Unsafe(path.display().to_string(), format!("\"{name}\": {value}"));
    let edited = edited.ok_or_else(by_hand)?;
    // INVARIANT: what is written says what was there and the entry, nothing else
    let mut wanted = client_file::members(&root);
    if let Some(servers) = wanted.entry(key).or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
        servers.insert(name.to_owned(), value.clone());
    }
    if client_file::members(&client_file::object(path, &edited)?) != wanted {
        return Err(by_hand());
    }
    Ok(format!("{mark}{edited}"))
}

/// The value at `key`.`name`.
pub fn find(path: &Path, text: &str, key: &str, name: &str) -> Result<Option<Value>, FileProblem> {
    let (_, body) = without_mark(text);
    let root = client_file::object(path, body)?;
    let Some(member) = root.get(key) else { return Ok(None) };
    Ok(servers(path, key, member)?.get(name).map(|there| client_file::value(&there.value)))
}

/// The servers at `key`, by name; none where there is no such key.
pub fn all(path: &Path, text: &str, key: &str) -> Result<Map<String, Value>, FileProblem> {
    let (_, body) = without_mark(text);
    if body.trim().is_empty() {
        return Ok(Map::new());
    }
    let root = client_file::object(path, body)?;
    let Some(member) = root.get(key) else { return Ok(Map::new()) };
    servers(path, key, member).map(client_file::members)
}

fn servers<'m, 't>(path: &Path, key: &str, member: &'m ObjectProp<'t>) -> Result<&'m Object<'t>, FileProblem> {
    member.value.as_object().ok_or_else(|| FileProblem::NotObject {
        path: path.display().to_string(),
        place: format!("'{key}'"),
        found: client_file::kind(&member.value),
    })
}

/// How a file is written.
struct Style<'t> {
    newline: &'static str,
    /// One step of indentation.
    unit: &'t str,
}

impl<'t> Style<'t> {
    fn of(text: &'t str, root: &Object<'_>) -> Self {
        let first = root.properties.first().and_then(|member| indent(text, member.start()));
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { newline, unit: first.filter(|unit| !unit.is_empty()).unwrap_or("  ") }
    }

    fn pretty(&self, value: &Value, indent: &str) -> String {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter));
        let text = written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_string());
        text.replace('\n', &format!("{}{indent}", self.newline))
    }
}

struct Page<'t> {
    text: &'t str,
    style: Style<'t>,
}

impl Page<'_> {
    fn with_value(&self, member: &ObjectProp<'_>, value: &Value) -> Option<String> {
        let range = member.value.range();
        let old = self.text.get(range.start..range.end)?;
        let line = line_indent(self.text, member.start());
        let new = if old.contains('\n') { self.style.pretty(value, line) } else { value.to_string() };
        Some(format!("{}{new}{}", self.text.get(..range.start)?, self.text.get(range.end..)?))
    }

    fn with_member(&self, object: &Object<'_>, key: &str, value: &Value) -> Option<String> {
        let (start, close) = (object.start() + 1, object.end().checked_sub(1)?);
        let inside = self.text.get(start..close)?;
        let last = object.properties.last();
        let is_page = object.start() == 0 || self.text.trim().contains('\n');
        if inside.contains('\n') || (last.is_none() && is_page) {
            return self.on_lines(object, last, key, value);
        }
        let end = last.map_or(start, Ranged::end);
        let comma = if last.is_some() { ", " } else { "" };
        let rest = self.text.get(end..)?;
        // a comma that stands before the brace already parts the two
        let (comma, rest) = match has_comma(self.text.get(end..close)?) {
            true => (self.text.get(end..close)?, self.text.get(close..)?),
            false => (comma, rest),
        };
        Some(format!("{}{comma}{}: {value}{rest}", self.text.get(..end)?, json!(key)))
    }

    /// A line of its own, after whatever is said of the last one.
    fn on_lines(&self, object: &Object<'_>, last: Option<&ObjectProp<'_>>, key: &str, value: &Value) -> Option<String> {
        let Style { newline, unit } = self.style;
        let close = object.end().checked_sub(1)?;
        let outer = line_indent(self.text, close);
        let outer = if self.text.get(object.start()..close)?.contains('\n') {
            outer
        } else {
            line_indent(self.text, object.start())
        };
        let own = last.and_then(|last| indent(self.text, last.start())).map(str::to_owned);
        let indent = own.unwrap_or_else(|| format!("{outer}{unit}"));
        let end = last.map_or(object.start() + 1, Ranged::end);
        let between = self.text.get(end..close)?;
        let said = between.trim_end();
        let had_comma = last.is_some() && has_comma(between);
        let before = if last.is_some() && !had_comma { "," } else { "" };
        let after = if had_comma { "," } else { "" };
        let member = format!("{}: {}", json!(key), self.style.pretty(value, &indent));
        let gap = between.get(said.len()..)?;
        let gap = if gap.contains('\n') { gap.to_owned() } else { format!("{newline}{outer}") };
        let (head, tail) = (self.text.get(..end)?, self.text.get(close..)?);
        Some(format!("{head}{before}{said}{newline}{indent}{member}{after}{gap}{tail}"))
    }
}

/// The blanks before `at`, where nothing else stands before it on its line.
pub(super) fn indent(text: &str, at: usize) -> Option<&str> {
    let (before, _) = text.split_at_checked(at)?;
    let line = before.rsplit_once('\n')?.1;
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

/// The blanks the line of `at` begins with.
fn line_indent(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or("");
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    line.split_at(line.len() - line.trim_start_matches([' ', '\t']).len()).0
}

fn has_comma(between: &str) -> bool {
    comma_at(between).is_some()
}

/// The place of the first comma outside comments.
pub(super) fn comma_at(between: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let rest = between.get(from..)?;
        let at = rest.find(['/', ','])?;
        let found = rest.get(at..)?;
        let skipped = match found {
            _ if found.starts_with("//") => found.split_once('\n'),
            _ if found.starts_with("/*") => found.get(2..).and_then(|inside| inside.split_once("*/")),
            _ => return found.starts_with(',').then_some(from + at),
        };
        from = between.len() - skipped?.1.len();
    }
}
