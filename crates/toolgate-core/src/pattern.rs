//! Patterns of addresses: templates as servers write them (RFC 6570), and the operator's own with `*`.
//!
//! A template is meant to make addresses; here it is asked whether it could have made one. Where it leaves room for doubt it
//! says yes: what a pattern lets through is still decided by the rules.

use crate::address::{encoded, normal_address};

/// Literal text and holes, in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Some characters, none of them `/`, `?` or `#`.
    Word,
    /// Any characters, or none.
    Any,
}

impl Pattern {
    /// `notes://{folder}/{name}`, `file:///{+path}`
    pub fn template(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((expression, after)) = after.split_once('}') else { break };
            push_text(&mut parts, &encoded(before));
            let plain = expression.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '%'));
            let one = plain && !expression.contains([',', '*']);
            parts.push(if one { Part::Word } else { Part::Any });
            rest = after;
        }
        push_text(&mut parts, &encoded(rest));
        Self(parts)
    }

    /// A glob of addresses, with what no URI has written as addresses have it.
    pub fn address(text: &str) -> Self {
        Self::glob(&encoded(text))
    }

    /// The address pattern (with stars, or a template) as it must be written to match anything, where it is not. Only addresses
    /// in normal form are looked up by a pattern, so that a pattern whose text is not normal holds for nothing.
    pub fn unmatchable(text: &str) -> Option<String> {
        let (texts, holes) = split_holes(text);
        let filled = |hole: &str| encoded(&texts.join(hole));
        // a hole may stand for a part of a name, a path or a whole address
        let matchable = ["x", "x/x", "/x", "//x/x", "///x", "x:x", "1", ""];
        if matchable.iter().any(|hole| normal_address(&filled(hole)) == filled(hole)) {
            return None;
        }
        const HOLE: &str = "toolgate-hole";
        let normal = normal_address(&filled(HOLE)).into_owned();
        let mut parts = normal.split(HOLE);
        let first = parts.next().unwrap_or_default().to_owned();
        let joined = parts.zip(&holes).fold(first, |joined, (part, hole)| joined + hole + part);
        Some(joined)
    }

    /// `file:///notes/*`: a star is any characters, or none.
    pub fn glob(text: &str) -> Self {
        let mut parts = Vec::new();
        for (at, piece) in text.split('*').enumerate() {
            if at > 0 {
                parts.push(Part::Any);
            }
            push_text(&mut parts, piece);
        }
        Self(parts)
    }

    /// How many characters it fixes: the more, the more particular.
    pub fn plain(&self) -> usize {
        self.0.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 0 }).sum()
    }

    pub fn matches(&self, address: &str) -> bool {
        // ends[i]: the parts so far can end at byte i; linear in parts × address, whatever the pattern
        let bytes = address.as_bytes();
        let mut ends = vec![false; bytes.len() + 1];
        if let Some(start) = ends.first_mut() {
            *start = true;
        }
        for part in &self.0 {
            ends = match part {
                Part::Text(text) => after_text(&ends, bytes, text.as_bytes()),
                Part::Any => {
                    let mut reached = false;
                    ends.iter()
                        .map(|end| {
                            reached |= *end;
                            reached
                        })
                        .collect()
                }
                Part::Word => after_word(&ends, bytes),
            };
        }
        ends.last().copied().unwrap_or_default()
    }
}

/// The texts of a pattern and, between them, its holes: `*` and `{…}`.
fn split_holes(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut texts, mut holes, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(at) = rest.find(['*', '{']) {
        let length = match rest.get(at..at + 1) {
            Some("*") => 1,
            _ => match rest.get(at..).and_then(|rest| rest.find('}')) {
                Some(end) => end + 1,
                None => break,
            },
        };
        texts.push(rest.get(..at).unwrap_or_default());
        holes.push(rest.get(at..at + length).unwrap_or_default());
        rest = rest.get(at + length..).unwrap_or_default();
    }
    texts.push(rest);
    (texts, holes)
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

fn after_text(ends: &[bool], bytes: &[u8], text: &[u8]) -> Vec<bool> {
    let starts_here = |end: usize| {
        let start = end.checked_sub(text.len())?;
        let fits = ends.get(start).copied().unwrap_or_default() && bytes.get(start..end) == Some(text);
        Some(fits)
    };
    (0..ends.len()).map(|end| starts_here(end).unwrap_or_default()).collect()
}

fn after_word(ends: &[bool], bytes: &[u8]) -> Vec<bool> {
    let mut within = false;
    let mut after = vec![false];
    for (byte, end) in bytes.iter().zip(ends) {
        within = (within || *end) && !matches!(byte, b'/' | b'?' | b'#');
        after.push(within);
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_matches_what_it_could_have_made() {
        let matches = |template: &str, address: &str| Pattern::template(template).matches(address);
        assert!(matches("test://template/{id}/data", "test://template/7/data"));
        assert!(matches("test://template/{id}/data", "test://template/é%20x/data"));
        assert!(!matches("test://template/{id}/data", "test://template//data"));
        assert!(!matches("test://template/{id}/data", "test://template/7/8/data"));
        assert!(!matches("test://template/{id}/data", "test://template/7/data/more"));
        assert!(matches("file:///{+path}", "file:///a/b/c"));
        assert!(matches("file://{/path*}", "file:///a/b"));
        assert!(matches("x:{a}-{b}", "x:1-2-3"));
        assert!(matches("search:{?q,limit}", "search:?q=a&limit=2"));
        assert!(matches("plain:text", "plain:text"));
        assert!(!matches("plain:text", "plain:texts"));
        assert!(matches("broken:{open", "broken:%7Bopen"), "as addresses have it");
    }

    #[test]
    fn a_star_is_anything() {
        let matches = |glob: &str, address: &str| Pattern::glob(glob).matches(address);
        assert!(matches("file:///notes/*", "file:///notes/a/b"));
        assert!(matches("file:///notes/*", "file:///notes/"));
        assert!(!matches("file:///notes/*", "file:///note"));
        assert!(matches("*", ""));
        assert!(matches("*a*b", "xaxxb"));
        assert!(!matches("*a*b", "xaxxbx"));
        assert!(Pattern::glob("file:///notes/*").plain() > Pattern::template("file:///{+path}").plain());
    }

    #[test]
    fn a_pattern_that_matches_nothing_is_told_how_to_be_written() {
        for fine in [
            "*",
            "file:///docs/*",
            "file:///my docs/*",
            "file://{+path}",
            "file://{/path*}",
            "note://private",
            "note://{name}",
            "note://*",
            "https://example.com/*",
            "https://*.example.com/*",
            "https://example.com:*/x",
            "test://template/{id}/data",
            "search:{?q,limit}",
            "urn:isbn:*",
        ] {
            assert_eq!(Pattern::unmatchable(fine), None, "{fine}");
        }
        for (odd, normal) in [
            ("https://example.com", "https://example.com/"),
            ("https://Example.com:443/*", "https://example.com/*"),
            ("file:/docs/*", "file:///docs/*"),
            ("file://localhost/docs/*", "file:///docs/*"),
            ("NOTE://private/*", "note://private/*"),
            ("note://private/", "note://private"),
            ("file:///docs//{name}", "file:///docs/{name}"),
            ("file:///docs/x/../{name}/*", "file:///docs/{name}/*"),
        ] {
            assert_eq!(Pattern::unmatchable(odd).as_deref(), Some(normal), "{odd}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let pattern = Pattern::glob(&"*a".repeat(200));
        assert!(!pattern.matches(&"a".repeat(199)));
        assert!(pattern.matches(&"a".repeat(4000)));
    }
}
