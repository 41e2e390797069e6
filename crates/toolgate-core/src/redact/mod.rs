//! Redaction: takes secrets out of JSON before it is recorded, hashed, logged or shown.
//!
//! Three ways to know a secret: by fact (a JSON pointer the operator gave), by the name it goes under, and by its shape.
//! Pure, one pass over the text, no tree of values. INVARIANT: what is not a secret stays the same JSON, white space
//! aside; redacting twice is redacting once; what can't be read is redacted whole.

mod cut;
mod names;
mod pointer;
mod scan;
mod shapes;

use std::borrow::Cow;

use aws_lc_rs::hmac;

pub use self::{
    cut::cut,
    pointer::{BadPointer, Pointer},
};
use self::{
    names::{is_secret_name, is_typed_name},
    scan::Scan,
};

/// What stands where a secret stood.
const PLACEHOLDER: &str = "[redacted]";

/// Takes secrets out. Made once for each tool, from its facts.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    pointers: Vec<Pointer>,
    key: Option<hmac::Key>,
}

impl Redactor {
    /// By name and shape, and by these facts.
    pub fn new(pointers: Vec<Pointer>) -> Self {
        Self { pointers, key: None }
    }

    /// Adds a keyed digest to each placeholder, so that an approver can tell two secrets apart and learns neither.
    #[must_use]
    pub fn with_digests(mut self, key: &[u8]) -> Self {
        self.key = Some(hmac::Key::new(hmac::HMAC_SHA256, key));
        self
    }

    /// The same JSON without its secrets and without white space between values. What is not JSON becomes a placeholder
    /// whole.
    pub fn json(&self, json: &str) -> String {
        let mut out = String::with_capacity(json.len());
        let scanned = Scan::new(json, self).document(&mut out);
        if scanned.is_none() {
            out.clear();
            out.push('"');
            self.placeholder(json, &mut out);
            out.push('"');
        }
        out
    }

    /// Text without what has the shape of a secret: for log lines and errors.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        shapes::replace(text, |secret, out| self.placeholder(secret, out)).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    fn placeholder(&self, secret: &str, out: &mut String) {
        if is_placeholder(secret) {
            return out.push_str(secret);
        }
        match &self.key {
            None => out.push_str(PLACEHOLDER),
            Some(key) => {
                out.push_str("[redacted:");
                for byte in hmac::sign(key, secret.as_bytes()).as_ref().iter().take(4) {
                    out.push_str(&format!("{byte:02x}"));
                }
                out.push(']');
            }
        }
    }
}

/// Whether the text is one of ours, so that redacting again changes nothing.
fn is_placeholder(text: &str) -> bool {
    let digest = text.strip_prefix("[redacted:").and_then(|rest| rest.strip_suffix(']'));
    text == PLACEHOLDER || digest.is_some_and(|hex| hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
