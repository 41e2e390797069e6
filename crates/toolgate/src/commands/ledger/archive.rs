//! `ledger archive` and `ledger verify-archive`: old records leave the ledger with a proof, which is checked alone.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgate_store::ledger::{
    Archive, ArchiveError, ArchiveRequest, ArchiveSeal, Ledger, LedgerSettings, Verification,
};

use super::{NO_LEDGER, verify};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{self, counted, line},
        print, when,
    },
    ground::{self, Ground},
};

/// The folder for archives, unless the command names another.
const FOLDER: &str = "ledger-archive";

pub async fn run(place: &Place, before: &str, to: Option<PathBuf>, output: Output) -> CommandResult {
    let ground = Ground::of(place)?;
    let now = ground::now();
    let before = when::at("--before", before, now)?;
    let to = to.unwrap_or_else(|| ground.data.join(FOLDER));
    let store = books::store(place).await?;
    if store.ledger_reader().await?.is_none() {
        store.close().await;
        print(output, &json!({"archives": [], "message": NO_LEDGER}), &format!("{NO_LEDGER}\n"))?;
        return Ok(Ending::No);
    }
    let request = ArchiveRequest { before, to, time: now };
    let config = &ground.config.ledger;
    let settings = LedgerSettings { max_bytes: config.max_bytes, segment_bytes: config.segment_bytes };
    let ledger = store.ledger(settings).await?;
    let made = archive(&store, &ledger, &request).await;
    ledger.close().await;
    store.close().await;
    report(made?, &request, output)
}

async fn archive(
    store: &toolgate_store::Store,
    ledger: &Ledger,
    request: &ArchiveRequest,
) -> Result<Result<(Vec<ArchiveSeal>, String), ArchiveError>, Misuse> {
    let key = store.ledger_key().await?;
    Ok(ledger.archive(&key, request).await.map(|seals| (seals, key.public())))
}

fn report(
    made: Result<(Vec<ArchiveSeal>, String), ArchiveError>,
    request: &ArchiveRequest,
    output: Output,
) -> CommandResult {
    let (seals, public) = match made {
        Ok(made) => made,
        Err(ArchiveError::Store(fault)) => return Err(fault.into()),
        Err(fault) => {
            let message = fault.to_string();
            print(output, &json!({"archives": [], "message": message}), &format!("{}\n", line(&message)))?;
            return Ok(Ending::No);
        }
    };
    let folder = request.to.display().to_string();
    let mut text: String = seals.iter().map(|seal| format!("{}\n", summary(seal))).collect();
    if seals.is_empty() {
        let until = when::second(request.before);
        text.push_str(&format!("Nothing was archived: no segment but the newest has only records before {until}.\n"));
    } else {
        text.push_str(&format!(
            "Added to {folder}: {}, each with its seal. Keep both where the ledger is not.\n\
             Check them: toolgate ledger verify-archive {folder} --public-key {public}\n",
            counted(seals.len(), "archive")
        ));
    }
    let archives: Vec<Value> = seals.iter().map(value).collect();
    print(output, &json!({"archives": archives, "to": folder, "public_key": public}), &text)?;
    Ok(Ending::Good)
}

fn summary(seal: &ArchiveSeal) -> String {
    let (first, last) = seal.times();
    let (first, last) = (when::second(first), when::second(last));
    let records = counted(seal.records(), "record");
    format!("{}: {records}, {first} to {last}, {} bytes", line(seal.file()), seal.bytes())
}

fn value(seal: &ArchiveSeal) -> Value {
    let (first, last) = seal.times();
    json!({
        "file": seal.file(), "seal": seal.seal_file(), "records": seal.records(), "bytes": seal.bytes(),
        "first": when::show(first), "last": when::show(last), "hash": seal.hash().to_string(),
    })
}

pub async fn verify_archive(path: &Path, public_key: Option<String>, place: &Place, output: Output) -> CommandResult {
    let public_key = match public_key {
        Some(key) => verify::checked_key(key)?,
        None => {
            let store = books::store(place).await?;
            let key = store.ledger_key().await?.public();
            store.close().await;
            key
        }
    };
    let archives = match Archive::open(path, &public_key) {
        Ok(archives) => archives,
        Err(fault) => {
            let message = fault.to_string();
            print(output, &json!({"sound": false, "error": message}), &format!("Not sound: {}\n", line(&message)))?;
            return Ok(Ending::No);
        }
    };
    let gaps = Archive::gaps(&archives);
    let work = move || archives.into_iter().map(|one| (one.verify(), one)).collect::<Vec<_>>();
    let checked = tokio::task::spawn_blocking(work).await?;
    let (mut text, mut values, mut sound) = (String::new(), Vec::new(), gaps.is_empty());
    text.extend(gaps.iter().map(|gap| format!("NOT SOUND: archive {}: it is not there\n", line(gap))));
    for (found, archive) in &checked {
        let is_sound = found.as_ref().is_ok_and(Verification::is_sound);
        sound &= is_sound;
        let word = if is_sound { "sound" } else { "NOT SOUND" };
        text.push_str(&format!("{word}: {}\n", summary(archive.seal())));
        let findings = match found {
            Ok(found) => found.findings.iter().map(ToString::to_string).collect(),
            Err(fault) => vec![format!("it can't be read: {fault}")],
        };
        text.extend(findings.iter().map(|finding| format!("  {}\n", line(finding))));
        let mut value = value(archive.seal());
        if let Value::Object(members) = &mut value {
            members.insert("sound".to_owned(), is_sound.into());
            members.insert("findings".to_owned(), findings.into());
        }
        values.push(value);
    }
    print(output, &json!({"sound": sound, "archives": values, "missing": gaps}), &text)?;
    Ok(if sound { Ending::Good } else { Ending::No })
}
