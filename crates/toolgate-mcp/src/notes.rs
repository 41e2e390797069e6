//! Notifications of a call under way: progress under the client's token, log messages as they came.

use serde_json::value::RawValue;
use toolgate_spine::{LogLevel, ProgressNote};

use crate::{json::text, message::Params, refusal::Refusal};

/// The client's progress token, as it was written.
pub(crate) fn token<'a>(params: &Params<'a>) -> Result<Option<&'a str>, Refusal> {
    match params.meta.progress_token {
        None | Some("null") => Ok(None),
        Some(raw) if raw.starts_with('"') || text::is_integer(raw) => Ok(Some(raw)),
        Some(_) => Err(Refusal::params("_meta.progressToken must be a string or an integer")),
    }
}

/// A log message, its parameters untouched.
pub(crate) fn log(params: &RawValue) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","method":"notifications/message","params":"#, params.get().as_bytes(), b"}"].concat()
}

/// That an interaction outside the protocol has ended, its parameters untouched. The newer era has no such message.
pub(crate) fn ended(params: &RawValue) -> Vec<u8> {
    [br#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":"#, params.get().as_bytes(), b"}"]
        .concat()
}

/// That a question of ours needs no answer any more.
pub(crate) fn withdrawn(id: &str) -> Vec<u8> {
    let reason = "the server no longer wants to know";
    let params = format!(r#"{{"requestId":"{id}","reason":"{reason}"}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#).into_bytes()
}

/// Whether a log message is to be passed on. One that does not say how urgent it is was let through already.
pub(crate) fn is_as_urgent(params: &RawValue, least: LogLevel) -> bool {
    #[derive(serde::Deserialize)]
    struct Message {
        level: LogLevel,
    }
    serde_json::from_str::<Message>(params.get()).map_or(true, |message| message.level >= least)
}

/// Writes progress notifications under one token.
pub(crate) struct Notes {
    token: String,
    last: f64,
}

impl Notes {
    pub(crate) fn new(token: &str) -> Self {
        Self { token: token.to_owned(), last: f64::NEG_INFINITY }
    }

    /// `None` for a note that does not go forward, which the protocol forbids.
    pub(crate) fn message(&mut self, note: &ProgressNote) -> Option<Vec<u8>> {
        if !note.progress.is_finite() || note.progress <= self.last {
            return None;
        }
        self.last = note.progress;
        let mut out = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#.to_vec();
        out.extend_from_slice(self.token.as_bytes());
        out.extend_from_slice(format!(",\"progress\":{}", note.progress).as_bytes());
        if let Some(total) = note.total.filter(|total| total.is_finite()) {
            out.extend_from_slice(format!(",\"total\":{total}").as_bytes());
        }
        if let Some(message) = &note.message {
            out.extend_from_slice(b",\"message\":");
            text::push_string(&mut out, message);
        }
        out.extend_from_slice(b"}}");
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_go_forward_only_and_are_json() {
        let mut notes = Notes::new("\"t\"");
        let note = |progress| ProgressNote { progress, total: Some(100.0), message: Some("a\"b".into()) };
        let first = String::from_utf8(notes.message(&note(0.5)).unwrap()).unwrap();
        assert_eq!(
            first,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":100,"message":"a\"b"}}"#
        );
        assert_eq!(notes.message(&note(0.5)), None);
        assert_eq!(notes.message(&note(f64::NAN)), None);
        assert!(
            notes.message(&note(1e300)).is_some_and(|text| serde_json::from_slice::<serde_json::Value>(&text).is_ok())
        );
    }
}
