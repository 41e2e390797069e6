//! What changed between two definitions, place by place.

use std::collections::BTreeMap;

use super::canonical::{Json, Unreadable};

/// The changes, in the order of the canonical form. None: the definitions have one digest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    pub changes: Vec<Change>,
}

/// One place. Absent before: added. Absent after: removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// JSON pointer, in the definition's own characters.
    pub path: String,
    /// Canonical JSON.
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Compares two definitions. A new tool against `{}` shows all of it.
pub fn diff(before: &str, after: &str) -> Result<Diff, Unreadable> {
    let mut changes = Vec::new();
    compare(&mut String::new(), &Json::read(before)?, &Json::read(after)?, &mut changes);
    Ok(Diff { changes })
}

fn compare(path: &mut String, before: &Json, after: &Json, changes: &mut Vec<Change>) {
    match (before, after) {
        _ if before == after => {}
        (Json::Object(before), Json::Object(after)) => {
            let (old, new) = (by_key(before), by_key(after));
            let mut keys: Vec<&str> = old.keys().chain(new.keys()).copied().collect();
            keys.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
            keys.dedup();
            for key in keys {
                step(path, key, old.get(key).copied(), new.get(key).copied(), changes);
            }
        }
        (Json::List(old), Json::List(new)) if old.len() == new.len() || !(plain(old) && plain(new)) => {
            for index in 0..old.len().max(new.len()) {
                step(path, &index.to_string(), old.get(index), new.get(index), changes);
            }
        }
        _ => changes.push(change(path, Some(before), Some(after))),
    }
}

fn step(path: &mut String, key: &str, before: Option<&Json>, after: Option<&Json>, changes: &mut Vec<Change>) {
    let length = path.len();
    push_key(path, key);
    match (before, after) {
        (Some(before), Some(after)) => compare(path, before, after, changes),
        _ => changes.push(change(path, before, after)),
    }
    path.truncate(length);
}

fn by_key(members: &[(String, Json)]) -> BTreeMap<&str, &Json> {
    members.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

/// One more step of a JSON pointer.
pub(super) fn push_key(path: &mut String, key: &str) {
    path.push('/');
    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

/// Longest path that is kept whole.
const LONGEST_PATH: usize = 400;

/// A path for people. A longer one loses its middle: each of many changes under one long key has it.
pub(super) fn shown_path(path: &str) -> String {
    if path.len() <= LONGEST_PATH {
        return path.to_owned();
    }
    let start = path.get(..path.floor_char_boundary(LONGEST_PATH / 2)).unwrap_or_default();
    let end = path.get(path.ceil_char_boundary(path.len() - LONGEST_PATH / 2)..).unwrap_or_default();
    format!("{start}…{end}")
}

fn change(path: &str, before: Option<&Json>, after: Option<&Json>) -> Change {
    let text = |json: &Json| json.canonical().as_str().to_owned();
    Change { path: shown_path(path), before: before.map(text), after: after.map(text) }
}

/// A list of words or numbers (`required`, `enum`) reads best whole when it grows or shrinks.
fn plain(items: &[Json]) -> bool {
    items.iter().all(|item| matches!(item, Json::Word(_) | Json::Text(_)))
}
