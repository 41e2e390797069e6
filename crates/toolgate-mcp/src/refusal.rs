//! A JSON-RPC error: what was wrong and what to do, with the HTTP status it has where there is HTTP.

use std::borrow::Cow;

use http::{HeaderValue, StatusCode};

use crate::{
    era,
    json::{fault::Fault, text},
};

/// JSON-RPC's and MCP's codes; ours lie outside the range those reserve.
pub mod code {
    pub const PARSE: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    pub const INTERNAL: i32 = -32603;
    pub const HEADER_MISMATCH: i32 = -32020;
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    pub const MISSING_CAPABILITY: i32 = -32021;
    /// Of the older era.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// Of the older era: the client must go to an address first.
    pub const ADDRESS_REQUIRED: i32 = -32042;
    /// A rule says no, and there is no result to say it in.
    pub const DENIED: i32 = -31400;
    pub const NOT_SIGNED_IN: i32 = -31401;
    pub const INSUFFICIENT_SCOPE: i32 = -31403;
    pub const NO_SUCH_SESSION: i32 = -31404;
    /// Too often, or too much at once, for this caller.
    pub const TOO_MANY: i32 = -31429;
}

/// Why a message is not answered with a result.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    /// Apart, so that a refusal stays small where it is passed up.
    rare: Option<Box<Rare>>,
}

/// What few refusals have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rare {
    /// JSON text.
    data: Option<String>,
    /// `WWW-Authenticate`
    pub(crate) challenge: Option<HeaderValue>,
    /// `Allow`
    pub(crate) allow: Option<HeaderValue>,
    /// `Retry-After`
    pub(crate) retry_after: Option<HeaderValue>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), rare: None }
    }

    pub(crate) fn request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message)
    }

    /// Parameters that no request of this method may have.
    pub(crate) fn params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::INVALID_PARAMS, message)
    }

    pub(crate) fn header(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, message)
    }

    pub(crate) fn fault(fault: &Fault, body: &[u8]) -> Self {
        let code = if fault.is_limit() { code::INVALID_REQUEST } else { code::PARSE };
        Self::new(StatusCode::BAD_REQUEST, code, fault.text(body))
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let mut data = format!("{{\"supported\":{},\"requested\":", era::supported_json()).into_bytes();
        text::push_string(&mut data, &crate::json::fault::shortened(requested));
        data.push(b'}');
        let message = "unsupported protocol version; use one of data.supported";
        Self::new(StatusCode::BAD_REQUEST, code::UNSUPPORTED_VERSION, message).with_data(String::from_utf8(data).ok())
    }

    pub(crate) fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, message)
    }

    /// More than this caller may; in so many seconds there may be room.
    pub(crate) fn too_many(message: impl Into<Cow<'static, str>>, seconds: u64) -> Self {
        let mut refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, code::TOO_MANY, message);
        refusal.rare_mut().retry_after = Some(HeaderValue::from(seconds));
        refusal
    }

    /// Sent with 200: HTTP has no word for this fault, and clients read the body only then.
    pub(crate) fn over_ok(self) -> Self {
        Self { status: StatusCode::OK, ..self }
    }

    pub(crate) fn with_data(mut self, json: Option<String>) -> Self {
        self.rare_mut().data = json;
        self
    }

    pub(crate) fn with_challenge(mut self, challenge: Option<HeaderValue>) -> Self {
        self.rare_mut().challenge = challenge;
        self
    }

    pub(crate) fn with_allow(mut self, methods: &'static str) -> Self {
        self.rare_mut().allow = Some(HeaderValue::from_static(methods));
        self
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn rare(&self) -> Option<&Rare> {
        self.rare.as_deref()
    }

    /// The whole error response. Without a readable id there is none, as the schema has it.
    pub(crate) fn body(&self, id: Option<&str>) -> Vec<u8> {
        let mut out = Vec::with_capacity(96 + self.message.len());
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
        if let Some(id) = id {
            out.extend_from_slice(b"\"id\":");
            out.extend_from_slice(id.as_bytes());
            out.push(b',');
        }
        out.extend_from_slice(b"\"error\":{\"code\":");
        out.extend_from_slice(self.code.to_string().as_bytes());
        out.extend_from_slice(b",\"message\":");
        text::push_string(&mut out, &self.message);
        if let Some(data) = self.rare().and_then(|rare| rare.data.as_deref()) {
            out.extend_from_slice(b",\"data\":");
            out.extend_from_slice(data.as_bytes());
        }
        out.extend_from_slice(b"}}");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_response_is_json_with_the_id_as_it_came() {
        let refusal = Refusal::unsupported_version("19\"00");
        let body = refusal.body(Some("\"a\\u0062\""));
        assert_eq!(
            String::from_utf8(body).unwrap(),
            concat!(
                r#"{"jsonrpc":"2.0","id":"a\u0062","error":{"code":-32022,"message":"unsupported protocol version; use one of data.supported","#,
                r#""data":{"supported":["2026-07-28","2025-11-25","2025-06-18"],"requested":"19\"00"}}}"#
            )
        );
        assert!(!String::from_utf8(refusal.body(None)).unwrap().contains("\"id\""));
    }
}
