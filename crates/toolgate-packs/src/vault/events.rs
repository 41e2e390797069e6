//! `events.log`: appends what a caller noted, with our time and without credentials.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_core::{Caller, redact::Redactor};
use toolgate_store::Store;

use super::{failure::Failure, reading::Answer};
use crate::times;

#[derive(Deserialize)]
pub(super) struct Note {
    name: String,
    #[serde(default)]
    payload: Map<String, Value>,
}

pub(super) async fn log(store: &Store, caller: &Caller, Note { name, payload }: Note) -> Result<Answer, Failure> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(Failure::invalid("The name of an event is empty or holds control characters."));
    }
    // escaped in JSON, a NUL is text like any other
    let payload = Redactor::default().json(&Value::Object(payload).to_string());
    let flow = caller.flow.as_ref().map(|flow| flow.id.as_str());
    let appended = store.events(&caller.principal()).append(times::now(), flow, &name, &payload).await;
    appended.map_err(|fault| Failure::store(&fault))?;
    Answer::of(&json!({"ok": true}))
}
