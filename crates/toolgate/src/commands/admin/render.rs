//! Answers as people read them: tables, fields, and differences.

use serde_json::{Map, Value};

use super::super::{books::line, table::laid_out, when};
use crate::terminal;

/// What is different: `+` came, `-` went, `~` changed.
pub(super) fn changes(value: &Value) -> String {
    let changes = value.get("changes").and_then(Value::as_array);
    let mut text: String = changes.into_iter().flatten().map(change).collect();
    let dry = value.get("dry_run").and_then(Value::as_bool) == Some(true);
    if text.is_empty() {
        text.push_str(if dry { "Nothing would change.\n" } else { "Nothing is to be changed.\n" });
    } else if dry {
        text.push_str("Nothing was changed: this was a dry run.\n");
    }
    let warnings = value.get("warnings").and_then(Value::as_array).into_iter().flatten();
    text.extend(warnings.map(|warning| format!("Warning: {}\n", line(plain(warning)))));
    let changed = value.get("changed").and_then(Value::as_bool) == Some(true);
    if let Some(receipt) = value.get("receipt").and_then(Value::as_str).filter(|_| changed) {
        text.push_str(&format!("Take it back: toolgate undo {receipt}\n"));
    }
    text
}

fn change(change: &Value) -> String {
    let empty = Map::new();
    let side = |name: &str| change.get(name).and_then(Value::as_object);
    let (before, after) = (side("before"), side("after"));
    let mark = match (before, after) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    };
    let row = after.or(before).unwrap_or(&empty);
    let keys = ["tenant", "id", "user", "tool_name"];
    let name: Vec<String> = keys.iter().filter_map(|key| row.get(*key)).map(plain).collect();
    let mut text = format!("{mark} {} {}", change.get("kind").map(plain).unwrap_or_default(), line(name.join(" ")));
    for (key, value) in row.iter().filter(|(key, _)| !keys.contains(&key.as_str()) && !is_when(key)) {
        match (before.and_then(|before| before.get(key)), after) {
            (Some(was), Some(_)) if was != value => {
                text.push_str(&format!("  {key}: {} → {}", line(plain(was)), line(plain(value))));
            }
            (Some(_), Some(_)) => {}
            _ if value.is_null() => {}
            _ => text.push_str(&format!("  {key}: {}", line(plain(value)))),
        }
    }
    text.push('\n');
    text
}

/// Who said it and when goes without saying.
fn is_when(key: &str) -> bool {
    matches!(key, "changed_at" | "changed_by" | "created_at" | "since")
}

/// The rows under a name.
pub(super) fn rows(value: &Value, name: &str) -> String {
    table(value.get(name).unwrap_or(&Value::Null))
}

/// A line for each, a column for each of their fields that has a value somewhere; long texts are left to `show`.
pub(super) fn table(value: &Value) -> String {
    fitted(value, terminal::width())
}

fn fitted(value: &Value, width: Option<usize>) -> String {
    let rows: Vec<&Map<String, Value>> = value.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
    let Some(first) = rows.first() else { return "There are none.\n".to_owned() };
    let is_given = |key: &&String| rows.iter().any(|row| row.get(*key).is_some_and(|value| !value.is_null()));
    let mut columns: Vec<&String> = first.keys().filter(|key| *key != "description").filter(is_given).collect();
    let cell = |row: &Map<String, Value>, key: &str| row.get(key).map(|value| line(in_words(key, value, when::second)));
    let shown = |columns: &[&String], width: Option<usize>| {
        let cells = rows.iter().map(|row| columns.iter().map(|key| cell(row, key).unwrap_or_default()).collect());
        let header: Vec<String> = columns.iter().map(|key| key.to_uppercase()).collect();
        laid_out(&header, &cells.collect::<Vec<_>>(), width)
    };
    let whole = shown(&columns, None);
    let Some(width) = width.filter(|width| whole.lines().any(|line| line.chars().count() > *width)) else {
        return whole;
    };
    // what is the same in every row is said once, below
    let is_same = |key: &str| rows.len() > 1 && rows.iter().all(|row| row.get(key) == first.get(key));
    let same: Vec<String> = columns
        .iter()
        .filter(|key| is_same(key))
        .map(|key| format!("{} {}", key.to_uppercase(), cell(first, key).unwrap_or_default()))
        .collect();
    columns.retain(|key| !is_same(key));
    let mut text = shown(&columns, Some(width));
    if !same.is_empty() {
        text.push_str(&format!("\nThe same for all: {}\n", same.join(", ")));
    }
    text
}

/// Every field on a line, the values below each other; what holds fields of its own is shown as those.
pub(super) fn fields(value: &Value) -> String {
    let mut text = String::new();
    write_fields(&mut text, value, longest_key(value) + 1);
    text
}

fn longest_key(value: &Value) -> usize {
    let members = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let lengths = members.map(|(key, value)| if value.is_object() { longest_key(value) } else { key.chars().count() });
    lengths.max().unwrap_or_default()
}

fn write_fields(text: &mut String, value: &Value, width: usize) {
    for (key, value) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        match value {
            Value::Object(_) => write_fields(text, value, width),
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                text.push_str(&format!("{key}:\n"));
                text.extend(table(value).lines().map(|line| format!("  {line}\n")));
            }
            _ => {
                let value = line(in_words(key, value, when::told));
                text.push_str(&format!("{:<width$} {value}\n", format!("{key}:")));
            }
        }
    }
}

/// A value for people: times as they read them.
fn in_words(key: &str, value: &Value, time: fn(i64) -> String) -> String {
    let millis = (key.ends_with("_at") || key == "since").then(|| when::millis(value)).flatten();
    millis.map_or_else(|| plain(value), time)
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_that_does_not_fit_says_once_what_is_the_same_in_every_row() {
        let rows = json!([
            {"tool_name": "add_task", "enabled_by_default": true, "group": "todo", "changed_at": 0, "note": null},
            {"tool_name": "help", "enabled_by_default": true, "group": "gate", "changed_at": 0, "note": null},
        ]);
        let wide = fitted(&rows, None);
        assert!(wide.starts_with("TOOL_NAME  ENABLED_BY_DEFAULT  GROUP  CHANGED_AT\n"), "{wide}");
        assert_eq!(fitted(&rows, Some(120)), wide);
        let narrow = fitted(&rows, Some(40));
        assert!(narrow.starts_with("TOOL_NAME  GROUP\nadd_task   todo\n"), "{narrow}");
        assert!(
            narrow.ends_with("\nThe same for all: ENABLED_BY_DEFAULT true, CHANGED_AT 1970-01-01 00:00:00Z\n"),
            "{narrow}"
        );
    }

    #[test]
    fn values_stand_below_each_other_whatever_their_keys() {
        let text = fields(&json!({"id": "acme", "tools": {"plan_restricted_tools": 2}}));
        assert_eq!(text, "id:                    acme\nplan_restricted_tools: 2\n");
    }
}
