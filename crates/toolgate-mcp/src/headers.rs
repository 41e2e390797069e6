//! HTTP headers of a request: what it accepts, what it carries, and the credentials among them.

use http::{HeaderMap, HeaderName, StatusCode, header};
use toolgate_core::Lang;

use crate::refusal::{Refusal, code};

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Which of our two answer types the client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

/// The one value of a header. More than one is refused: two readers could choose differently.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h [u8]>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => Ok(Some(value.as_bytes())),
        _ => Err(Refusal::header(format!("header {name} is there more than once; send it once"))),
    }
}

/// No `Accept` header accepts anything, as HTTP has it.
pub(crate) fn accepted(headers: &HeaderMap) -> Accepted {
    if !headers.contains_key(header::ACCEPT) {
        return Accepted { json: true, events: true };
    }
    let mut accepted = Accepted { json: false, events: false };
    for value in headers.get_all(header::ACCEPT) {
        for (range, quality) in weighted(value.to_str().unwrap_or_default()) {
            let any = range == "*/*";
            accepted.json |= quality > 0 && (any || is(range, "application/json") || is(range, "application/*"));
            accepted.events |= quality > 0 && (any || is(range, "text/event-stream") || is(range, "text/*"));
        }
    }
    accepted
}

fn is(range: &str, media_type: &str) -> bool {
    range.eq_ignore_ascii_case(media_type)
}

/// The items of a header with `;q=`, each with its weight in thousandths.
fn weighted(value: &str) -> impl Iterator<Item = (&str, u16)> {
    value.split(',').map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let quality = parts
            .find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")))
            .map_or(1000, thousandths);
        (range, quality)
    })
}

/// `0.5` is 500. What is no weight counts as none given.
fn thousandths(weight: &str) -> u16 {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
    match (whole.parse::<u16>(), padded.parse::<u16>()) {
        (Ok(whole @ 0..=1), Ok(fraction)) => (whole * 1000 + fraction).min(1000),
        _ => 1000,
    }
}

pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        code::INVALID_REQUEST,
        "body must be JSON; send Content-Type: application/json",
    ))
}

/// Names under which a client might put a credential into an address.
const IN_ADDRESS: [&str; 4] = ["token", "access_token", "session_token", "coordinator_token"];

/// A token in an address ends up in logs and histories, so none is taken from there.
pub(crate) fn check_query(query: Option<&str>) -> Result<(), Refusal> {
    let names = query.unwrap_or_default().split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    for name in names {
        if IN_ADDRESS.iter().any(|credential| name.eq_ignore_ascii_case(credential)) {
            return Err(Refusal::request("tokens are not taken from the address; send Authorization: Bearer instead"));
        }
    }
    Ok(())
}

/// The token of `Authorization: Bearer`. Other schemes are not ours; unreadable bytes are a token that is not valid.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::request("header authorization is there more than once; send it once"));
    }
    let value = value.to_str().unwrap_or("Bearer");
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    Ok(scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()))
}

/// Values of the task headers, in the configured order.
pub(crate) fn task_keys<'h>(headers: &'h HeaderMap, names: &[HeaderName]) -> Vec<&'h str> {
    names.iter().flat_map(|name| headers.get_all(name)).filter_map(|value| value.to_str().ok()).collect()
}

/// The language the client likes best of those we have.
pub(crate) fn language(headers: &HeaderMap, default: Lang) -> Lang {
    let Some(value) = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()) else {
        return default;
    };
    let mut best = (default, 0);
    for (range, quality) in weighted(value) {
        let primary = range.split('-').next().unwrap_or_default();
        let lang = if is(primary, "ja") {
            Lang::Ja
        } else if is(primary, "en") {
            Lang::En
        } else {
            continue;
        };
        if quality > best.1 {
            best = (lang, quality);
        }
    }
    best.0
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
