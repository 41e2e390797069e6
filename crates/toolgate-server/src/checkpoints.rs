//! Checkpoints that `serve` makes by itself: signed, and handed to where whoever can write to the ledger can't.
//!
//! What is new since the last one is verified before anything is signed. What is not sound is not signed.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reqwest::{Client, Url, redirect::Policy};
use tokio::sync::watch;
use toolgate_store::{
    Store,
    ledger::{Head, LedgerReader, NotSigned},
};

use crate::now_millis;

/// How often the store is told how far the ledger goes.
const HEADS: Duration = Duration::from_secs(60);
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// Pauses before each further try.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(8)];

/// How often, and where to.
#[derive(Debug, Clone)]
pub struct CheckpointSettings {
    every: Duration,
    /// A line is appended for each.
    file: Option<PathBuf>,
    /// Gets a POST with the line.
    url: Option<Url>,
}

/// Why an address can't be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("checkpoint_url: '{0}' is not https://… or http://…")]
pub struct BadCheckpointUrl(String);

impl CheckpointSettings {
    /// `None` where checkpoints go nowhere.
    pub fn new(every: Duration, file: Option<PathBuf>, url: Option<&str>) -> Result<Option<Self>, BadCheckpointUrl> {
        let is_http = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
        let parsed =
            |text: &str| Url::parse(text).ok().filter(is_http).ok_or_else(|| BadCheckpointUrl(text.to_owned()));
        let url = url.map(parsed).transpose()?;
        Ok((file.is_some() || url.is_some()).then_some(Self { every, file, url }))
    }
}

/// Makes checkpoints until told to stop, and lets the store know how far the ledger goes.
pub async fn keep(
    store: Store,
    ledger: LedgerReader,
    settings: Option<CheckpointSettings>,
    mut stopped: watch::Receiver<bool>,
) {
    let client = Client::builder().redirect(Policy::none()).timeout(ANSWERED_WITHIN).build();
    let (mut made, mut last) = (Instant::now(), Vec::new());
    let pause = settings.as_ref().map_or(HEADS, |settings| settings.every.min(HEADS));
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopped.wait_for(|stopped| *stopped) => return,
        }
        match &settings {
            Some(settings) if made.elapsed() >= settings.every => {
                made = Instant::now();
                match checkpoint(&store, &ledger, settings, client.as_ref().ok(), &last).await {
                    Ok(heads) => last = heads,
                    Err(fault) => tracing::error!(fault, "no checkpoint of the ledger was made"),
                }
            }
            _ => {
                if let Err(fault) = ledger.watch_heads().await {
                    tracing::warn!(%fault, "the store does not know the last records of the ledger");
                }
            }
        }
    }
}

/// Returns the heads that were signed; nothing is made where they are those of the last one.
async fn checkpoint(
    store: &Store,
    ledger: &LedgerReader,
    settings: &CheckpointSettings,
    client: Option<&Client>,
    last: &[Head],
) -> Result<Vec<Head>, String> {
    let key = store.ledger_key().await.map_err(|fault| fault.to_string())?;
    let made = ledger.checkpoint(&key, now_millis()).await.map_err(|fault| match fault {
        NotSigned::Unsound(found) => {
            let first = found.findings.first().map(ToString::to_string).unwrap_or_default();
            format!("the ledger is not sound, {} finding(s): {first}", found.found)
        }
        NotSigned::Store(fault) => fault.to_string(),
    })?;
    if made.heads() == last {
        return Ok(last.to_vec());
    }
    let line = made.to_line();
    if let Some(file) = settings.file.clone() {
        let line = line.clone();
        let appended = tokio::task::spawn_blocking(move || append_line(&file, &line)).await;
        appended
            .map_err(io::Error::other)
            .flatten()
            .map_err(|fault| format!("its file can't be appended to: {fault}"))?;
    }
    if let Some(url) = &settings.url {
        let client = client.ok_or("checkpoint_url was not asked: no HTTP client could be made")?;
        post(client, url, line).await?;
    }
    Ok(made.heads().to_vec())
}

async fn post(client: &Client, url: &Url, line: String) -> Result<(), String> {
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        let request = client.post(url.clone()).header("Content-Type", "application/json").body(line.clone());
        let why = match request.send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => answer.status().to_string(),
            // an address may hold a secret: it is not logged
            Err(fault) => fault.without_url().to_string(),
        };
        let Some(pause) = pause else {
            return Err(format!("checkpoint_url did not take it: {why}"));
        };
        tokio::time::sleep(pause).await;
    }
    Ok(())
}

/// Appends on a line of its own, also after a line that was cut off, and waits for the disk.
pub fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let begin = if ends_within_a_line(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes())?;
    file.sync_all()
}

fn ends_within_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 || !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut last = [0; 1];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
