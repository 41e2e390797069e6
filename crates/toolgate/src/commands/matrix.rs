//! `matrix`: every tool against the callers of every seed.

use std::collections::BTreeMap;

use serde_json::json;
use toolgate_core::{
    Gate,
    explain::{Listed, Outcome},
};

use super::print;
use crate::{
    CommandResult, Ending, Misuse,
    caller_facts::CallerFacts,
    cli::{Output, Place},
    ground::Ground,
};

/// The kinds of callers worth telling apart, as `--as` facts.
const CALLERS: &[(&str, &[&str])] = &[
    ("stranger", &[]),
    ("user", &["user=u"]),
    ("member", &["user=u", "tenant=t"]),
    ("admin", &["user=u", "tenant=t", "role=admin"]),
    ("operator", &["user=u", "operator=true"]),
    ("task", &["task=t1"]),
    ("orchestrator", &["task=t1", "orchestrator=true"]),
    ("coordinator", &["agent=c", "kind=coordinator"]),
    ("manager/task", &["agent=m", "kind=manager", "project=p", "purpose=task"]),
    ("manager/chat", &["agent=m", "kind=manager", "project=p", "purpose=chat"]),
    ("worker/task", &["agent=w", "kind=worker", "project=p", "purpose=task"]),
    ("worker/chat", &["agent=w", "kind=worker", "project=p", "purpose=chat"]),
    ("browser user", &["user=u", "runtime=client"]),
];

pub async fn run(place: &Place, output: Output) -> CommandResult {
    let (gate, _) = Ground::of(place)?.stored_gate(async |_| Ok(())).await?;
    let names: Vec<&str> = CALLERS.iter().map(|(name, _)| *name).collect();
    let mut rows = Vec::new();
    for tool in gate.catalog().tools() {
        let mut row = BTreeMap::new();
        let mut marks = Vec::new();
        for (name, facts) in CALLERS {
            let (cell, mark) = cell(&gate, tool.name.as_str(), facts)?;
            row.insert(*name, cell);
            marks.push(mark);
        }
        rows.push((tool.name.to_string(), row, marks));
    }
    let value = json!({
        "callers": names,
        "tools": rows.iter().map(|(tool, row, _)| json!({"tool": tool, "outcomes": row})).collect::<Vec<_>>(),
    });
    print(output, &value, &table(&names, &rows))?;
    Ok(Ending::Good)
}

fn cell(gate: &Gate, tool: &str, facts: &[&str]) -> Result<(serde_json::Value, &'static str), Misuse> {
    let pairs: Vec<String> = facts.iter().map(|fact| (*fact).to_owned()).collect();
    let caller = CallerFacts::from_pairs(&pairs)?.caller()?;
    let view = gate.view(&caller).ok_or("a caller can't be put to the rulebook")?;
    let explained = gate.explain(&view, &caller, tool, false, gate.lang()).ok_or("a tool vanished")?;
    let code = explained.reason.as_ref().map(|reason| reason.code.clone());
    let mark = match (explained.outcome, explained.listed) {
        (Outcome::Allow, _) => "yes",
        (Outcome::NeedsApproval, _) => "ask",
        (Outcome::Deny, Listed::Marked) => "seen",
        (Outcome::Deny, _) => "-",
    };
    Ok((json!({"outcome": explained.outcome, "listed": explained.listed, "code": code}), mark))
}

type Row = (String, BTreeMap<&'static str, serde_json::Value>, Vec<&'static str>);

fn table(names: &[&str], rows: &[Row]) -> String {
    let first = rows.iter().map(|(tool, ..)| tool.len()).max().unwrap_or(4).max(4);
    let mut text = format!("{:<first$}", "tool");
    for name in names {
        text.push_str(&format!("  {name}"));
    }
    text.push('\n');
    for (tool, _, marks) in rows {
        text.push_str(&format!("{tool:<first$}"));
        for (mark, name) in marks.iter().zip(names) {
            text.push_str(&format!("  {mark:<width$}", width = name.len()));
        }
        text = text.trim_end().to_owned();
        text.push('\n');
    }
    text.push_str("\nyes: may call   ask: needs approval   seen: listed but marked   -: neither\n");
    text
}
