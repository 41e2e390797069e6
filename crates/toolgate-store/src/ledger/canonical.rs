//! A record's one text: JSON with its members in a fixed order, built once.
//!
//! INVARIANT: the text begins with exactly what the columns repeat, so that verifying can compare the two without parsing.

use std::{fmt::Write, sync::Arc};

use serde_json::value::RawValue;
use toolgate_core::plain_bytes;

use super::{Entry, LedgerFailure, LedgerUnavailable, SystemRecord, chain::hash_digits};

/// The longest text of one record. Inputs are cut long before.
pub(crate) const MAX_RECORD: usize = 1 << 20;
/// What both engines can index.
const MAX_WORD: usize = 1024;

/// An entry ready for the writer: its text but for the beginning, which only the writer knows.
pub(crate) struct Draft {
    pub(crate) columns: Columns,
    /// From `,"time":` to the closing brace.
    pub(crate) rest: String,
}

/// What a row repeats of its record.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    pub(crate) time: i64,
    pub(crate) kind: &'static str,
    pub(crate) call: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) principal: Arc<str>,
    pub(crate) tenant: Option<Arc<str>>,
    pub(crate) flow: Option<Arc<str>>,
    pub(crate) outcome: &'static str,
}

/// The same, borrowed: what the beginning of a text is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repeated<'a> {
    pub(crate) time: i64,
    pub(crate) kind: &'a str,
    pub(crate) call: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) tenant: Option<&'a str>,
    pub(crate) flow: Option<&'a str>,
    pub(crate) outcome: &'a str,
}

impl Columns {
    pub(crate) fn repeated(&self) -> Repeated<'_> {
        Repeated {
            time: self.time,
            kind: self.kind,
            call: &self.call,
            tool: &self.tool,
            principal: &self.principal,
            tenant: self.tenant.as_deref(),
            flow: self.flow.as_deref(),
            outcome: self.outcome,
        }
    }
}

impl Draft {
    pub(crate) fn new(entry: Entry) -> Result<Self, LedgerUnavailable> {
        let columns = Columns {
            time: entry.time,
            kind: entry.kind.as_str(),
            call: entry.call,
            tool: entry.tool,
            principal: entry.principal,
            tenant: entry.tenant,
            flow: entry.flow,
            outcome: entry.outcome.as_str(),
        };
        check(&columns)?;
        let known = entry.input.as_ref().map_or(0, |input| input.get().len()) + entry.actor.get().len();
        let mut rest = String::with_capacity(known + 512);
        repeat(&mut rest, &columns.repeated());
        rest.push_str(",\"source\":");
        string(&mut rest, &entry.source);
        if let Some(asked) = &entry.asked {
            rest.push_str(",\"asked\":");
            string(&mut rest, asked);
        }
        rest.push_str(",\"actor\":");
        raw(&mut rest, &entry.actor);
        if let Some(input) = &entry.input {
            rest.push_str(",\"input\":");
            raw(&mut rest, input);
        }
        for (name, value) in
            [("approval", &entry.approval), ("plan", &entry.plan), ("rule", &entry.rule), ("code", &entry.code)]
        {
            if let Some(value) = value {
                let _ = write!(rest, ",\"{name}\":");
                string(&mut rest, value);
            }
        }
        if let Some(result) = &entry.result {
            rest.push_str(",\"result\":{\"summary\":");
            string(&mut rest, &result.summary);
            rest.push_str(",\"digest\":\"");
            rest.push_str(str::from_utf8(&hash_digits(&result.digest)).unwrap_or_default());
            rest.push_str("\"}");
        }
        rest.push_str(",\"revision\":");
        string(&mut rest, &entry.revision);
        if let Some(duration) = entry.duration_us {
            rest.push_str(",\"duration_us\":");
            number(&mut rest, duration);
        }
        rest.push('}');
        if rest.len() > MAX_RECORD {
            return Err(LedgerUnavailable::new(
                LedgerFailure::Record,
                format!("a record of {} bytes is too large; cut its input to keep it under {MAX_RECORD}", rest.len()),
            ));
        }
        Ok(Self { columns, rest })
    }

    /// A record of the ledger itself.
    pub(crate) fn system(record: &SystemRecord, time: i64) -> Self {
        let nothing: Arc<str> = Arc::from("");
        let columns = Columns {
            time,
            kind: record.kind,
            call: nothing.clone(),
            tool: nothing.clone(),
            principal: nothing,
            tenant: None,
            flow: None,
            outcome: "allowed",
        };
        let mut rest = String::new();
        repeat(&mut rest, &columns.repeated());
        rest.push_str(&record.members);
        rest.push('}');
        Self { columns, rest }
    }
}

/// What PostgreSQL can't hold or index is refused on both engines, before it can spoil the group it would be written with.
fn check(columns: &Columns) -> Result<(), LedgerUnavailable> {
    let optional = [&columns.tenant, &columns.flow].into_iter().flatten();
    for word in [&columns.call, &columns.tool, &columns.principal].into_iter().chain(optional) {
        if word.len() > MAX_WORD {
            return Err(LedgerUnavailable::new(
                LedgerFailure::Record,
                format!("a name in the record has {} bytes; at most {MAX_WORD} are allowed", word.len()),
            ));
        }
        if word.contains('\0') {
            return Err(LedgerUnavailable::new(LedgerFailure::Record, "a name in the record holds a NUL character"));
        }
    }
    Ok(())
}

/// The beginning, up to and with the sequence number.
pub(crate) fn begin(text: &mut String, writer: &str, seq: i64) {
    text.push_str("{\"v\":1,\"writer\":");
    string(text, writer);
    text.push_str(",\"seq\":");
    number(text, seq);
}

/// What the columns repeat.
pub(crate) fn repeat(text: &mut String, columns: &Repeated<'_>) {
    text.push_str(",\"time\":");
    number(text, columns.time);
    for (name, value) in [
        (",\"kind\":", columns.kind),
        (",\"call\":", columns.call),
        (",\"tool\":", columns.tool),
        (",\"principal\":", columns.principal),
    ] {
        text.push_str(name);
        string(text, value);
    }
    for (name, value) in [(",\"tenant\":", columns.tenant), (",\"flow\":", columns.flow)] {
        text.push_str(name);
        match value {
            Some(value) => string(text, value),
            None => text.push_str("null"),
        }
    }
    text.push_str(",\"outcome\":");
    string(text, columns.outcome);
}

fn number(text: &mut String, number: impl std::fmt::Display) {
    // Writing to a string can't fail.
    let _ = write!(text, "{number}");
}

/// A JSON string, with the escapes that serde_json has: one form for each character.
fn string(text: &mut String, value: &str) {
    text.push('"');
    let mut rest = value;
    loop {
        let (plain, special) = rest.split_at(plain_bytes(rest.as_bytes()));
        text.push_str(plain);
        let Some((special, after)) = special.split_at_checked(1) else { break };
        match special {
            "\"" => text.push_str("\\\""),
            "\\" => text.push_str("\\\\"),
            "\n" => text.push_str("\\n"),
            "\r" => text.push_str("\\r"),
            "\t" => text.push_str("\\t"),
            "\u{8}" => text.push_str("\\b"),
            "\u{c}" => text.push_str("\\f"),
            _ => special.bytes().for_each(|byte| {
                let _ = write!(text, "\\u{byte:04x}");
            }),
        }
        rest = after;
    }
    text.push('"');
}

/// JSON as given, kept on one line: within strings a line break is always escaped, so one that stands is white space.
fn raw(text: &mut String, value: &RawValue) {
    let value = value.get();
    if memchr::memchr2(b'\n', b'\r', value.as_bytes()).is_some() {
        text.extend(value.chars().map(|c| if c == '\n' || c == '\r' { ' ' } else { c }));
    } else {
        text.push_str(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::entry;

    #[test]
    fn a_text_begins_with_what_the_columns_repeat_and_is_json_on_one_line() {
        for odd in ["plain", "quote \" back \\ tab \t", "é\u{1f680}\u{7f}", ""] {
            let mut entry = entry("c-1");
            entry.principal = odd.into();
            entry.tenant = Some(odd.into());
            entry.input = Some(RawValue::from_string("{\"a\":\n [1,\r\n2]}".into()).unwrap());
            let draft = Draft::new(entry).unwrap();
            let mut text = String::new();
            begin(&mut text, "w", 7);
            let mut head = text.clone();
            text.push_str(&draft.rest);
            repeat(&mut head, &draft.columns.repeated());
            assert!(text.starts_with(&head) && !text.contains('\n') && !text.contains('\r'));
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!((value["principal"].as_str(), value["tenant"].as_str()), (Some(odd), Some(odd)));
            assert_eq!(value["input"], serde_json::json!({"a": [1, 2]}));
        }
    }

    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        let every: String =
            (0..0x300_u32).filter_map(char::from_u32).chain("\u{2028}\u{1f680}\u{7f}".chars()).collect();
        for value in ["", "plain", "\"", "\\\"\\", "a\nb", &every] {
            let mut text = String::new();
            string(&mut text, value);
            assert_eq!(text, serde_json::to_string(value).unwrap());
        }
    }

    #[test]
    fn what_can_not_be_kept_is_refused() {
        let refused = |change: &dyn Fn(&mut Entry)| {
            let mut entry = entry("c-1");
            change(&mut entry);
            Draft::new(entry).err().unwrap().reason
        };
        assert!(refused(&|entry| entry.principal = "a\0b".into()).contains("NUL"));
        assert!(refused(&|entry| entry.flow = Some("x".repeat(2000).into())).contains("2000 bytes"));
        let large = format!("\"{}\"", "x".repeat(MAX_RECORD));
        assert!(refused(&|entry| entry.input = RawValue::from_string(large.clone()).ok()).contains("too large"));
    }
}
