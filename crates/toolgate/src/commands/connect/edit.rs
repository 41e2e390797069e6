//! The change of a client's file: some servers taken out, then one entry put in. It is always made from the text that
//! `--undo` brings back, so that the same change can be recognised later.

use serde_json::Value;

use super::{BACKUP, NAME, clients::ClientPlace, insert, remove};
use crate::{Misuse, commands::client_file};

/// The text that a change begins with.
pub struct Base {
    pub text: String,
    /// Names of the servers that an earlier change took out.
    pub removed: Vec<String>,
    /// The text is in no backup yet.
    pub needs_backup: bool,
    /// The file has changes of others since the backup was made: what is taken out now would not come back.
    pub is_foreign: bool,
}

impl Base {
    /// From the client's file and its backup.
    pub fn of(place: &ClientPlace, now: Option<&str>, kept: Option<&str>) -> Result<Self, Misuse> {
        let base = |text: &str, removed, needs_backup| Self {
            text: text.to_owned(),
            removed,
            needs_backup,
            is_foreign: false,
        };
        let text = now.unwrap_or_default();
        match kept {
            None if removed(place, "", text).is_some() => Ok(base("", Vec::new(), false)),
            None => Ok(base(text, Vec::new(), now.is_some())),
            Some(kept) if now.is_none() || kept == text => Ok(base(text, Vec::new(), false)),
            Some(kept) => match removed(place, kept, text) {
                Some(removed) => Ok(base(kept, removed, false)),
                None if entry(place, text).is_some() => Ok(Self { is_foreign: true, ..base(text, Vec::new(), false) }),
                None => Err(differs(place)),
            },
        }
    }
}

/// `text` without the servers named `removed`, with the entry for Toolgate.
pub fn edited(place: &ClientPlace, text: &str, removed: &[String], entry: &Value) -> Result<String, Misuse> {
    let servers = insert::all(&place.file, text, place.key)?;
    let mut text = text.to_owned();
    // in the order of the file, so that the same change gives the same text
    for name in servers.keys().filter(|name| removed.contains(name)) {
        text = remove::entry(&place.file, &text, place.key, name)?;
    }
    Ok(insert::entry(&place.file, &text, place.key, NAME, entry)?)
}

/// The entry for Toolgate in a text.
pub fn entry(place: &ClientPlace, text: &str) -> Option<Value> {
    insert::find(&place.file, text, place.key, NAME).ok().flatten()
}

/// Names of the servers that were taken out of `before`, where `now` is `before` after such a change and nothing else.
pub fn removed(place: &ClientPlace, before: &str, now: &str) -> Option<Vec<String>> {
    let entry = entry(place, now)?;
    let names = |text| insert::all(&place.file, text, place.key).ok();
    let (there, left) = (names(before)?, names(now)?);
    let removed: Vec<String> = there.keys().filter(|name| !left.contains_key(*name)).cloned().collect();
    edited(place, before, &removed, &entry).is_ok_and(|again| again == now).then_some(removed)
}

/// A backup of something else is the only copy of it.
fn differs(place: &ClientPlace) -> Misuse {
    let backup = client_file::beside(&place.file, BACKUP);
    let backup = backup.display();
    format!("{backup} is there already and differs from the file; run connect --undo first, or move it away").into()
}
