//! Patterns of addresses: templates as servers write them (RFC 6570), and the operator's own with `*`.
//!
//! A template is meant to make addresses; here it is asked whether it could have made one. Where it leaves room for doubt it
//! says yes: what a pattern lets through is still decided by the rules.

use crate::address::encoded;

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
    fn no_pattern_takes_long() {
        let pattern = Pattern::glob(&"*a".repeat(200));
        assert!(!pattern.matches(&"a".repeat(199)));
        assert!(pattern.matches(&"a".repeat(4000)));
    }
}
