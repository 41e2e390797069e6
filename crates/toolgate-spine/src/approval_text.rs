//! What people read of a call before they answer it: the tool, its arguments and its preview in lines, not in JSON.

use serde_json::Value;
use toolgate_core::line_escape;
use toolgate_store::Approval;

/// Longest text of one argument, and of a preview.
const ARGUMENT: usize = 1_000;
const PREVIEW: usize = 2_000;
/// Arguments and calls of a plan that are shown; an approver who wants more looks at the approval itself.
const MOST_LINES: usize = 50;

/// The call that a person is asked about at the caller's own client, in lines.
pub fn approval_lines(approval: &Approval) -> String {
    let shown: Value = serde_json::from_str(&approval.shown).unwrap_or_default();
    let mut text = format!("Tool: {}", line_escape(&approval.binding.tool));
    let arguments = shown.get("arguments").unwrap_or(&Value::Null);
    match arguments.get("calls").and_then(Value::as_array) {
        Some(calls) => {
            let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
            text.push_str(&format!(" {}\nCalls:", short(name, ARGUMENT)));
            for (number, call) in (1..).zip(calls.iter().take(MOST_LINES)) {
                let tool = call.get("tool").and_then(Value::as_str).unwrap_or_default();
                let summary = arguments_summary(call.get("arguments").unwrap_or(&Value::Null), ARGUMENT);
                text.push_str(&format!("\n  {number}. {} {summary}", short(tool, ARGUMENT)));
            }
            note_rest(&mut text, calls.len());
        }
        None => {
            let members = arguments.as_object();
            text.push_str(if members.is_none_or(|members| members.is_empty()) {
                "\nNo arguments."
            } else {
                "\nArguments:"
            });
            for (name, value) in members.into_iter().flatten().take(MOST_LINES) {
                text.push_str(&format!("\n  {}: {}", short(name, ARGUMENT), plain(value, ARGUMENT)));
            }
            note_rest(&mut text, members.map_or(0, |members| members.len()));
        }
    }
    if let Some(preview) = shown.get("preview").and_then(previewed) {
        text.push_str(&format!("\nWhat it would do: {}", short(&preview, PREVIEW)));
    }
    if let Some(why) = shown.get("why").and_then(Value::as_str) {
        text.push_str(&format!("\nWhy you are asked: {}", short(why, ARGUMENT)));
    }
    text.push_str(&format!("\nApproval: {id} (the whole of it: toolgate approvals show {id})", id = approval.id));
    text
}

/// Arguments on one line, `id=doc_1, to="a b"`, within so many characters.
pub fn arguments_summary(arguments: &Value, most: usize) -> String {
    let text = match arguments {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name}={}", plain(value, most));
            members.iter().take(MOST_LINES).map(member).collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        value => plain(value, most),
    };
    short(&text, most)
}

fn note_rest(text: &mut String, all: usize) {
    if all > MOST_LINES {
        text.push_str(&format!("\n  and {} more", all - MOST_LINES));
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

/// A value as people write it: text without quotes where it is one word.
fn plain(value: &Value, most: usize) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains([' ', '"', ',', '=']) => short(text, most),
        value => short(&value.to_string(), most),
    }
}

fn short(text: &str, most: usize) -> String {
    let shown = line_escape(text);
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", shown.get(..end).unwrap_or_default()),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_one_line_for_people() {
        let arguments = json!({"id": "doc_1", "to": "a b", "n": 3, "nested": {"x": [1]}, "odd": "a\n\u{202e}b"});
        assert_eq!(
            arguments_summary(&arguments, 200),
            "id=doc_1, to=\"a b\", n=3, nested={\"x\":[1]}, odd=a\\n\\u{202e}b"
        );
        assert_eq!(arguments_summary(&json!({"a": "x".repeat(50)}), 10), "a=xxxxxxxx…");
        assert_eq!(arguments_summary(&Value::Null, 10), "");
    }
}
