//! `matrix`: every tool against kinds of callers, or against callers of one's own.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_core::{
    Caller, Gate, Pattern,
    explain::{Listed, Outcome},
};
use toolgate_store::Store;

use super::{print, table::laid_out};
use crate::{
    CommandResult, Ending, Misuse,
    caller_facts::CallerFacts,
    cli::{Output, Place, wrap::hanging},
    ground::Ground,
    terminal,
};

/// The kinds of callers worth telling apart, as `--as` takes them.
const CALLERS: &[(&str, &str)] = &[
    ("stranger", ""),
    ("user", "user=u"),
    ("member", "user=u,tenant=t"),
    ("admin", "user=u,tenant=t,role=admin"),
    ("operator", "user=u,operator=true"),
    ("task", "task=t1"),
    ("orchestrator", "task=t1,orchestrator=true"),
    ("coordinator", "agent=c,kind=coordinator"),
    ("manager/task", "agent=m,kind=manager,project=p,purpose=task"),
    ("manager/chat", "agent=m,kind=manager,project=p,purpose=chat"),
    ("worker/task", "agent=w,kind=worker,project=p,purpose=task"),
    ("worker/chat", "agent=w,kind=worker,project=p,purpose=chat"),
    ("browser user", "user=u,runtime=client"),
];

/// Columns of the legend where standard output is no terminal.
const LEGEND: usize = 100;

pub async fn run(
    place: &Place,
    callers: &[String],
    tool: Option<&str>,
    differs: bool,
    output: Output,
) -> CommandResult {
    let own: Vec<(&str, &str)> = callers.iter().map(|facts| (facts.as_str(), facts.as_str())).collect();
    let named = if own.is_empty() { CALLERS } else { &own };
    let facts: Vec<CallerFacts> = named.iter().map(|(_, facts)| read(facts)).collect::<Result<_, _>>()?;
    let mut callers: Vec<(&str, Caller)> = named
        .iter()
        .zip(&facts)
        .map(|((name, _), facts)| Ok((*name, facts.caller()?)))
        .collect::<Result<_, Misuse>>()?;
    let tenants = async |store: &Store| {
        let mut tenants = Vec::new();
        // kinds of callers are nobody's users
        for facts in facts.iter().filter(|_| !own.is_empty()) {
            tenants.push(facts.tenant_of_store(store).await?);
        }
        Ok(tenants)
    };
    let (gate, tenants) = Ground::of(place)?.stored_gate(tenants).await?;
    for ((_, caller), tenant) in callers.iter_mut().zip(tenants.into_iter().flatten()) {
        if tenant.is_some() {
            caller.tenant = tenant;
        }
    }
    let wanted = tool.map(Pattern::glob);
    let mut rows = Vec::new();
    for tool in gate.catalog().tools() {
        let names = [tool.name.as_str(), tool.wire_name.as_str()];
        if wanted.as_ref().is_some_and(|wanted| !names.iter().any(|name| wanted.matches(name))) {
            continue;
        }
        let cells = callers.iter().map(|(_, caller)| Cell::of(&gate, tool.name.as_str(), caller));
        rows.push(Row { tool: tool.name.to_string(), cells: cells.collect::<Result<_, _>>()? });
    }
    if let Some(pattern) = tool.filter(|_| rows.is_empty()) {
        return Err(format!("no tool is named like '{pattern}'; see them all: toolgate matrix").into());
    }
    rows.retain(|row| !differs || row.differs());
    let names: Vec<&str> = callers.iter().map(|(name, _)| *name).collect();
    let value = json!({
        "callers": names,
        "tools": rows.iter().map(|row| row.value(&names)).collect::<Vec<_>>(),
    });
    print(output, &value, &text(&names, &rows, terminal::width()))?;
    Ok(Ending::Good)
}

fn read(facts: &str) -> Result<CallerFacts, Misuse> {
    let pairs: Vec<String> = facts.split(',').filter(|fact| !fact.is_empty()).map(str::to_owned).collect();
    CallerFacts::from_pairs(&pairs)
}

/// The access of one caller to one tool.
struct Cell {
    mark: &'static str,
    value: Value,
}

impl Cell {
    fn of(gate: &Gate, tool: &str, caller: &Caller) -> Result<Self, Misuse> {
        let view = gate.view(caller).ok_or("a caller can't be put to the rulebook")?;
        let explained = gate.explain(&view, caller, tool, false, gate.lang()).ok_or("a tool vanished")?;
        let code = explained.reason.as_ref().map(|reason| reason.code.clone());
        let mark = match (explained.outcome, explained.listed) {
            (Outcome::Allow, _) => "yes",
            (Outcome::NeedsApproval, _) => "ask",
            (Outcome::Deny, Listed::Marked) => "seen",
            (Outcome::Deny, _) => "-",
        };
        Ok(Self { mark, value: json!({"outcome": explained.outcome, "listed": explained.listed, "code": code}) })
    }
}

/// A tool, and a cell for each caller.
struct Row {
    tool: String,
    cells: Vec<Cell>,
}

impl Row {
    fn differs(&self) -> bool {
        self.cells.windows(2).any(|pair| matches!(pair, [one, other] if one.mark != other.mark))
    }

    fn value(&self, names: &[&str]) -> Value {
        let outcomes: BTreeMap<&str, &Value> =
            names.iter().copied().zip(self.cells.iter().map(|cell| &cell.value)).collect();
        json!({"tool": self.tool, "outcomes": outcomes})
    }
}

/// Callers whose cells are all equal, who share a column.
struct Column<'n> {
    names: Vec<&'n str>,
    marks: Vec<&'static str>,
}

impl Column<'_> {
    fn title(&self) -> String {
        match self.names.as_slice() {
            [first, _, ..] => format!("{first} +{}", self.names.len() - 1),
            names => names.concat(),
        }
    }
}

fn folded<'n>(names: &[&'n str], rows: &[Row]) -> Vec<Column<'n>> {
    let mut columns: Vec<Column<'n>> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let marks: Vec<&str> = rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| cell.mark).collect();
        match columns.iter_mut().find(|column| column.marks == marks) {
            Some(column) => column.names.push(name),
            None => columns.push(Column { names: vec![name], marks }),
        }
    }
    columns
}

fn text(names: &[&str], rows: &[Row], width: Option<usize>) -> String {
    if rows.is_empty() {
        return "All of these callers may use the same tools alike.\n".to_owned();
    }
    let columns = folded(names, rows);
    let header: Vec<String> = std::iter::once("tool".to_owned()).chain(columns.iter().map(Column::title)).collect();
    let lines: Vec<Vec<String>> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let marks = columns.iter().filter_map(|column| column.marks.get(index)).map(|mark| (*mark).to_owned());
            std::iter::once(row.tool.clone()).chain(marks).collect()
        })
        .collect();
    let mut text = laid_out(&header, &lines, None);
    if let Some(width) = width.filter(|width| text.lines().any(|line| line.chars().count() > *width)) {
        return numbered(&columns, rows, width);
    }
    text.push('\n');
    for column in columns.iter().filter(|column| column.names.len() > 1) {
        let title = format!("{}:", column.title());
        text.push_str(&hanging(&title, title.chars().count() + 1, &column.names.join(", "), width.unwrap_or(LEGEND)));
    }
    text.push_str("yes: may call   ask: needs approval   seen: listed but marked   -: neither\n");
    text
}

/// The same with numbers for callers and a letter for each mark, where the terminal is too narrow for their names.
fn numbered(columns: &[Column<'_>], rows: &[Row], width: usize) -> String {
    let first = rows.iter().map(|row| row.tool.chars().count()).max().unwrap_or_default();
    let mut text = format!("{:<first$}", "tool");
    text.extend((1..=columns.len()).map(|number| format!(" {number:>2}")));
    text.push('\n');
    for (index, row) in rows.iter().enumerate() {
        text.push_str(&format!("{:<first$}", row.tool));
        let marks = columns.iter().filter_map(|column| column.marks.get(index));
        text.extend(marks.map(|mark| format!(" {:>2}", mark.chars().next().unwrap_or('-'))));
        text.push('\n');
    }
    text.push('\n');
    for (number, column) in (1..).zip(columns) {
        text.push_str(&hanging(&format!("{number:>2}"), 4, &column.names.join(", "), width));
    }
    text.push_str("y: may call   a: needs approval   s: listed but marked   -: neither\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(tool: &str, marks: &[&'static str]) -> Row {
        let cells = marks.iter().map(|mark| Cell { mark, value: Value::Null }).collect();
        Row { tool: tool.to_owned(), cells }
    }

    #[test]
    fn callers_whose_cells_are_equal_share_a_column() {
        let rows = [row("help", &["yes", "yes", "yes", "yes"]), row("add_task", &["-", "yes", "ask", "yes"])];
        let text = text(&["anonymous", "user", "admin", "task"], &rows, Some(80));
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("tool      anonymous  user +1  admin"), "{text}");
        assert_eq!(lines.next(), Some("help      yes        yes      yes"));
        assert_eq!(lines.next(), Some("add_task  -          yes      ask"));
        assert!(text.contains("\nuser +1: user, task\n"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_gets_numbers_and_a_legend() {
        let rows = [row("help", &["yes", "yes", "yes"]), row("add_task", &["-", "seen", "ask"])];
        let names = ["stranger", "coordinator of the whole team", "administrator"];
        let text = text(&names, &rows, Some(44));
        assert!(text.lines().take(6).all(|line| line.chars().count() <= 44), "{text}");
        assert!(text.starts_with("tool      1  2  3\nhelp      y  y  y\nadd_task  -  s  a\n"), "{text}");
        assert!(text.contains("\n 2  coordinator of the whole team\n"), "{text}");
    }

    #[test]
    fn a_row_differs_where_two_callers_do() {
        assert!(!row("help", &["yes", "yes"]).differs());
        assert!(row("add_task", &["yes", "yes", "-"]).differs());
    }
}
