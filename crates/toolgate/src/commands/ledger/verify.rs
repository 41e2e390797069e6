//! `ledger verify`: everything that is wrong, and where.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolgate_store::{
    StoreError,
    ledger::{Archive, Checkpoint, Finding, LedgerReader, Scope, Trusted, Verification},
};

use super::{NO_LEDGER, Open};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{counted, line},
        print, when,
    },
};

/// Checkpoints to hold the ledger against.
pub struct Against {
    pub file: PathBuf,
    pub since_last: bool,
    pub public_key: Option<String>,
}

/// The archived part of the ledger: where it is, if it is to be read, and who must have signed its seals.
pub struct Archived {
    pub folder: Option<PathBuf>,
    pub public_key: Option<String>,
}

/// A public key as it was typed, in lower case.
pub fn checked_key(key: String) -> Result<String, Misuse> {
    if key.len() != 64 || !key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err("--public-key is not 64 hexadecimal digits; `toolgate ledger checkpoint` prints it".into());
    }
    Ok(key.to_ascii_lowercase())
}

/// What a file of checkpoints holds.
struct Read {
    trusted: Vec<Trusted>,
    /// Lines that are no checkpoint of this ledger, by their numbers.
    bad: Vec<(usize, String)>,
    public_key: String,
    /// Whether the key is the store's own, which whoever may write there can use.
    from_store: bool,
}

pub async fn run(place: &Place, against: Option<Against>, archived: Archived, output: Output) -> CommandResult {
    let written = against.as_ref().map(Against::written).transpose()?;
    let open = match Open::at(place).await {
        // A ledger that can't even be opened is not sound.
        Err(fault) => return unopened(fault, output),
        Ok(open) => open,
    };
    let read = match (&against, written) {
        (Some(against), Some(text)) => Some(against.read(&text, &open).await?),
        _ => None,
    };
    let verified = match &open.ledger {
        None => Err(NO_LEDGER.to_owned()),
        Some(ledger) => {
            let ledger = match &archived.public_key {
                Some(key) => ledger.clone().trusting(key),
                None => ledger.clone(),
            };
            let archives = archived.open(&open).await?;
            match archives {
                Err(fault) => Err(fault),
                Ok(archives) => {
                    verify(&ledger, against.as_ref(), read.as_ref(), archives).await.map_err(|fault| fault.to_string())
                }
            }
        }
    };
    open.close().await;
    let report = Report { verified, read, file: against.map(|against| against.file) };
    print(output, &report.value(), &report.text())?;
    Ok(if report.is_sound() { Ending::Good } else { Ending::No })
}

fn unopened(fault: Misuse, output: Output) -> CommandResult {
    let broken = |fault: &&StoreError| matches!(fault, StoreError::Failed { .. } | StoreError::Migration { .. });
    let Some(broken) = fault.downcast_ref::<StoreError>().filter(broken) else { return Err(fault) };
    let report = Report { verified: Err(broken.to_string()), read: None, file: None };
    print(output, &report.value(), &report.text())?;
    Ok(Ending::No)
}

async fn verify(
    ledger: &LedgerReader,
    against: Option<&Against>,
    read: Option<&Read>,
    archives: Option<Vec<Archive>>,
) -> Result<Verification, StoreError> {
    let trusted = read.map(|read| read.trusted.clone()).unwrap_or_default();
    if let Some(archives) = archives {
        return ledger.verify_with_archives(&trusted, archives).await;
    }
    let last = trusted.iter().max_by_key(|trusted| trusted.checkpoint().time()).cloned();
    let scope = match last {
        None => Scope::Whole,
        Some(last) if against.is_some_and(|against| against.since_last) => Scope::Since(last),
        Some(_) => Scope::Against(trusted),
    };
    ledger.verify(scope).await
}

impl Archived {
    /// The archives, or why they can't be trusted.
    async fn open(&self, open: &Open) -> Result<Result<Option<Vec<Archive>>, String>, Misuse> {
        let Some(folder) = &self.folder else { return Ok(Ok(None)) };
        let public_key = match &self.public_key {
            Some(key) => key.clone(),
            None => open.store.ledger_key().await?.public(),
        };
        Ok(Archive::open(folder, &public_key).map(Some).map_err(|fault| fault.to_string()))
    }
}

impl Against {
    /// The file's text; looked at first, since a wrong name is wrong use.
    fn written(&self) -> Result<String, Misuse> {
        let failed = |fault| format!("the checkpoints in '{}' can't be read: {fault}", self.file.display());
        Ok(std::fs::read_to_string(&self.file).map_err(failed)?)
    }

    async fn read(&self, text: &str, open: &Open) -> Result<Read, Misuse> {
        let public_key = match &self.public_key {
            Some(key) => key.clone(),
            None => open.store.ledger_key().await?.public(),
        };
        let (mut trusted, mut bad) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match Checkpoint::from_line(line).and_then(|checkpoint| checkpoint.trusted(&public_key)) {
                Ok(checkpoint) => trusted.push(checkpoint),
                Err(fault) => bad.push((number, fault.to_string())),
            }
        }
        if trusted.is_empty() && bad.is_empty() {
            bad.push((1, "there is no checkpoint in it".to_owned()));
        }
        Ok(Read { trusted, bad, public_key, from_store: self.public_key.is_none() })
    }
}

struct Report {
    verified: Result<Verification, String>,
    read: Option<Read>,
    file: Option<PathBuf>,
}

impl Report {
    fn is_sound(&self) -> bool {
        self.verified.as_ref().is_ok_and(Verification::is_sound)
            && self.read.as_ref().is_none_or(|read| read.bad.is_empty())
    }

    fn file(&self) -> String {
        self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
    }

    fn value(&self) -> Value {
        let verified = self.verified.as_ref().ok();
        json!({
            "sound": self.is_sound(),
            "error": self.verified.as_ref().err(),
            "records": verified.map(|verified| verified.records),
            "writers": verified.map(|verified| verified.writers),
            "found": verified.map(|verified| verified.found),
            "recoveries": verified.map(|verified| verified.recoveries),
            "archived": verified.and_then(|verified| verified.archived.as_ref()),
            "findings": verified.map_or(&[][..], |verified| &verified.findings).iter().map(value).collect::<Vec<_>>(),
            "checkpoints": self.read.as_ref().map(|read| json!({
                "file": self.file(), "trusted": read.trusted.len(),
                "bad": read.bad.iter().map(|(line, message)| json!({"line": line, "message": message})).collect::<Vec<_>>(),
                "public_key": read.public_key, "key_from": if read.from_store { "store" } else { "command line" },
            })),
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let bad = self.read.iter().flat_map(|read| &read.bad);
        text.extend(bad.map(|(number, message)| format!("{}, line {number}: {}\n", self.file(), line(message))));
        let verified = match &self.verified {
            Err(fault) => return text + &format!("Not sound: {}\n", line(fault)),
            Ok(verified) => verified,
        };
        text.extend(verified.findings.iter().map(|finding| line(finding) + "\n"));
        let left = verified.found.saturating_sub(u64::try_from(verified.findings.len()).unwrap_or(u64::MAX));
        if left > 0 {
            text.push_str(&format!("and {left} more\n"));
        }
        let mut read =
            format!("{} of {} read", counted(verified.records, "record"), counted(verified.writers, "writer"));
        if verified.recoveries > 0 {
            read.push_str(&format!(", with recoveries on record: {}", verified.recoveries));
        }
        let against = self.read.as_ref().map(|read| read.trusted.len());
        let against = against.map(|count| format!(", against {}", counted(count, "checkpoint"))).unwrap_or_default();
        text.push_str(&match (self.is_sound(), verified.found) {
            (true, _) => format!("Sound: {read}{against}.\n"),
            (false, 0) => format!("Not sound: checkpoints are not as they were made. {read}{against}.\n"),
            (false, found) => format!("Not sound: {}. {read}{against}.\n", counted(found, "finding")),
        });
        if let Some(archived) = &verified.archived {
            let last = when::told(archived.last_time);
            text.push_str(&format!(
                "Records up to {last} are in {}, not read: give the folder with --archives.\n",
                counted(archived.archives, "archive")
            ));
            if archived.unread > 0 {
                text.push_str(&format!("Records there that are named elsewhere: {}.\n", archived.unread));
            }
        }
        if self.read.is_none() {
            text.push_str(
                "Whether newest records were cut off, also in what the store knows, is not known without --checkpoints.\n",
            );
        } else if self.read.as_ref().is_some_and(|read| read.from_store) {
            text.push_str("The key is the store's own; to rely on one kept elsewhere, give it with --public-key.\n");
        }
        text
    }
}

fn value(finding: &Finding) -> Value {
    let mut value = json!({"writer": finding.writer, "seq": finding.seq});
    let wrong = serde_json::to_value(&finding.wrong).unwrap_or_default();
    if let (Value::Object(value), Value::Object(wrong)) = (&mut value, wrong) {
        value.extend(wrong);
        value.insert("message".to_owned(), finding.to_string().into());
    }
    value
}
