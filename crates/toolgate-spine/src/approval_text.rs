//! What people read of a call before they answer it: the tool, its arguments and its preview in lines, not in JSON.

use serde_json::Value;
use toolgate_core::line_escape;
use toolgate_store::Approval;

use crate::asking::what_is_approved;

/// Longest text of one argument, and of a preview.
const ARGUMENT: usize = 1_000;
const PREVIEW: usize = 2_000;
/// Arguments and calls of a plan that are shown.
const MOST_LINES: usize = 50;

/// The question that a person is asked at the caller's own client: a title, then an indented line `name: value` for each
/// argument. `None` where not all of it can be shown there: nobody approves what they do not see.
///
/// INVARIANT: values and names are on the line they belong to, escaped; a line without indentation is Toolgate's own.
pub fn approval_question(approval: &Approval) -> Option<String> {
    let shown: Value = serde_json::from_str(&approval.shown).ok()?;
    let tool = line_escape(&approval.binding.tool);
    let arguments = shown.get("arguments").unwrap_or(&Value::Null);
    let mut text = match approval.wide {
        None => format!("Approve {tool}?\n"),
        Some(_) => {
            let what = line_escape(&what_is_approved(approval));
            format!("Approve MORE THAN ONE CALL? {what}. The call that asks:\n\n{tool}")
        }
    };
    match arguments.get("calls").and_then(Value::as_array) {
        Some(calls) => {
            let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
            text.push_str(&format!("\nThe plan {} makes these calls:", quoted(name, ARGUMENT).whole()?));
            if calls.len() > MOST_LINES {
                return None;
            }
            for (number, call) in (1..).zip(calls) {
                let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
                let summary = summary(call.get("arguments").unwrap_or(&Value::Null), ARGUMENT).whole()?;
                text.push_str(&format!("\n  {number}. {} {summary}", whole(tool, ARGUMENT)?));
            }
        }
        None => {
            let members = arguments.as_object();
            if members.is_none_or(|members| members.is_empty()) {
                text.push_str("\nNo arguments.");
            }
            if members.is_some_and(|members| members.len() > MOST_LINES) {
                return None;
            }
            for (name, value) in members.into_iter().flatten() {
                text.push_str(&format!(
                    "\n  {}: {}",
                    argument_name(name, ARGUMENT).whole()?,
                    plain(value, ARGUMENT).whole()?
                ));
            }
        }
    }
    text.push('\n');
    if shown.pointer("/preview/result/cut") == Some(&Value::Bool(true)) {
        return None;
    }
    if let Some(preview) = shown.get("preview").and_then(previewed) {
        text.push_str(&format!("\nWhat it would do: {}", whole(&preview, PREVIEW)?));
    }
    if let Some(why) = shown.get("why").and_then(Value::as_str) {
        text.push_str(&format!("\nWhy you are asked: {}", whole(why, ARGUMENT)?));
    }
    text.push_str(&format!("\nApproval: {}", approval.id));
    Some(text)
}

/// Arguments on one line, `id=doc_1, to="a b"`, within so many characters. What is cut ends with `…`.
pub fn arguments_summary(arguments: &Value, most: usize) -> String {
    summary(arguments, most).text
}

/// A value for people on one line: text without quotes where it is one word, JSON where it is not.
pub fn value_text(value: &Value) -> String {
    plain(value, usize::MAX).text
}

/// The name of an argument for people: in quotes unless it is a word.
pub fn argument_name_text(name: &str) -> String {
    argument_name(name, usize::MAX).text
}

/// A text for people, within a size.
struct Shortened {
    text: String,
    is_cut: bool,
}

impl Shortened {
    fn whole(self) -> Option<String> {
        (!self.is_cut).then_some(self.text)
    }
}

fn summary(arguments: &Value, most: usize) -> Shortened {
    match arguments {
        Value::Object(members) => {
            let mut is_cut = members.len() > MOST_LINES;
            let mut shown: Vec<String> = Vec::new();
            for (name, value) in members.iter().take(MOST_LINES) {
                let value = plain(value, most);
                is_cut |= value.is_cut;
                let name = argument_name(name, most);
                is_cut |= name.is_cut;
                shown.push(format!("{}={}", name.text, value.text));
            }
            if members.len() > MOST_LINES {
                shown.push("…".to_owned());
            }
            let line = short(&shown.join(", "), most);
            Shortened { is_cut: is_cut || line.is_cut, ..line }
        }
        Value::Null => Shortened { text: String::new(), is_cut: false },
        value => plain(value, most),
    }
}

/// The words of a preview: those of the source's result, or that there is none.
fn previewed(preview: &Value) -> Option<String> {
    if let Some(message) = preview.get("message").and_then(Value::as_str) {
        return Some(message.to_owned());
    }
    let content = preview.pointer("/result/content")?.as_array()?;
    let texts: Vec<&str> = content.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// A value as people write it: text without quotes where it is one word that nothing else is written like.
fn plain(value: &Value, most: usize) -> Shortened {
    match value {
        Value::String(text) if is_word(text) => short(text, most),
        value => short(&value.to_string(), most),
    }
}

/// The name of an argument: in quotes unless it is a word.
fn argument_name(name: &str, most: usize) -> Shortened {
    if is_word(name) && !name.contains(':') { short(name, most) } else { quoted(name, most) }
}

fn quoted(text: &str, most: usize) -> Shortened {
    short(&Value::from(text).to_string(), most)
}

/// Returns true if a text can stand without quotes: no blank, control character or punctuation that ends it, and no other JSON value.
fn is_word(text: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | ',' | '=' | '\\');
    !text.is_empty() && !text.contains(ends) && serde_json::from_str::<Value>(text).is_err()
}

fn whole(text: &str, most: usize) -> Option<String> {
    short(text, most).whole()
}

fn short(text: &str, most: usize) -> Shortened {
    let shown = line_escape(text);
    match shown.char_indices().nth(most) {
        Some((end, _)) => Shortened { text: format!("{}…", shown.get(..end).unwrap_or_default()), is_cut: true },
        None => Shortened { text: shown, is_cut: false },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_store::{ApprovalState, Binding};

    use super::*;

    #[test]
    fn arguments_are_one_line_for_people() {
        let arguments = json!({"id": "doc_1", "to": "a b", "n": 3, "nested": {"x": [1]}, "odd": "a\n\u{202e}b"});
        assert_eq!(
            arguments_summary(&arguments, 200),
            "id=doc_1, to=\"a b\", n=3, nested={\"x\":[1]}, odd=\"a\\n\\u{202e}b\""
        );
        let alike = json!({"text": "3", "number": 3, "truth": "true", "escape": "a\\nb", "path": "C:/x", "a: b": 1});
        assert_eq!(
            arguments_summary(&alike, 200),
            "text=\"3\", number=3, truth=\"true\", escape=\"a\\\\nb\", path=C:/x, \"a: b\"=1",
            "what differs is shown differently"
        );
        assert_eq!(arguments_summary(&json!({"a": "x".repeat(50)}), 10), "a=xxxxxxxx…");
        assert_eq!(arguments_summary(&Value::Null, 10), "");
        let many: serde_json::Map<String, Value> = (0..60).map(|n| (format!("a{n:02}"), json!(n))).collect();
        let summary = arguments_summary(&Value::Object(many), 10_000);
        assert!(
            summary.contains("a49=49, …") && !summary.contains("a50"),
            "members that are left out are marked: {summary}"
        );
    }

    fn asked(shown: &Value) -> Option<String> {
        let binding = Binding {
            asked_by: "user:ann".into(),
            tenant: None,
            flow: None,
            tool: "pay".into(),
            tool_digest: [0; 32],
            arguments_digest: [0; 32],
            rulebook_digest: [0; 32],
        };
        approval_question(&Approval {
            id: "appr_1".into(),
            state: ApprovalState::Pending,
            binding,
            owner: "user:ann".into(),
            shown: shown.to_string(),
            four_eyes: false,
            asked_at: 0,
            expires: 1,
            answered_by: None,
            answered_at: None,
            reason: None,
            uses_left: 0,
            wide: None,
        })
    }

    #[test]
    fn the_question_has_a_line_for_each_argument_and_hostile_text_forges_none() {
        let shown = json!({
            "arguments": {
                "from": "docs/a.md", "note": "ok\n\nWhy you are asked: no reason\u{200b}\rApproved",
                "x\nApproval: appr_2": {"deep": ["a\nb"]},
            },
            "preview": {"kind": "native", "result": {"content": [{"text": "moves\nApproval: appr_3"}]}},
            "why": "Moving needs approval.",
        });
        let question = asked(&shown).unwrap();
        let lines: Vec<&str> = question.lines().collect();
        assert_eq!(
            lines,
            [
                "Approve pay?",
                "",
                "  from: docs/a.md",
                "  note: \"ok\\n\\nWhy you are asked: no reason\\u{200b}\\rApproved\"",
                "  \"x\\nApproval: appr_2\": {\"deep\":[\"a\\nb\"]}",
                "",
                "What it would do: moves\\nApproval: appr_3",
                "Why you are asked: Moving needs approval.",
                "Approval: appr_1",
            ]
        );
    }

    #[test]
    fn what_can_not_be_shown_whole_is_not_asked_at_the_client() {
        let many = |count: usize| Value::Object((0..count).map(|n| (format!("a{n}"), json!(n))).collect());
        let plan = |calls: Vec<Value>| json!({"arguments": {"plan": "plan_1", "name": "n", "calls": calls}});
        let call = |arguments: Value| json!({"tool": "pay", "arguments": arguments});
        let long = json!({"note": "x".repeat(1_001)});
        for shown in [
            json!({"arguments": {"note": "x".repeat(1_000)}}),
            json!({"arguments": many(50)}),
            plan(vec![call(json!({"a": 1})); 50]),
            json!({"arguments": {}, "preview": {"kind": "native", "result": {"content": [{"text": "x"}]}}}),
        ] {
            assert!(asked(&shown).is_some(), "{shown}");
        }
        for shown in [
            json!({"arguments": long}),
            json!({"arguments": {"nested": {"note": ["x".repeat(1_001)]}}}),
            json!({"arguments": {"x".repeat(1_001): 1}}),
            json!({"arguments": many(51)}),
            plan(vec![call(json!({"a": 1})); 51]),
            plan(vec![call(many(51))]),
            plan(vec![call(json!({"a": "x".repeat(600), "b": "x".repeat(600)}))]),
            json!({"arguments": {}, "why": "x".repeat(1_001)}),
            json!({"arguments": {}, "preview": {"kind": "native", "result": {"content": [{"text": "x".repeat(2_001)}]}}}),
            json!({"arguments": {}, "preview": {"kind": "native", "result": {"cut": true, "start": "{"}}}),
        ] {
            assert_eq!(asked(&shown), None, "{shown}");
        }
    }
}
