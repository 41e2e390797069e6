//! One text for one definition: keys sorted, no white space, strings escaped one way. Numbers stay as they are written.

use std::{fmt, str::FromStr};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::catalog::sha256;

/// As deep as the JSON reader of the rest of the gate goes.
const DEEPEST: usize = 128;

/// The canonical text of a JSON value, as RFC 8785 has it, numbers apart: `1`, `1.0` and `1e0` are three values here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical(String);

/// SHA-256 of a canonical text; written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl From<Digest> for [u8; 32] {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

/// Why a definition has no canonical text. It can't be pinned, and so is never offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it is not JSON that every reader reads alike: {0}")]
    Json(String),
    #[error("it is nested more than {DEEPEST} deep")]
    Deep,
    #[error("it has the key '{0}' twice in one object, which readers take differently")]
    Twice(String),
}

impl Canonical {
    pub fn of(json: &str) -> Result<Self, Unreadable> {
        Json::read(json).map(|json| json.canonical())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn digest(&self) -> Digest {
        Digest(sha256(self.0.as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || "a digest is 'sha256:' and 64 of 0-9 and a-f".to_owned();
        let hex = text.strip_prefix("sha256:").ok_or_else(bad)?;
        let lower = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if hex.len() != 64 || !hex.as_bytes().iter().all(lower) {
            return Err(bad());
        }
        let mut digest = [0; 32];
        for (byte, at) in digest.iter_mut().zip((0..64).step_by(2)) {
            let pair = hex.get(at..at + 2).ok_or_else(bad)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(digest))
    }
}

/// A JSON value that keeps the text of its numbers; members in canonical order, no key twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Json {
    /// `null`, `true`, `false` or a number, as written.
    Word(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn read(json: &str) -> Result<Self, Unreadable> {
        let raw: &RawValue = serde_json::from_str(json).map_err(fault)?;
        Self::of(raw, 0)
    }

    fn of(raw: &RawValue, depth: usize) -> Result<Self, Unreadable> {
        if depth > DEEPEST {
            return Err(Unreadable::Deep);
        }
        let text = raw.get().trim();
        match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str(text).map(Self::Text).map_err(fault),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text).map_err(fault)?;
                items.into_iter().map(|item| Self::of(item, depth + 1)).collect::<Result<_, _>>().map(Self::List)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(fault)?;
                let member = |(key, value)| Ok((key, Self::of(value, depth + 1)?));
                let mut members: Vec<_> = members.into_iter().map(member).collect::<Result<_, _>>()?;
                members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
                let twice = members.iter().zip(members.iter().skip(1)).find(|(one, other)| one.0 == other.0);
                match twice {
                    Some(((key, _), _)) => {
                        Err(Unreadable::Twice(super::visible(&key.chars().take(60).collect::<String>())))
                    }
                    None => Ok(Self::Object(members)),
                }
            }
            _ => Ok(Self::Word(text.to_owned())),
        }
    }

    pub(crate) fn canonical(&self) -> Canonical {
        let mut out = String::new();
        self.write(&mut out);
        Canonical(out)
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Text(text) => write_text(text, out),
            Self::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (index, (key, value)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    write_text(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

pub(crate) fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn fault(fault: serde_json::Error) -> Unreadable {
    Unreadable::Json(fault.to_string())
}

/// An object's members as they stand, equal keys included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}
