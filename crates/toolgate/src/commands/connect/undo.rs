//! Taking it back: the backup byte for byte, or no file where there was none.

use std::{fs, path::Path};

use super::{BACKUP, Change, NAME, clients::Place, insert};
use crate::{
    CommandResult, Misuse,
    cli::ConnectArgs,
    commands::{client_file, put_file},
};

pub fn run(wish: &ConnectArgs, place: &Place) -> CommandResult {
    let path = &place.file;
    let shown = path.display();
    let backup = client_file::beside(path, BACKUP);
    let now = client_file::read(path)?;
    let kept = client_file::read(&backup)?;
    let text = now.clone().unwrap_or_default();
    let change = Change {
        path,
        before: &text,
        after: kept.as_deref(),
        token: None,
        done: "put back",
        next: "restart the client if it is running",
    };
    let ours = is_ours(path, kept.as_deref().unwrap_or(""), &text, place.key);
    match (&now, &kept) {
        (None, None) => return unchanged(&change, wish),
        (Some(_), None) if ours => {}
        (Some(text), None) if insert::find(path, text, place.key, NAME).ok().flatten().is_none() => {
            return unchanged(&change, wish);
        }
        (Some(_), None) => {
            let backup = backup.display();
            return Err(format!("{backup} is not there; take the entry '{NAME}' out of {shown} by hand").into());
        }
        (_, Some(kept)) if ours || *kept == text || wish.force => {}
        _ => {
            return Err(format!(
                "{shown} was changed since, and that would be lost; take the entry '{NAME}' out by hand, or --force"
            )
            .into());
        }
    }
    if !wish.dry_run {
        put_back(path, kept.as_deref())?;
        if kept.is_some() {
            fs::remove_file(&backup).map_err(|fault| format!("{} can't be removed: {fault}", backup.display()))?;
        }
    }
    change.told(wish.dry_run, true, wish.output)
}

fn unchanged(change: &Change<'_>, wish: &ConnectArgs) -> CommandResult {
    Change { after: Some(change.before), ..*change }.told(wish.dry_run, false, wish.output)
}

fn put_back(path: &Path, kept: Option<&str>) -> Result<(), Misuse> {
    let done = match kept {
        Some(kept) => put_file::replace(path, kept.as_bytes()),
        None => put_file::writable(path).and_then(|()| fs::remove_file(path)),
    };
    done.map_err(|fault| format!("{} can't be written: {fault}", path.display()).into())
}

/// Whether `now` is `before` with our entry in it and nothing else: putting the same entry in gives the same text.
fn is_ours(path: &Path, before: &str, now: &str, key: &str) -> bool {
    let found = insert::find(path, now, key, NAME).ok().flatten();
    found.is_some_and(|entry| insert::entry(path, before, key, NAME, &entry).is_ok_and(|again| again == now))
}
