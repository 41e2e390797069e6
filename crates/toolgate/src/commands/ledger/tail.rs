//! `ledger tail`: the newest records, and with `--follow` those that come.

use std::{collections::HashSet, time::Duration};

use serde_json::Value;
use toolgate_store::ledger::{Filter, LedgerReader, Outcome, Record};

use super::{NO_LEDGER, Open};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{json, line, put},
        when,
    },
};

/// How often a follower looks.
const PAUSE: Duration = Duration::from_millis(300);
const PAGE: u32 = 500;

pub async fn run(place: &Place, filter: Filter, limit: u32, follow: bool, output: Output) -> CommandResult {
    let mut open = Open::at(place).await?;
    if !follow {
        match &open.ledger {
            Some(ledger) => {
                let newest = ledger.latest(&filter, limit).await?;
                let open = open_calls(ledger, &newest).await?;
                tell(&newest, &open, output)?;
            }
            None => eprintln!("toolgate: {NO_LEDGER}"),
        }
        open.close().await;
        return Ok(Ending::Good);
    }
    let followed = tokio::select! {
        followed = followed(&mut open, &filter, limit, output) => followed,
        stopped = tokio::signal::ctrl_c() => stopped.map_err(Into::into),
    };
    open.close().await;
    followed.map(|()| Ending::Good)
}

/// Ends when nobody reads any more.
async fn followed(open: &mut Open, filter: &Filter, limit: u32, output: Output) -> Result<(), Misuse> {
    let ledger = opened(open).await?;
    let newest = ledger.latest(filter, limit).await?;
    let open = open_calls(&ledger, &newest).await?;
    if !tell(&newest, &open, output)? {
        return Ok(());
    }
    // From the first of those on: another replica may still bring a record that stands between them. Where there is
    // none yet, everything that fits is new.
    let mut after = newest.iter().map(|record| record.position).min().map_or(i64::MIN, |first| first.saturating_sub(1));
    let mut told: HashSet<i64> = newest.iter().map(|record| record.position).collect();
    loop {
        let mut new = ledger.tail(filter, after, PAGE).await?;
        let Some(last) = new.last() else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        after = last.position;
        new.retain(|record| !told.remove(&record.position));
        // what has just begun has no outcome yet, and says nothing by that
        if !tell(&new, &HashSet::new(), output)? {
            return Ok(());
        }
    }
}

/// Waits for the first process that opens it.
async fn opened(open: &mut Open) -> Result<LedgerReader, Misuse> {
    loop {
        if let Some(ledger) = &open.ledger {
            return Ok(ledger.clone());
        }
        tokio::time::sleep(PAUSE).await;
        open.ledger = open.store.ledger_reader().await?;
    }
}

/// Calls among these that have an intent and no outcome: nobody knows what came of them.
async fn open_calls(ledger: &LedgerReader, records: &[Record]) -> Result<HashSet<String>, Misuse> {
    let Some(since) = records.iter().filter(|record| record.kind == "intent").map(|record| record.time).min() else {
        return Ok(HashSet::new());
    };
    Ok(ledger.unfinished(Some(since)).await?.into_iter().map(|record| record.call).collect())
}

/// False once nobody reads any more.
fn tell(records: &[Record], open: &HashSet<String>, output: Output) -> Result<bool, Misuse> {
    let word = |record: &Record| match record.kind == "intent" && open.contains(&record.call) {
        true => Outcome::Unknown.to_string(),
        false => record.outcome.clone(),
    };
    let lines = records.iter().map(|record| if output.json { record.to_line() } else { words(record, &word(record)) });
    put(&lines.map(|line| line + "\n").collect::<String>())
}

fn words(record: &Record, outcome: &str) -> String {
    let time = when::show(record.time);
    if record.kind == "genesis" {
        return format!("{time}  writer {} begins", line(&record.writer));
    }
    let whole = json(&record.text);
    let mut text = format!(
        "{time}  {:<14}  {:<8}  {}  by {}",
        line(outcome),
        line(&record.kind),
        line(&record.tool),
        line(&record.principal)
    );
    let columns = [("tenant", record.tenant.as_deref()), ("flow", record.flow.as_deref())];
    let member = |name: &'static str| (name, whole.get(name).and_then(Value::as_str));
    for (name, known) in
        columns.into_iter().chain([member("asked"), member("code"), member("approval"), member("plan")])
    {
        known.iter().for_each(|known| text.push_str(&format!("  {name}={}", line(known))));
    }
    if let Some(micros) = whole.get("duration_us").and_then(Value::as_u64) {
        text.push_str(&format!("  {}.{:03}ms", micros / 1000, micros % 1000));
    }
    text.push_str(&format!("  call={}", line(&record.call)));
    text
}
