//! `connect`: points a client at Toolgate by putting one entry into its file, and takes it back.

mod advice;
mod client_key;
pub(super) mod clients;
mod diff;
mod direct;
mod edit;
mod entry;
mod insert;
mod listing;
mod masked;
mod remove;
mod report;
mod undo;

use std::{fs, path::Path};

use toolgate_core::terminal_escape;
use toolgate_server::identity::Token;

use super::{client_file, next_steps::place_options, put_file};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Client, ConnectArgs},
    ground::Ground,
};
use advice::Advice;
use client_key::ClientKey;
use clients::ClientPlace;
use direct::{Behind, DirectServers};
use edit::Base;
use entry::Entry;
use report::{Change, Report};

/// The name of the entry in the client's file.
const NAME: &str = "toolgate";
const BACKUP: &str = ".toolgate-backup";
/// Stands for the key that a dry run does not make.
const NO_KEY_YET: &str = "tgk_made-when-this-is-no-dry-run";

/// A file's text is whatever it says, so it is shown with care.
pub async fn run(wish: &ConnectArgs) -> CommandResult {
    let ran = match wish.client {
        None => listing::run(wish),
        Some(client) => connect(wish, client).await,
    };
    ran.map_err(|problem| terminal_escape(&problem.to_string()).into())
}

async fn connect(wish: &ConnectArgs, client: Client) -> CommandResult {
    let place = clients::place(client, wish.file.as_deref())?;
    if wish.undo {
        return undo::run(wish, client, &place).await;
    }
    let ground = Ground::of(&wish.place)?;
    let entry = Entry::of(wish, client, &ground)?;
    let plan = Plan::of(wish, &place, &ground, &entry)?;
    let made = match &wish.user {
        Some(user) if !wish.dry_run => Some(ClientKey::make(&ground, client, user).await?),
        _ => None,
    };
    let written = plan.carry_out(wish, &place, &entry, made.as_ref().map(|(_, secret)| secret));
    let (after, changed) = match (written, &made) {
        (Ok(done), _) => done,
        (Err(problem), Some((key, _))) => {
            // nobody has the key: it must not count
            let left = key.revoke(client, Ok(ground)).await.err().map(|left| format!("; {left}")).unwrap_or_default();
            return Err(format!("{problem}{left}").into());
        }
        (Err(problem), None) => return Err(problem),
    };
    let mut report = Report::default();
    replace_key(&mut report, wish, (client, &place, &plan), made.as_ref().map(|(key, _)| key), &after).await?;
    let options = place_options(&wish.place);
    let advice = Advice { wish, client, place: &place, ground: &ground, plan: &plan, options };
    advice.who(&mut report).await;
    advice.servers(&mut report, &after)?;
    advice.health(&mut report, entry.url.as_deref()).await;
    let change = Change {
        path: &place.file,
        before: plan.text(),
        after: Some(&after),
        token: made.as_ref().map(|(_, secret)| secret.expose()).or(plan.token.as_deref()),
        done: "connected",
        next: "restart the client if it is running",
    };
    change.told(wish.dry_run, changed, wish.output, report)?;
    Ok(Ending::Good)
}

/// Everything that is known of a change before anything is made.
struct Plan {
    now: Option<String>,
    base: Base,
    /// Servers that are taken out, earlier ones included.
    removed: Vec<String>,
    /// The token that was given, or that the entry has already.
    token: Option<String>,
    /// The key that was made for this client before.
    old_key: Option<ClientKey>,
}

impl Plan {
    fn of(wish: &ConnectArgs, place: &ClientPlace, ground: &Ground, entry: &Entry) -> Result<Self, Misuse> {
        let now = client_file::read(&place.file)?;
        let shown = place.file.display();
        if now.is_none() && place.file.symlink_metadata().is_ok() {
            return Err(format!("{shown} is a link that leads nowhere; mend or remove it").into());
        }
        let text = now.as_deref().unwrap_or_default();
        let servers = insert::all(&place.file, text, place.key)?;
        let kept = client_file::read(&client_file::beside(&place.file, BACKUP))?;
        let base = Base::of(place, now.as_deref(), kept.as_deref())?;
        let mut removed = base.removed.clone();
        if wish.replace {
            if base.is_foreign {
                return Err(format!(
                    "{shown} was changed since it was connected, so that --undo could not bring the servers back; \
                     take them out by hand, or run connect --undo --force first"
                )
                .into());
            }
            let behind = Behind { upstreams: &ground.config.upstreams };
            removed.extend(DirectServers::of(&servers).names.into_iter().filter(|name| behind.has(name)));
        }
        let token = match (&wish.token, &wish.user) {
            (Some(token), _) => Some(token.clone()),
            (None, Some(_)) => None,
            (None, None) => servers.get(NAME).and_then(|there| entry.token_of(there)),
        };
        entry.with_token(token.as_deref())?;
        if now.is_some() && wish.user.is_some() {
            check_writable(&place.file)?;
        }
        Ok(Self { now, base, removed, token, old_key: ClientKey::of(&place.file)? })
    }

    fn text(&self) -> &str {
        self.now.as_deref().unwrap_or_default()
    }

    /// Writes the backup and the file. Returns the text, and whether it is another than before.
    fn carry_out(
        &self,
        wish: &ConnectArgs,
        place: &ClientPlace,
        entry: &Entry,
        made: Option<&Token>,
    ) -> Result<(String, bool), Misuse> {
        let placeholder = wish.user.as_ref().map(|_| NO_KEY_YET);
        let token = made.map(Token::expose).or(placeholder).or(self.token.as_deref());
        let after = edit::edited(place, &self.base.text, &self.removed, &entry.with_token(token)?)?;
        if after == self.text() {
            return Ok((after, false));
        }
        let (path, shown) = (&place.file, place.file.display());
        if self.now.is_some() {
            check_writable(path)?;
        }
        if !wish.dry_run {
            let backup = client_file::beside(path, BACKUP);
            if self.base.needs_backup && fs::symlink_metadata(&backup).is_err() {
                put_file::create(&backup, self.text().as_bytes(), Some(&fs::metadata(path)?))
                    .map_err(|fault| format!("{} can't be made: {fault}; nothing was changed", backup.display()))?;
            }
            put_file::replace(path, after.as_bytes()).map_err(|fault| format!("{shown} can't be written: {fault}"))?;
            if token.is_some() && others_read(path) {
                eprintln!("others can read {shown}, which has the token now; chmod 600 keeps it to you");
            }
        }
        Ok((after, true))
    }
}

fn check_writable(path: &Path) -> Result<(), Misuse> {
    put_file::writable(path)
        .map_err(|fault| format!("{} can't be written: {fault}; allow it, or say --file", path.display()).into())
}

/// Keeps the id of the new key. The key that this client had before ends, unless its file still has it.
async fn replace_key(
    report: &mut Report,
    wish: &ConnectArgs,
    (client, place, plan): (Client, &ClientPlace, &Plan),
    made: Option<&ClientKey>,
    after: &str,
) -> Result<(), Misuse> {
    let old = plan.old_key.as_ref().filter(|old| !after.contains(&old.beginning()));
    let name = client_key::name(client);
    match (&wish.user, made) {
        (Some(user), Some(key)) => {
            key.keep(&place.file)?;
            let options = place_options(&wish.place);
            report.set("key", &key.id);
            report.note(format!(
                "Made the key {0} (\"{name}\") for user {user}. Revoke it: toolgate key revoke {0}{options}",
                key.id
            ));
        }
        (Some(user), None) => report.note(format!("A key \"{name}\" would be made for user {user}.")),
        (None, _) => {}
    }
    let Some(old) = old else { return Ok(()) };
    if wish.dry_run {
        report.note(format!("The key {} would be revoked.", old.id));
        return Ok(());
    }
    match old.revoke(client, Ground::of(&wish.place)).await {
        Ok(()) if made.is_none() => ClientKey::forget(&place.file)?,
        Ok(()) => {}
        Err(problem) => {
            report.note(problem);
            return Ok(());
        }
    }
    report.set("revoked_key", &old.id);
    report.note(format!("Revoked the key {} that this client had before.", old.id));
    Ok(())
}

#[cfg(unix)]
fn others_read(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o044 != 0)
}

#[cfg(not(unix))]
fn others_read(_: &Path) -> bool {
    false
}
