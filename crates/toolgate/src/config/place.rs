//! The place of a key in the configuration file, for faults that are found after the file was read.
//!
//! A message about a key begins with the key as the file has it: `[server] listen = "x": …`, `lang = "fr": …`. A message about
//! a pack, an upstream or an issuer begins with its name: `the upstream 'files' …`. The place is looked up by these.

use std::path::Path;

use crate::bounded_file::read_text;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The file of the current folder that is read where none is named.
pub const DEFAULT_FILE: &str = "toolgate.toml";

/// The message with the file, line and column of the key that it begins with; alone where the file has no such key.
pub fn with_place(named: Option<&Path>, message: &str) -> String {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    let Some(subject) = Subject::of(message) else { return message.to_owned() };
    if let Some(variable) = subject.variable().filter(|name| std::env::var_os(name).is_some()) {
        return format!("the variable {variable}: {message}");
    }
    let found = read_text(path).ok().and_then(|text| Some(line_and_column(&text, subject.find(&text)?)));
    match found {
        Some((line, column)) => format!("{}:{line}:{column}: {message}", path.display()),
        None => message.to_owned(),
    }
}

/// Line and column of a byte of the text, from 1.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or("");
    (before.matches('\n').count() + 1, before.rsplit('\n').next().unwrap_or("").chars().count() + 1)
}

/// The part of the file that a message is about.
#[derive(Debug, PartialEq, Eq)]
struct Subject {
    keys: Vec<String>,
    /// The first word in quotes: a key or a value below the keys.
    quoted: Option<String>,
}

/// How messages about named tables begin, and where those tables are.
const NAMED: [(&str, &[&str]); 4] = [
    ("the upstream '", &["upstreams"]),
    ("the issuer '", &["identity", "issuers"]),
    ("the pack '", &["packs"]),
    ("there is no pack '", &["packs"]),
];

impl Subject {
    fn of(message: &str) -> Option<Self> {
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        for (beginning, keys) in NAMED {
            if let Some(rest) = message.strip_prefix(beginning) {
                let name = rest.split('\'').next()?;
                return Some(Self { keys: owned(keys), quoted: Some(name.to_owned()) });
            }
        }
        let quoted = message.split('\'').nth(1).map(str::to_owned);
        // `undo or preview in [tools] names the tool 'x'`
        let begins = message
            .find('[')
            .filter(|at| *at == 0 || message.get(..*at).is_some_and(|before| before.ends_with(" in ")));
        let Some(begins) = begins else {
            let key = message.split([' ', ':']).next().filter(|key| !key.is_empty() && key.bytes().all(is_bare))?;
            return Some(Self { keys: vec![key.to_owned()], quoted });
        };
        let (header, rest) = message.get(begins + 1..)?.split_once(']')?;
        let mut keys = dotted(header)?;
        keys.extend(key_after(rest));
        Some(Self { keys, quoted })
    }

    /// The variable that would override the key.
    fn variable(&self) -> Option<String> {
        let [section, key] = self.keys.as_slice() else { return None };
        Some(format!("TOOLGATE_{}__{}", section.to_ascii_uppercase(), key.to_ascii_uppercase()))
    }

    /// Where it begins in the file, in bytes.
    fn find(&self, text: &str) -> Option<usize> {
        let file = DeTable::parse(text).ok()?;
        find(file.get_ref(), &self.keys, self.quoted.as_deref())
    }
}

fn is_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// The keys of a header, quotes and all.
fn dotted(header: &str) -> Option<Vec<String>> {
    let line = format!("{header} = 0");
    let table: toml::Table = toml::from_str(&line).ok()?;
    let mut keys = Vec::new();
    let mut inner = &table;
    loop {
        let (key, value) = inner.iter().next()?;
        keys.push(key.clone());
        match value.as_table() {
            Some(table) => inner = table,
            None => return Some(keys),
        }
    }
}

/// The key that stands after a header, before `=` or `:`.
fn key_after(rest: &str) -> Vec<String> {
    let rest = rest.trim_start();
    let end = rest.bytes().take_while(|byte| is_bare(*byte) || *byte == b'.').count();
    let (key, after) = rest.split_at_checked(end).unwrap_or_default();
    let is_key = !key.is_empty() && (after.starts_with(':') || after.trim_start().starts_with('='));
    if is_key { key.split('.').map(str::to_owned).collect() } else { Vec::new() }
}

/// A table is found at its key, a value at itself; where the last keys are not there, what would hold them.
fn find(table: &DeTable<'_>, keys: &[String], quoted: Option<&str>) -> Option<usize> {
    let (first, rest) = keys.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    let here = if value.get_ref().is_table() { key.span() } else { value.span() };
    let within = match (rest, value.get_ref()) {
        ([], _) => quoted.and_then(|quoted| named(value, quoted)),
        (rest, DeValue::Table(inner)) => find(inner, rest, quoted),
        _ => None,
    };
    within.or(Some(here.start))
}

/// The key or the text that is this word, at any depth.
fn named(value: &Spanned<DeValue<'_>>, word: &str) -> Option<usize> {
    match value.get_ref() {
        DeValue::String(text) => (text == word).then(|| value.span().start),
        DeValue::Array(values) => values.iter().find_map(|value| named(value, word)),
        DeValue::Table(table) => {
            let key = table.keys().find(|key| key.get_ref() == word).map(|key| key.span().start);
            key.or_else(|| table.values().find_map(|value| named(value, word)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"lang = "fr"
disabled_tools = ["add_task", "ad_task"]

[server]
listen = "127.0.0.1"

[packs.todoo]

[tools."files_*"]
undo = { tool = "nothing", arguments = "{}" }

[flows.release]
ttl = "soon"

[[upstreams]]
name = "files"
command = "x"
"#;

    fn place(message: &str) -> Option<(usize, usize)> {
        Some(line_and_column(FILE, Subject::of(message)?.find(FILE)?))
    }

    #[test]
    fn a_message_is_placed_at_the_key_it_begins_with() {
        for (message, expected) in [
            ("[server] listen = \"127.0.0.1\": invalid socket address", Some((5, 10))),
            ("lang = \"fr\": not known", Some((1, 8))),
            ("disabled_tools names the tool 'ad_task', which is not registered", Some((2, 31))),
            ("[flows.\"release\"] ttl: 'soon' is no duration", Some((13, 7))),
            ("there is no pack 'todoo'; did you mean 'todo'?", Some((7, 8))),
            ("[tools] names the tool 'files_*', which is not registered", Some((9, 8))),
            ("undo or preview in [tools] names the tool 'nothing'", Some((10, 17))),
            ("the upstream 'files' takes 'K' from the variable V, which is not set", Some((16, 8))),
            ("[server] body_budget_bytes = 3 is too small", Some((4, 2))),
            ("[approvals] ttl: 'x' is no duration", None),
            ("rules/x.cedar:1:64: something", None),
            ("can't listen on 127.0.0.1:80", None),
            ("[never closed", None),
            ("", None),
        ] {
            assert_eq!(place(message), expected, "{message}");
        }
    }
}
