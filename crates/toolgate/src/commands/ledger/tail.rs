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

/// Records of the largest page that is read in search of those to show.
const MOST: u32 = 100_000;

/// What is shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    pub limit: u32,
    /// Also the records with which writers begin. JSON always has them.
    pub all: bool,
    pub output: Output,
}

impl Shown {
    fn has(self, record: &Record) -> bool {
        self.all || self.output.json || record.kind != GENESIS
    }

    /// The newest records that are shown.
    async fn newest(self, ledger: &LedgerReader, filter: &Filter) -> Result<Vec<Record>, Misuse> {
        let mut asked = self.limit;
        loop {
            let mut newest = ledger.latest(filter, asked).await?;
            let is_everything = newest.len() < usize::try_from(asked)? || asked >= MOST;
            newest.retain(|record| self.has(record));
            let surplus = newest.len().saturating_sub(usize::try_from(self.limit)?);
            if is_everything || surplus > 0 || newest.len() == usize::try_from(self.limit)? {
                newest.drain(..surplus);
                return Ok(newest);
            }
            asked = asked.saturating_mul(2).min(MOST);
        }
    }
}

/// The kind of the record with which a writer begins.
const GENESIS: &str = "genesis";

pub async fn run(place: &Place, filter: Filter, shown: Shown, follow: bool) -> CommandResult {
    let mut open = Open::at(place).await?;
    if !follow {
        match &open.ledger {
            Some(ledger) => {
                let newest = shown.newest(ledger, &filter).await?;
                let open = open_calls(ledger, &newest).await?;
                Columns::default().tell(&newest, &open, shown.output)?;
            }
            None => eprintln!("toolgate: {NO_LEDGER}"),
        }
        open.close().await;
        return Ok(Ending::Good);
    }
    let followed = tokio::select! {
        followed = followed(&mut open, &filter, shown) => followed,
        stopped = tokio::signal::ctrl_c() => stopped.map_err(Into::into),
    };
    open.close().await;
    followed.map(|()| Ending::Good)
}

/// Ends when nobody reads any more.
async fn followed(open: &mut Open, filter: &Filter, shown: Shown) -> Result<(), Misuse> {
    let ledger = opened(open).await?;
    let newest = shown.newest(&ledger, filter).await?;
    let open = open_calls(&ledger, &newest).await?;
    let mut columns = Columns::default();
    if !columns.tell(&newest, &open, shown.output)? {
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
        new.retain(|record| !told.remove(&record.position) && shown.has(record));
        // what has just begun has no outcome yet, and says nothing by that
        if !columns.tell(&new, &HashSet::new(), shown.output)? {
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

/// The widths of the columns that differ from record to record; they grow with what is shown.
#[derive(Debug, Default)]
struct Columns {
    tool: usize,
    principal: usize,
}

/// Characters that one column may take from the others.
const WIDEST: usize = 40;

impl Columns {
    /// False once nobody reads any more.
    fn tell(&mut self, records: &[Record], open: &HashSet<String>, output: Output) -> Result<bool, Misuse> {
        let word = |record: &Record| match record.kind == "intent" && open.contains(&record.call) {
            true => Outcome::Unknown.to_string(),
            false => record.outcome.clone(),
        };
        for record in records.iter().filter(|record| record.kind != GENESIS) {
            let wider = |column: usize, text: &str| line(text).chars().count().min(WIDEST).max(column);
            self.tool = wider(self.tool, &record.tool);
            self.principal = wider(self.principal, &record.principal);
        }
        let shown = |record: &Record| if output.json { record.to_line() } else { self.words(record, &word(record)) };
        put(&records.iter().map(|record| shown(record) + "\n").collect::<String>())
    }

    fn words(&self, record: &Record, outcome: &str) -> String {
        let time = when::exact(record.time);
        if record.kind == GENESIS {
            return format!("{time}  writer {} begins", line(&record.writer));
        }
        let whole = json(&record.text);
        let mut text = format!(
            "{time}  {:<14}  {:<8}  {:<tool$}  by {:<principal$}",
            line(outcome),
            line(&record.kind),
            line(&record.tool),
            line(&record.principal),
            tool = self.tool,
            principal = self.principal,
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
}
