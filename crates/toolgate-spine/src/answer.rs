//! What a tool answers, as the JSON object that goes to the client.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

/// A result, already JSON.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    json: Bytes,
    undo: Undo,
    outcome_unknown: bool,
}

/// The code of a call that may have taken effect although it failed.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// How what a call did can be taken back.
#[derive(Debug, Clone, Default)]
pub enum Undo {
    /// The source has nothing to say: a fact of the tool may.
    #[default]
    Unsaid,
    /// By its own source, given this.
    Native(Box<RawValue>),
    /// By this call of another tool.
    Counterpart(Box<RawValue>),
    /// Not at all, for this reason.
    Impossible(String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Parts<C: Serialize, S: Serialize> {
    /// An array of texts.
    content: C,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<S>,
    is_error: bool,
}

#[derive(Serialize)]
struct Text<T: Serialize> {
    r#type: &'static str,
    text: T,
}

impl ToolAnswer {
    /// A result from elsewhere, passed on as it came.
    pub fn raw(json: Bytes) -> Self {
        Self { json, undo: Undo::Unsaid, outcome_unknown: false }
    }

    /// With what its source needs to take it back.
    pub fn undone_by(self, undo: Box<RawValue>) -> Self {
        Self { undo: Undo::Native(undo), ..self }
    }

    /// Said to be final.
    pub fn never_undone(self, why: &str) -> Self {
        Self { undo: Undo::Impossible(why.to_owned()), ..self }
    }

    /// A failed call of which nobody knows whether it took effect.
    pub fn of_unknown_outcome(self) -> Self {
        Self { outcome_unknown: true, ..self }
    }

    pub(crate) fn is_outcome_unknown(&self) -> bool {
        self.outcome_unknown
    }

    pub fn undo(&self) -> &Undo {
        &self.undo
    }

    pub fn text(text: &str) -> Self {
        Self::parts(text, None::<()>, false)
    }

    /// A text that is JSON already, quotes and all: it stays as it was written.
    pub fn quoted(text: &RawValue) -> Self {
        Self::parts(text, None::<()>, false)
    }

    /// A failed call, for people alone.
    pub(crate) fn error(text: &str) -> Self {
        Self::parts(text, None::<()>, true)
    }

    /// Structured content, repeated as JSON in the text block.
    pub fn structured(value: &impl Serialize, is_error: bool) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(value)?;
        Self::structured_as(value, &text, is_error)
    }

    /// Structured content with a text of its own.
    pub fn structured_as(value: &impl Serialize, text: &str, is_error: bool) -> Result<Self, serde_json::Error> {
        serde_json::to_value(value).map(|value| Self::parts(text, Some(value), is_error))
    }

    /// Structured content with a text of its own, and a note for whoever reads texts.
    pub fn structured_with_note(value: &impl Serialize, text: &str, note: &str) -> Result<Self, serde_json::Error> {
        let texts = [text, note].map(|text| Text { r#type: "text", text });
        let parts = Parts { content: texts, structured_content: Some(value), is_error: false };
        serde_json::to_vec(&parts).map(Bytes::from).map(Self::raw)
    }

    /// A failed call, for programs and for people.
    pub fn failure(value: &impl Serialize, text: &str) -> Self {
        Self::parts(text, serde_json::to_value(value).ok(), true)
    }

    fn parts(text: impl Serialize, structured_content: Option<impl Serialize>, is_error: bool) -> Self {
        let parts = Parts { content: [Text { r#type: "text", text }], structured_content, is_error };
        // strings, numbers and maps of our own types always serialise
        Self::raw(
            serde_json::to_vec(&parts)
                .map_or_else(|_| Bytes::from_static(b"{\"content\":[],\"isError\":true}"), Bytes::from),
        )
    }

    /// With a member of `_meta`.
    pub fn with_meta(self, key: &str, value: &RawValue) -> Self {
        let Some(body) = self.json.strip_suffix(b"}") else { return self };
        let key = serde_json::to_string(key).unwrap_or_default();
        let mut json = Vec::with_capacity(body.len() + key.len() + value.get().len() + 16);
        json.extend_from_slice(body);
        json.extend_from_slice(b",\"_meta\":{");
        json.extend_from_slice(key.as_bytes());
        json.push(b':');
        json.extend_from_slice(value.get().as_bytes());
        json.extend_from_slice(b"}}");
        Self { json: json.into(), ..self }
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        &self.json
    }

    /// Another text for the same, with the same way back.
    pub(crate) fn with_bytes(self, json: Bytes) -> Self {
        Self { json, ..self }
    }

    pub fn into_bytes(self) -> Bytes {
        self.json
    }

    pub fn len(&self) -> usize {
        self.json.len()
    }

    pub fn is_empty(&self) -> bool {
        self.json.is_empty()
    }
}

/// The first text of a result.
pub(crate) fn said(result: &[u8]) -> Option<String> {
    let result: Value = serde_json::from_slice(result).ok()?;
    result.pointer("/content/0/text")?.as_str().map(str::to_owned)
}
