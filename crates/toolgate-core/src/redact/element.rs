//! Secrets in XML: `<password>X</password>`, `<add key="password" value="X"/>`, `<key>password</key><string>X</string>`.

use std::ops::Range;

use super::{
    assignment::secret_value,
    names::{NameKind, name_kind},
    pairs::{Label, Role},
    starts_placeholder,
    text::TextWalk,
    token_run::token_run_end,
};

const LONGEST_NAME: usize = 64;
/// Most white space between two elements, and within one around its text.
const MOST_BLANKS: usize = 64;
const LONGEST_TAG: usize = 512;
const CDATA: &[u8] = b"<![CDATA[";

/// The range of the secret that the element here holds, at its first bracket.
///
/// INVARIANT: no more than a fixed number of brackets is passed over, unless what is passed over is taken.
pub(super) fn element(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let tag = Tag::read(walk.text, at)?;
    let local = tag.name.rsplit(':').next()?;
    let kind = name_kind(local);
    if kind != NameKind::Plain
        && let Some(found) = content(walk, &tag, kind).and_then(|text| hidden(walk, text, kind))
    {
        return Some(found);
    }
    let attributes = walk.text.get(tag.attributes.clone())?;
    if let Some(label) = attribute(attributes, Role::Name)
        && attributes.get(label).and_then(Label::of).is_some()
    {
        let text = match attribute(attributes, Role::Value) {
            Some(value) => tag.attributes.start + value.start..tag.attributes.start + value.end,
            None => content(walk, &tag, NameKind::Typed)?,
        };
        return hidden(walk, text, NameKind::Typed);
    }
    if Role::of(local) != Role::Name {
        return None;
    }
    let label = content(walk, &tag, NameKind::Plain)?;
    let name = walk.text.get(label.clone())?;
    if name.len() > LONGEST_NAME || name.contains(' ') || Label::of(name).is_none() {
        return None;
    }
    let next = label.end + closing(walk.text, label.end, tag.name)?;
    let value = Tag::read(walk.text, next + blanks(walk.text.as_bytes(), next))?;
    if Role::of(value.name) != Role::Value && !["string", "data"].contains(&value.name) {
        return None;
    }
    hidden(walk, content(walk, &value, NameKind::Typed)?, NameKind::Typed)
}

/// The beginning of an element.
struct Tag<'a> {
    name: &'a str,
    attributes: Range<usize>,
    /// The place behind it; `None` where nothing is within the element.
    content: Option<usize>,
}

impl<'a> Tag<'a> {
    fn read(text: &'a str, at: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let rest = bytes.get(at..)?.strip_prefix(b"<")?;
        let is_name =
            |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':') || **byte >= 0x80;
        let length = rest.iter().take(LONGEST_NAME + 1).take_while(is_name).count();
        if length == 0 || length > LONGEST_NAME {
            return None;
        }
        let start = at + 1 + length;
        let within = bytes.get(start..)?.iter().take(LONGEST_TAG);
        let end = start + within.take_while(|byte| !matches!(byte, b'<' | b'>')).count();
        if bytes.get(end) != Some(&b'>') {
            return None;
        }
        let is_empty = bytes.get(end - 1) == Some(&b'/');
        Some(Self { name: text.get(at + 1..start)?, attributes: start..end, content: (!is_empty).then_some(end + 1) })
    }
}

/// The text of an element that holds nothing else, without the white space around it. What was redacted before is none.
fn content(walk: &TextWalk<'_>, tag: &Tag<'_>, kind: NameKind) -> Option<Range<usize>> {
    let (text, bytes) = (walk.text, walk.text.as_bytes());
    let start = tag.content?;
    let start = start + blanks(bytes, start);
    let rest = bytes.get(start..)?;
    if rest.starts_with(CDATA) {
        let start = start + CDATA.len();
        // what may be no secret is looked at within a bound
        let text = if kind.is_certain() { text } else { text.get(..text.floor_char_boundary(start + LONGEST_TAG))? };
        if starts_placeholder(text.get(start..)?) {
            return None;
        }
        // for an approver no further than is taken
        let end = match walk.for_approver {
            true => token_run_end(bytes, start),
            false => start + text.get(start..)?.find("]]>").unwrap_or(text.len() - start),
        };
        return Some(start..end);
    }
    let end = start + rest.iter().position(|byte| *byte == b'<')?;
    closing(text, end, tag.name)?;
    let trailing = bytes.get(start..end)?.iter().rev().take(MOST_BLANKS).take_while(|byte| byte.is_ascii_whitespace());
    Some(start..end - trailing.count())
}

/// The length of white space and the tag that ends an element of this name, if they stand here.
fn closing(text: &str, at: usize, name: &str) -> Option<usize> {
    let rest = text.get(at + blanks(text.as_bytes(), at)..)?;
    let after = rest.strip_prefix("</").or_else(|| rest.strip_prefix("<\\/"))?.strip_prefix(name)?;
    let after = after.strip_prefix('>')?;
    Some(text.len() - at - after.len())
}

fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(MOST_BLANKS).take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The value of the first attribute with this role.
fn attribute(attributes: &str, role: Role) -> Option<Range<usize>> {
    let bytes = attributes.as_bytes();
    let mut at = 0;
    while let Some(sign) = bytes.get(at..)?.iter().position(|byte| *byte == b'=') {
        let name = attributes.get(at..at + sign)?.trim_end().rsplit(|c: char| c.is_ascii_whitespace()).next()?;
        let value = at + sign + 1;
        let slashes = bytes.get(value..)?.iter().take_while(|byte| **byte == b'\\' || **byte == b' ').count();
        let quote = *bytes.get(value + slashes)?;
        if !matches!(quote, b'"' | b'\'') {
            at = value;
            continue;
        }
        let start = value + slashes + 1;
        let end = start + bytes.get(start..)?.iter().position(|byte| *byte == quote)?;
        if Role::of(name) == role {
            let trailing = bytes.get(start..end)?.iter().rev().take_while(|byte| **byte == b'\\').count();
            return Some(start..end - trailing);
        }
        at = end + 1;
    }
    None
}

/// What is hidden of a text, if it is a secret: for an approver its first run.
fn hidden(walk: &TextWalk<'_>, text: Range<usize>, kind: NameKind) -> Option<(usize, usize)> {
    if starts_placeholder(walk.text.get(text.start..)?) {
        return None;
    }
    let end = match walk.for_approver {
        true => token_run_end(walk.text.as_bytes(), text.start).min(text.end),
        false => text.end,
    };
    secret_value(walk.text, (text.start, end), kind, false)
}
