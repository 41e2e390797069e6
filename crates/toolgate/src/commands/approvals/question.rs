//! An approval as a question to a person at a terminal: who asks, what runs, what it would change, why, and how long there is.
//!
//! INVARIANT: text of callers and tools is escaped and indented; a line without indentation is Toolgate's own.

use serde_json::{Map, Value};
use toolgate_core::line_escape;
use toolgate_spine::{argument_name_text, value_text, what_is_approved};
use toolgate_store::Approval;

use super::{diff::diff, time_span::span};
use crate::{
    commands::books::{field, json},
    terminal,
};

/// Characters of a list or an object that stand on one line.
const ON_ONE_LINE: usize = 60;
/// The beginning of a line of somebody else's text, and of the rest of one that is too long for the terminal.
const INDENT: &str = "  ";
const GOES_ON: &str = "  … ";
/// Unchanged lines around a change in a preview.
const CONTEXT: usize = 3;
/// Members that hold what is and what would be.
const PAIRS: [(&str, &str); 4] =
    [("before", "after"), ("old", "new"), ("oldText", "newText"), ("old_text", "new_text")];

/// The question, without the words that ask for an answer.
pub fn question(approval: &Approval, now: i64) -> String {
    let bound = &approval.binding;
    let shown = json(&approval.shown);
    let mut text = String::new();
    let age = span(now.saturating_sub(approval.asked_at));
    let left = span(approval.expires.saturating_sub(now));
    field(&mut text, "approval", format!("{}, asked {age} ago, {left} left to answer", approval.short_id()));
    field(&mut text, "asked by", &bound.asked_by);
    if approval.owner != bound.asked_by {
        field(&mut text, "owner", &approval.owner);
    }
    for (name, known) in [("tenant", &bound.tenant), ("flow", &bound.flow)] {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    field(&mut text, "runs", what_is_approved(approval));
    let arguments = shown.get("arguments").unwrap_or(&shown);
    indented(&mut text, &lines(arguments, None));
    if let Some(preview) = shown.get("preview") {
        text.push_str("what it would do:\n");
        indented(&mut text, &preview_lines(preview));
    }
    let part = |name: &str| shown.get(name).and_then(Value::as_str).filter(|part| !part.is_empty());
    part("why").iter().for_each(|why| field(&mut text, "why", why));
    part("rule").iter().for_each(|rule| field(&mut text, "rule", rule));
    if arguments.get("calls").is_none() {
        field(&mut text, "undo", undo(shown.get("undo")));
    }
    if approval.four_eyes {
        field(&mut text, "four eyes", "neither who asked nor the owner can grant it");
    }
    text
}

fn indented(text: &mut String, lines: &[String]) {
    let room = terminal::summary_width().saturating_sub(INDENT.len() + GOES_ON.len() + 1).max(20);
    for line in lines {
        let characters: Vec<char> = line.chars().collect();
        for (number, part) in characters.chunks(room).enumerate() {
            // a terminal that wraps a long line by itself would begin the next one where Toolgate's own lines begin
            text.push_str(if number == 0 { INDENT } else { GOES_ON });
            text.extend(part);
            text.push('\n');
        }
        if characters.is_empty() {
            text.push('\n');
        }
    }
}

/// The tool's attribute `undo` in words.
fn undo(declared: Option<&Value>) -> String {
    let part = |name: &str| declared.and_then(|undo| undo.get(name)).and_then(Value::as_str);
    match (part("tool"), part("why")) {
        (Some(tool), _) => format!("can be undone, with '{tool}'"),
        (None, Some(why)) => format!("can't be undone: {why}"),
        (None, None) => "not declared; the receipt will say".to_owned(),
    }
}

/// The result of a dry run: its structured content, else its text.
fn preview_lines(preview: &Value) -> Vec<String> {
    if let Some(message) = preview.get("message").and_then(Value::as_str) {
        return vec![line_escape(message)];
    }
    let Some(result) = preview.get("result") else { return vec!["no dry run: see what runs, above".to_owned()] };
    if let Some(content) = result.get("structuredContent").filter(|content| content.is_object()) {
        return lines(content, Some(CONTEXT));
    }
    let content = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = content.filter_map(|block| block.get("text")?.as_str()).collect();
    match texts.as_slice() {
        [] => lines(result, Some(CONTEXT)),
        texts => texts.iter().flat_map(|text| text_lines(text)).collect(),
    }
}

/// A text of a dry run: as data where it is JSON, else line by line.
fn text_lines(text: &str) -> Vec<String> {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => lines(&value, Some(CONTEXT)),
        _ => text.split('\n').map(line_escape).collect(),
    }
}

/// A value in lines: `name: value` for each member, what would change as a difference.
fn lines(value: &Value, context: Option<usize>) -> Vec<String> {
    match value {
        Value::Object(members) => member_lines(members, context),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(number, item)| named(&format!("[{}]", number + 1), item, context))
            .collect(),
        Value::String(text) => text.split('\n').map(line_escape).collect(),
        Value::Null => Vec::new(),
        value => vec![value_text(value)],
    }
}

fn member_lines(members: &Map<String, Value>, context: Option<usize>) -> Vec<String> {
    let pair = PAIRS.into_iter().find(|(old, new)| members.contains_key(*old) && members.contains_key(*new));
    let is_half = |name: &str| pair.is_some_and(|(old, new)| name == old || name == new);
    let rest = members.iter().filter(|(name, _)| !is_half(name));
    let mut shown: Vec<String> =
        rest.flat_map(|(name, value)| named(&argument_name_text(name), value, context)).collect();
    if let Some((old, new)) = pair {
        let half = |name: &str| members.get(name).map(|value| lines(value, None)).unwrap_or_default();
        shown.extend(diff(&half(old), &half(new), context));
    }
    shown
}

/// A value behind its name: on the same line where it is short, else below it.
fn named(name: &str, value: &Value, context: Option<usize>) -> Vec<String> {
    let below = |lines: Vec<String>, mark: &str| {
        let lines = lines.into_iter().map(|line| format!("  {mark}{line}"));
        [format!("{name}:")].into_iter().chain(lines).collect()
    };
    match value {
        Value::String(text) if text.contains('\n') => below(text.split('\n').map(line_escape).collect(), "| "),
        Value::Object(_) | Value::Array(_) => {
            let short = value_text(value);
            let has_pair =
                value.as_object().is_some_and(|members| PAIRS.iter().any(|(old, _)| members.contains_key(*old)));
            if short.chars().count() <= ON_ONE_LINE && !has_pair {
                return vec![format!("{name}: {short}")];
            }
            below(lines(value, context), "")
        }
        value => vec![format!("{name}: {}", value_text(value))],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_store::{ApprovalState, Binding};

    use super::*;

    fn asked(shown: &Value) -> String {
        let approval = Approval {
            id: "appr_0653a1b2000000000000000000000001".into(),
            state: ApprovalState::Pending,
            binding: Binding {
                asked_by: "user:ann agent:scribe".into(),
                tenant: Some("acme".into()),
                flow: None,
                tool: "vault.move".into(),
                tool_digest: [0; 32],
                arguments_digest: [0; 32],
                rulebook_digest: [0; 32],
            },
            owner: "user:ann".into(),
            shown: shown.to_string(),
            four_eyes: true,
            asked_at: 0,
            expires: 3_600_000,
            answered_by: None,
            answered_at: None,
            reason: None,
            uses_left: 0,
            wide: None,
        };
        question(&approval, 12_000)
    }

    #[test]
    fn a_question_says_who_asks_what_runs_what_it_changes_and_why() {
        let changes =
            json!([{"kind": "tenant", "before": {"plan": "free", "seats": 1}, "after": {"plan": "pro", "seats": 1}}]);
        let text = asked(&json!({
            "tool": "vault.move",
            "arguments": {"from": "docs/a.md", "n": 3, "text": "one\ntwo"},
            "why": "Moving needs approval.", "rule": "writes_ask", "undo": {"kind": "compensation", "tool": "vault.back"},
            "preview": {"kind": "native", "result": {"structuredContent": {"changes": changes}}},
        }));
        let expected = "\
approval:    appr_0653a1b2, asked 12s ago, 59m left to answer
asked by:    user:ann agent:scribe
owner:       user:ann
tenant:      acme
runs:        'vault.move' with these arguments, once
  from: docs/a.md
  n: 3
  text:
    | one
    | two
what it would do:
  changes:
    [1]:
      kind: tenant
      - plan: free
      + plan: pro
        seats: 1
why:         Moving needs approval.
rule:        writes_ask
undo:        can be undone, with 'vault.back'
four eyes:   neither who asked nor the owner can grant it
";
        assert_eq!(text, expected);
    }

    #[test]
    fn text_before_and_after_is_a_difference() {
        let (before, after) = ("title\nold line\nend", "title\nnew line\nend");
        for shown in [
            json!({"arguments": {}, "preview": {"result": {"structuredContent": {"before": before, "after": after}}}}),
            json!({"arguments": {}, "preview": {"result": {"content": [
                {"type": "text", "text": json!({"before": before, "after": after}).to_string()}]}}}),
            json!({"arguments": {"oldText": before, "newText": after}}),
        ] {
            let text = asked(&shown);
            assert!(text.contains("    title\n  - old line\n  + new line\n    end\n"), "{text}");
        }
        let text = asked(&json!({"arguments": {}, "preview": {"kind": "static"}}));
        assert!(text.contains("no dry run") && text.contains("undo:        not declared"), "{text}");
        let text = asked(&json!({"arguments": {}, "preview": {"kind": "failed", "message": "took too long"}}));
        assert!(text.contains("  took too long\n"), "{text}");
    }

    #[test]
    fn hostile_text_forges_no_line_and_steers_no_terminal() {
        let bad = "a\nwhy:         all is well\u{1b}[2J\r\u{202e}";
        let text = asked(&json!({
            "arguments": {bad: bad, "list": [bad, {"before": bad, "after": {"x": bad}}]}, "why": bad, "rule": bad,
            "preview": {"result": {"content": [{"text": bad}], "isError": bad}}, "undo": {"why": bad},
        }));
        assert_eq!(text.lines().filter(|line| line.starts_with("why:")).count(), 1, "{text}");
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text}");
        let whole = asked(&Value::from(bad));
        assert_eq!(whole.lines().filter(|line| line.starts_with("why:")).count(), 0, "{whole}");
    }
}
