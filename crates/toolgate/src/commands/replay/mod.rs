//! `replay`: every recorded decision once more under a candidate rulebook, and what would change.

mod again;
mod past;

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};
use toolgate_core::Gate;
use toolgate_store::ledger::{Filter, Record};

use self::{
    again::{Again, Open},
    past::Word,
};
use super::{
    books::{self, line},
    ledger, print,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Place, ReplayArgs},
    ground::Ground,
    raise,
};

pub async fn run(asked: ReplayArgs) -> CommandResult {
    let ReplayArgs { rulebook, filter, place, output } = asked;
    let filter = filter.filter()?;
    let mut ground = Ground::of(&place)?;
    if let Some(rulebook) = rulebook {
        ground.config.rules = vec![rulebook];
    }
    let files = ground.config.rules.iter().map(|path| raise::expand(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let gate = ground.gate()?;
    books::ended(replayed(&place, &gate, filter).await.and_then(|replay| {
        print(output, &replay.to_json(&files), &replay.to_text(&files))?;
        Ok(if replay.is_as_it_was() { Ending::Good } else { Ending::No })
    }))
}

async fn replayed(place: &Place, gate: &Gate, filter: Filter) -> Result<Replay, Misuse> {
    let open = ledger::Open::at(place).await?;
    let mut replay = Replay::default();
    let mut result = Ok(());
    match &open.ledger {
        None => eprintln!("toolgate: {}", ledger::NO_LEDGER),
        Some(ledger) => {
            let mut pages = ledger.pages(filter);
            loop {
                match pages.next().await {
                    Ok(page) if page.is_empty() => break,
                    Ok(page) => page.iter().for_each(|record| replay.add(gate, record)),
                    Err(fault) => {
                        result = Err(fault);
                        break;
                    }
                }
            }
        }
    }
    open.close().await;
    Ok(result.map(|()| replay)?)
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
    fn add(&mut self, gate: &Gate, record: &Record) {
        let decided = match past::read(record) {
            None => return,
            Some(Err(_)) => Err(Open::Unreadable),
            Some(Ok(past)) => again::decide(gate, &record.tool, &past).map(|again| (past, again)),
        };
        match decided {
            Err(why) => *self.open.entry((why, record.tool.clone())).or_default() += 1,
            Ok((past, again)) if past.word == again.word => self.same += 1,
            Ok((past, Again { word, rule })) => {
                let (caller, tool) = (record.principal.clone(), record.tool.clone());
                let rule = rule.or(past.rule).unwrap_or_default();
                *self.changes.entry(Change { caller, tool, was: past.word, would_be: word, rule }).or_default() += 1;
            }
        }
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
