//! `replay`: every recorded decision once more under a candidate rulebook, and what would change.

mod again;
mod offered;
mod past;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use toolgate_core::{Gate, Tool};
use toolgate_store::ledger::{Filter, LedgerReader, Record};

use self::{
    again::{About, Again, Open},
    offered::Offered,
    past::{Past, Word},
};
use super::{
    books::{self, line},
    ledger, print,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Place, ReplayArgs},
    config::Config,
    ground::Ground,
    more, rule_files,
};

pub async fn run(asked: ReplayArgs) -> CommandResult {
    let ReplayArgs { rulebook, filter, place, output } = asked;
    let filter = filter.filter()?;
    let mut ground = Ground::of(&place)?;
    if let Some(rulebook) = rulebook {
        ground.config.rules = vec![rulebook];
    }
    let files =
        ground.config.rules.iter().map(|path| rule_files::expand(path)).collect::<Result<Vec<_>, _>>()?.concat();
    // with what the operator says of tools in the store now, as a call would meet it
    let (gate, _) = ground.stored_gate(async |_| Ok(())).await?;
    let rules = Rules { config: &ground.config, gate: &gate };
    books::ended(replayed(&place, &rules, filter).await.and_then(|replay| {
        print(output, &replay.to_json(&files), &replay.to_text(&files))?;
        Ok(if replay.is_as_it_was() { Ending::Good } else { Ending::No })
    }))
}

/// What decides again, and the facts it does so by.
struct Rules<'a> {
    config: &'a Config,
    gate: &'a Gate,
}

impl Rules<'_> {
    fn decide(&self, offered: &Offered, name: &str, past: &Past) -> Result<Result<Again, Open>, Misuse> {
        let Some(asked) = &past.asked else { return Ok(again::decide(self.gate, About::Tool(name), past)) };
        let tool = match offered.reached(asked, name, &past.source) {
            Some(reached) => more::past(self.config, (reached.kind, &reached.source), (&reached.name, &asked.name))?,
            None => None,
        };
        let tool: Option<Arc<Tool>> = tool.map(Arc::new);
        Ok(again::decide(self.gate, About::More(asked, tool.as_ref()), past))
    }
}

async fn replayed(place: &Place, rules: &Rules<'_>, filter: Filter) -> Result<Replay, Misuse> {
    let open = ledger::Open::at(place).await?;
    let replay = match &open.ledger {
        None => {
            eprintln!("toolgate: {}", ledger::NO_LEDGER);
            Ok(Replay::default())
        }
        Some(ledger) => replay(ledger, rules, filter).await,
    };
    open.close().await;
    replay
}

async fn replay(ledger: &LedgerReader, rules: &Rules<'_>, filter: Filter) -> Result<Replay, Misuse> {
    let offered = Offered::in_records(ledger, &filter).await?;
    let mut replay = Replay::default();
    let mut pages = ledger.pages(filter);
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            return Ok(replay);
        }
        for record in &page {
            replay.add(rules, &offered, record)?;
        }
    }
}

/// One kind of change, by whom it would meet.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    caller: String,
    tool: String,
    was: Word,
    would_be: Word,
    /// The rule that would say so; where nothing would be in the way any more, the one that was.
    rule: String,
}

#[derive(Debug, Default)]
struct Replay {
    same: u64,
    changes: BTreeMap<Change, u64>,
    open: BTreeMap<(Open, String), u64>,
}

impl Replay {
    fn add(&mut self, rules: &Rules<'_>, offered: &Offered, record: &Record) -> Result<(), Misuse> {
        let past = match past::read(record) {
            None => return Ok(()),
            Some(Err(_)) => {
                *self.open.entry((Open::Unreadable, record.tool.clone())).or_default() += 1;
                return Ok(());
            }
            Some(Ok(past)) => past,
        };
        let tool = past.asked.as_ref().map_or_else(|| record.tool.clone(), ToString::to_string);
        match rules.decide(offered, &record.tool, &past)? {
            Err(why) => *self.open.entry((why, tool)).or_default() += 1,
            Ok(again) if past.word == again.word => self.same += 1,
            Ok(Again { word, rule }) => {
                let caller = record.principal.clone();
                let rule = rule.or(past.rule).unwrap_or_default();
                *self.changes.entry(Change { caller, tool, was: past.word, would_be: word, rule }).or_default() += 1;
            }
        }
        Ok(())
    }

    fn changed(&self) -> u64 {
        self.changes.values().sum()
    }

    fn undecided(&self) -> u64 {
        self.open.values().sum()
    }

    fn is_as_it_was(&self) -> bool {
        self.changes.is_empty() && self.open.is_empty()
    }

    fn to_json(&self, files: &[PathBuf]) -> Value {
        let changes = self.changes.iter().map(|(change, count)| {
            json!({
                "caller": change.caller, "tool": change.tool, "was": change.was.as_str(),
                "would_be": change.would_be.as_str(), "rule": change.rule, "count": count,
            })
        });
        let open = self.open.iter().map(
            |((why, tool), count)| json!({"tool": tool, "why": why.as_str(), "message": why.words(), "count": count}),
        );
        json!({
            "rules": files, "same": self.same, "changed": self.changed(), "changes": changes.collect::<Vec<_>>(),
            "undecided": self.undecided(), "not_redecided": open.collect::<Vec<_>>(),
        })
    }

    fn to_text(&self, files: &[PathBuf]) -> String {
        let mut text = format!(
            "{} decisions again, under the shipped rules and {} file(s): {} would change, {} stay the same.\n",
            self.same + self.changed(),
            files.len(),
            self.changed(),
            self.same
        );
        if !self.changes.is_empty() {
            let head = ["caller", "tool", "was → would be", "rule", "count"].map(str::to_owned);
            let rows = self.changes.iter().map(|(change, count)| {
                let arrow = format!("{} → {}", change.was.as_str(), change.would_be.as_str());
                [line(&change.caller), line(&change.tool), arrow, line(&change.rule), count.to_string()]
            });
            text.push('\n');
            text.push_str(&table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
        }
        if !self.open.is_empty() {
            text.push_str(&format!("\n{} can't be decided again exactly:\n", self.undecided()));
            for ((why, tool), count) in &self.open {
                text.push_str(&format!("  {count}  {}: {}\n", line(tool), why.words()));
            }
        }
        text
    }
}

/// Columns as wide as their widest cell.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let padded = |row: &[String; N]| -> String {
        row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}  ")).collect()
    };
    rows.iter().map(|row| padded(row).trim_end().to_owned() + "\n").collect()
}
