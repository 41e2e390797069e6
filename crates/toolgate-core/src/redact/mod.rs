//! Redaction: takes secrets out of JSON before it is recorded, hashed, logged or shown.
//!
//! Three ways to know a secret: by fact (a JSON pointer the operator gave), by the name it goes under, and by its shape.
//! Pure, one pass over the text, no tree of values. INVARIANT: the time is linear in the text; what is not a secret stays the same JSON, white space
//! aside; redacting twice is redacting once; what can't be read is redacted whole.

mod approver_names;
mod assignment;
mod cut;
mod element;
mod encoded;
mod lookalike;
mod names;
mod paired;
mod pairs;
mod pointer;
mod reader;
mod scan;
mod secret;
mod shapes;
mod text;
mod token_run;
mod userinfo;

use std::borrow::Cow;

use aws_lc_rs::hmac;

pub use self::{
    cut::cut,
    pointer::{BadPointer, Pointer},
};
use self::{pointer::Way, scan::Scan};

/// What stands where a secret stood.
const PLACEHOLDER: &str = "[redacted]";
/// How many times as much is read as is kept, where only a beginning is kept.
const WINDOW: usize = 4;

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

    /// For an approver: adds a keyed digest to each placeholder, so that two secrets can be told apart and neither is learnt.
    ///
    /// INVARIANT: what is hidden within text is one run of token characters (`token_run`). A caller writes the text, and
    /// must not be able to hide from the approver what will run.
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

    /// The JSON without its secrets if that has at most so many bytes, else an object with its beginning: see [`cut`]. Of a long
    /// text only the beginning is read, for what leads to no call and is kept in part.
    pub fn bounded(&self, json: &str, most: usize) -> String {
        let window = most.saturating_mul(WINDOW);
        if json.len() <= window {
            return cut(self.json(json), most);
        }
        let start = json.get(..json.floor_char_boundary(window)).unwrap_or_default();
        let mut out = String::with_capacity(start.len());
        Scan::new(start, self).beginning(&mut out);
        cut::cut_start(&out, json.len(), most)
    }

    /// Text without secrets of a known shape or name: for log lines, names and errors.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Whether the value at this place is a secret by a fact or by a name on the way to it. The place is a JSON pointer.
    pub fn hides(&self, place: &str) -> bool {
        let mut way = Way::root(&self.pointers);
        place.split('/').skip(1).any(|step| {
            let step = step.replace("~1", "/").replace("~0", "~");
            way = way.down(|name| name == step);
            way.is_secret() || names::name_kind(&step).is_certain()
        })
    }

    /// The text without its secrets; `None` if it has none.
    fn replaced(&self, text: &str) -> Option<String> {
        text::replace(text, self.is_for_approver(), |secret, out| self.placeholder(secret, out))
    }

    fn is_for_approver(&self) -> bool {
        self.key.is_some()
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
    starts_placeholder(text) && text.find(']') == Some(text.len() - 1)
}

/// Whether the text begins with one of ours.
fn starts_placeholder(text: &str) -> bool {
    let digest = text.strip_prefix("[redacted:").and_then(|rest| rest.split_once(']'));
    let keyed = digest.is_some_and(|(hex, _)| hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    keyed || text.starts_with(PLACEHOLDER)
}
