//! JSON-RPC messages: written as bytes, read as slices of what came.

use std::fmt::Write;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::plain_bytes;
use toolgate_spine::{ClientFault, LogLevel, ProgressNote};

use crate::fault::{Fault, shortened};

/// Anything the other side may send.
#[derive(Deserialize)]
pub(crate) struct Incoming<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// What it is.
pub(crate) enum Kind<'a> {
    /// An answer to a request of ours. `None` where no number says to which.
    Answer(Option<u64>, Result<Bytes, Fault>),
    Request(Request<'a>),
    Notification(String, Option<&'a RawValue>),
}

/// A request of theirs.
pub(crate) struct Request<'a> {
    /// As it came, and as it goes back.
    pub(crate) id: &'a str,
    pub(crate) method: String,
    pub(crate) params: Option<&'a RawValue>,
}

/// `None` for what is no message at all.
pub(crate) fn read(bytes: &Bytes) -> Option<Kind<'_>> {
    let message: Incoming<'_> = serde_json::from_slice(bytes).ok()?;
    if let Some(method) = message.method {
        return Some(match message.id {
            Some(id) => Kind::Request(Request { id: id.get(), method: method.into_owned(), params: message.params }),
            None => Kind::Notification(method.into_owned(), message.params),
        });
    }
    let id = message.id.and_then(|id| id.get().parse().ok());
    match (message.result, message.error) {
        (Some(result), None) => Some(Kind::Answer(id, Ok(bytes.slice_ref(result.get().as_bytes())))),
        (None, Some(error)) => Some(Kind::Answer(id, Err(refusal(error)))),
        _ => message.id.map(|_| {
            Kind::Answer(id, Err(Fault::protocol("its answer has neither a result nor an error, or has both")))
        }),
    }
}

fn refusal(error: &RawValue) -> Fault {
    #[derive(Deserialize)]
    struct Error<'a> {
        code: i64,
        message: String,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    match serde_json::from_str::<Error<'_>>(error.get()) {
        Ok(error) => Fault::Refused {
            code: error.code,
            message: error.message,
            data: error.data.map(|data| data.get().to_owned()),
        },
        Err(_) => Fault::protocol(format!("its error is not one of JSON-RPC: {}", shortened(error.get(), 200))),
    }
}

/// The request's number and what it says of the progress.
pub(crate) fn progress(params: Option<&RawValue>) -> Option<(u64, ProgressNote)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        progress_token: u64,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    }
    let params: Params = serde_json::from_str(params?.get()).ok()?;
    Some((
        params.progress_token,
        ProgressNote { progress: params.progress, total: params.total, message: params.message },
    ))
}

/// How urgent a log message is.
pub(crate) fn level(params: &RawValue) -> Option<LogLevel> {
    #[derive(Deserialize)]
    struct Params {
        level: LogLevel,
    }
    serde_json::from_str::<Params>(params.get()).ok().map(|params| params.level)
}

/// A value in what we send.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Json(&'a str),
    Text(&'a str),
    /// Not said: its key is left out too.
    Absent,
}

impl<'a> Value<'a> {
    pub(crate) fn json(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Json)
    }

    pub(crate) fn text(text: Option<&'a str>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}

pub(crate) type Member<'a> = (&'static str, Value<'a>);

/// `members` and `meta` are those of `params`.
pub(crate) fn request(id: u64, method: &str, members: &[Member<'_>], meta: Value<'_>) -> Bytes {
    let members = members.iter().copied().chain([("_meta", meta)]);
    let length = |(key, value): Member<'_>| match value {
        Value::Json(text) | Value::Text(text) => key.len() + text.len() + 6,
        Value::Absent => 0,
    };
    let mut text = String::with_capacity(members.clone().map(length).sum::<usize>() + 96);
    text.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    let _ = write!(text, "{id}");
    push(&mut text, &[",\"method\":\"", method, "\",\"params\":"]);
    let mut before = "{\"";
    for (key, value) in members {
        match value {
            Value::Absent => continue,
            Value::Json(json) => push(&mut text, &[before, key, "\":", json]),
            Value::Text(plain) if plain_bytes(plain.as_bytes()) == plain.len() => {
                push(&mut text, &[before, key, "\":\"", plain, "\""]);
            }
            Value::Text(other) => push(&mut text, &[before, key, "\":", &string(other)]),
        }
        before = ",\"";
    }
    text.push_str(if before == ",\"" { "}}" } else { "{}}" });
    text.into()
}

fn push(text: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| text.push_str(part));
}

pub(crate) fn notification(method: &str, members: &str) -> Bytes {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{{{members}}}}}").into()
}

pub(crate) fn cancelled(id: u64) -> Bytes {
    notification("notifications/cancelled", &format!("\"requestId\":{id},\"reason\":\"the caller went away\""))
}

/// Our answer to a request of theirs.
pub(crate) fn answer(id: &str, result: &str) -> Bytes {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into()
}

/// Our refusal of a request of theirs.
pub(crate) fn error(id: &str, fault: &ClientFault) -> Bytes {
    let (code, message) = (fault.code, string(&fault.message));
    let data = fault.data.as_ref().map(|data| format!(",\"data\":{data}")).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}{data}}}}}").into()
}

pub(crate) fn string(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_what_is_said_and_no_more() {
        let text = |members: &[Member<'_>], meta| String::from_utf8(request(7, "m", members, meta).to_vec()).unwrap();
        let head = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":"#;
        assert_eq!(text(&[], Value::Absent), format!("{head}{{}}}}"));
        assert_eq!(text(&[("a", Value::Absent)], Value::Json("{}")), format!(r#"{head}{{"_meta":{{}}}}}}"#));
        let members = [("a", Value::Text("\"\n")), ("b", Value::Text("é")), ("c", Value::Json("[1]"))];
        assert_eq!(text(&members, Value::Absent), format!(r#"{head}{{"a":"\"\n","b":"é","c":[1]}}}}"#));
    }
}
