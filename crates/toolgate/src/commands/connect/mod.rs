//! `connect`: points a client at Toolgate by putting one entry into its file, and takes it back.

pub(super) mod clients;
mod diff;
mod entry;
mod insert;
mod masked;
mod undo;

use std::{fs, path::Path};

use serde_json::json;
use toolgate_core::terminal_escape;

use super::{client_file, print, put_file};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{ConnectArgs, Output},
};

/// The client's name for us.
const NAME: &str = "toolgate";
const BACKUP: &str = ".toolgate-backup";

/// What is done to a file, for people to see before and after.
struct Change<'c> {
    path: &'c Path,
    before: &'c str,
    /// `None`: the file is removed.
    after: Option<&'c str>,
    /// Our own token, which is not shown.
    token: Option<&'c str>,
    /// What was done, and what would be.
    done: &'static str,
    next: &'static str,
}

/// A file's text is whatever it says, so it is shown with care.
pub fn run(wish: &ConnectArgs) -> CommandResult {
    connect(wish).map_err(|problem| terminal_escape(&problem.to_string()).into())
}

fn connect(wish: &ConnectArgs) -> CommandResult {
    let place = clients::place(wish.client, wish.file.as_deref())?;
    if wish.undo {
        return undo::run(wish, &place);
    }
    let (path, shown) = (&place.file, place.file.display());
    let entry = entry::of(wish)?;
    let before = client_file::read(path)?;
    if before.is_none() && path.symlink_metadata().is_ok() {
        return Err(format!("{shown} is a link that leads nowhere; mend or remove it").into());
    }
    let text = before.clone().unwrap_or_default();
    let after = insert::entry(path, &text, place.key, NAME, &entry)?;
    let change = Change {
        path,
        before: &text,
        after: Some(&after),
        token: wish.token.as_deref(),
        done: "connected",
        next: "restart the client if it is running",
    };
    if after == text {
        return change.told(wish.dry_run, false, wish.output);
    }
    let backup = client_file::beside(path, BACKUP);
    if before.is_some() {
        refuse_other_backup(&backup, &text)?;
        put_file::writable(path)
            .map_err(|fault| format!("{shown} can't be written: {fault}; allow it, or say --file"))?;
    }
    if !wish.dry_run {
        if before.is_some() && fs::symlink_metadata(&backup).is_err() {
            put_file::create(&backup, text.as_bytes(), Some(&fs::metadata(path)?))
                .map_err(|fault| format!("{} can't be made: {fault}; nothing was changed", backup.display()))?;
        }
        put_file::replace(path, after.as_bytes()).map_err(|fault| format!("{shown} can't be written: {fault}"))?;
    }
    if wish.token.is_some() && !wish.dry_run && others_read(path) {
        eprintln!("others can read {shown}, which has the token now; chmod 600 keeps it to you");
    }
    change.told(wish.dry_run, true, wish.output)
}

/// A backup of something else is the only copy of it.
fn refuse_other_backup(backup: &Path, text: &str) -> Result<(), Misuse> {
    if fs::symlink_metadata(backup).is_err() || fs::read(backup).is_ok_and(|kept| kept == text.as_bytes()) {
        return Ok(());
    }
    let backup = backup.display();
    Err(format!("{backup} is there already and differs from the file; run connect --undo first, or move it away")
        .into())
}

impl Change<'_> {
    fn told(&self, dry_run: bool, changed: bool, output: Output) -> CommandResult {
        let shown = self.path.display().to_string();
        let diff = diff::unified(&shown, self.before, self.after);
        let diff = terminal_escape(&masked::masked(&diff, &[self.before, self.after.unwrap_or("")], self.token));
        let text = match (changed, dry_run) {
            (false, _) => format!("{shown} is as wanted already\n"),
            (true, true) => format!("{diff}\ndry run: nothing was changed\n"),
            (true, false) => format!("{diff}\n{}: {shown}; {}\n", self.done, self.next),
        };
        let backup = client_file::beside(self.path, BACKUP);
        let value = json!({
            "file": shown,
            "changed": changed && !dry_run,
            "would_change": changed,
            "dry_run": dry_run,
            "diff": diff,
            "backup": backup.exists().then(|| backup.display().to_string()),
        });
        print(output, &value, &text)?;
        Ok(Ending::Good)
    }
}

#[cfg(unix)]
fn others_read(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o044 != 0)
}

#[cfg(not(unix))]
fn others_read(_: &Path) -> bool {
    false
}
