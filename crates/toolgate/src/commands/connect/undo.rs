//! `connect --undo`: the backup byte for byte, or no file where there was none; and the end of the key that was made.

use std::{fs, path::Path};

use super::{BACKUP, Change, NAME, Report, client_key::ClientKey, clients::ClientPlace, edit};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Client, ConnectArgs},
    commands::{client_file, put_file},
    ground::Ground,
};

pub async fn run(wish: &ConnectArgs, client: Client, place: &ClientPlace) -> CommandResult {
    let path = &place.file;
    let backup = client_file::beside(path, BACKUP);
    let now = client_file::read(path)?;
    let kept = client_file::read(&backup)?;
    let key = ClientKey::of(path)?;
    let text = now.clone().unwrap_or_default();
    let mut change = Change {
        path,
        before: &text,
        after: kept.as_deref(),
        token: None,
        done: "put back",
        next: "restart the client if it is running",
    };
    let changes = is_to_put_back(wish, place, now.as_deref(), kept.as_deref())?;
    if !changes {
        change.after = Some(&text);
    } else if !wish.dry_run {
        put_back(path, kept.as_deref())?;
        if kept.is_some() {
            fs::remove_file(&backup).map_err(|fault| format!("{} can't be removed: {fault}", backup.display()))?;
        }
    }
    let mut report = Report::default();
    let mut ending = Ending::Good;
    if let Some(key) = key {
        report.set("key", &key.id);
        if wish.dry_run {
            report.note(format!("The key {} would be revoked.", key.id));
        } else {
            match key.revoke(client, Ground::of(&wish.place)).await {
                Ok(()) => {
                    ClientKey::forget(path)?;
                    report.note(format!("Revoked the key {} that was made for this client.", key.id));
                }
                Err(problem) => {
                    report.note(problem);
                    ending = Ending::No;
                }
            }
        }
    }
    change.told(wish.dry_run, changes, wish.output, report)?;
    Ok(ending)
}

/// Whether there is something to put back. An error where that would lose what others wrote.
fn is_to_put_back(
    wish: &ConnectArgs,
    place: &ClientPlace,
    now: Option<&str>,
    kept: Option<&str>,
) -> Result<bool, Misuse> {
    let shown = place.file.display();
    let is_ours = now.is_some_and(|now| edit::removed(place, kept.unwrap_or_default(), now).is_some());
    match (now, kept) {
        (None, None) => Ok(false),
        (Some(_), None) if is_ours => Ok(true),
        (Some(text), None) if edit::entry(place, text).is_none() => Ok(false),
        (Some(_), None) => {
            let backup = client_file::beside(&place.file, BACKUP);
            Err(format!("{} is not there; take the entry '{NAME}' out of {shown} by hand", backup.display()).into())
        }
        (now, Some(kept)) if is_ours || kept == now.unwrap_or_default() || wish.force => Ok(true),
        _ => Err(format!(
            "{shown} was changed since, and that would be lost; take the entry '{NAME}' out by hand, or --force"
        )
        .into()),
    }
}

fn put_back(path: &Path, kept: Option<&str>) -> Result<(), Misuse> {
    let done = match kept {
        Some(kept) => put_file::replace(path, kept.as_bytes()),
        None => put_file::writable(path).and_then(|()| fs::remove_file(path)),
    };
    done.map_err(|fault| format!("{} can't be written: {fault}", path.display()).into())
}
