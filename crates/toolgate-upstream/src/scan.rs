//! The parts of a JSON text, as slices of it. For text that was parsed before: nothing is checked here.

use std::{borrow::Cow, ops::Range};

use toolgate_core::json_string_end;

/// Members of an object in their order, duplicates included: the key with its quotes, and the value.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut parts = Parts::of(object);
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}

/// The value of the first member of that name, as its text.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members(object).find(|(key, _)| is_named(object, key, name)).and_then(|(_, value)| object.get(value))
}

/// An object's text without the members of that name, every other byte as it was; `None` where there are none.
pub(crate) fn without(object: &str, name: &str) -> Option<String> {
    let (mut out, mut copied) = (String::new(), 0);
    // the members to go that were met since the last one that stays, and the end of that one
    let (mut run, mut kept): (Option<Range<usize>>, Option<usize>) = (None, None);
    for (key, value) in members(object) {
        if is_named(object, &key, name) {
            run = Some(run.map_or(key.start, |run| run.start)..value.end);
            continue;
        }
        // with the comma behind them
        if let Some(run) = run.take() {
            out.push_str(object.get(copied..run.start)?);
            copied = key.start;
        }
        kept = Some(value.end);
    }
    // or the one before them, where they are the last
    if let Some(run) = run {
        out.push_str(object.get(copied..kept.unwrap_or(run.start))?);
        copied = run.end;
    }
    (copied > 0).then(|| out + object.get(copied..).unwrap_or_default())
}

fn is_named(text: &str, key: &Range<usize>, name: &str) -> bool {
    key_of(text, key).is_some_and(|key| key == name)
}

/// A key, decoded.
pub(crate) fn key_of<'t>(text: &'t str, key: &Range<usize>) -> Option<Cow<'t, str>> {
    let key = text.get(key.clone())?;
    if key.contains('\\') {
        return serde_json::from_str(key).ok().map(Cow::Owned);
    }
    key.get(1..key.len().saturating_sub(1)).map(Cow::Borrowed)
}

/// Keys and values between the brackets of an object, in turns.
struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    fn of(object: &'a str) -> Self {
        let bytes = object.as_bytes();
        let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
        let open = first.filter(|first| bytes.get(*first) == Some(&b'{'));
        Self { bytes, at: open.map_or(bytes.len(), |open| open + 1) }
    }
}

impl Iterator for Parts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            match self.bytes.get(self.at)? {
                b'}' | b']' => return None,
                b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => {
                    let (start, end) = (self.at, value_end(self.bytes, self.at));
                    self.at = end.max(start + 1);
                    return Some(start..end);
                }
            }
        }
    }
}

pub(crate) fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = json_string_end(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_goes_and_every_other_byte_stays() {
        let cut = |text: &str| without(text, "x");
        assert_eq!(cut(r#"{"x":1,"b" : [1.0e5,"]"]}"#).as_deref(), Some(r#"{"b" : [1.0e5,"]"]}"#));
        assert_eq!(cut(r#"{"a":{"x":1}, "x" : "}"}"#).as_deref(), Some(r#"{"a":{"x":1}}"#));
        assert_eq!(cut(r#" { "x" : true } "#).as_deref(), Some(r#" {  } "#));
        assert_eq!(cut(r#"{"x":1,"a":2,"\u0078":3}"#).as_deref(), Some(r#"{"a":2}"#));
        assert_eq!(cut(r#"{"a":"x"}"#), None);
        assert_eq!(cut(r#"{"a":1,"x":2,"x":3,"b":4,"x":5,"x":6}"#).as_deref(), Some(r#"{"a":1,"b":4}"#));
        assert_eq!(cut(r#"{"x":2 , "x":3}"#).as_deref(), Some("{}"));
        let many = format!(r#"{{{}"a":1}}"#, r#""x":1,"#.repeat(200_000));
        assert_eq!(cut(&many).as_deref(), Some(r#"{"a":1}"#), "in linear time and stack");
    }

    #[test]
    fn members_are_found() {
        let text = r#"{"a\"":[1, {"b":2}] ,"c":-1.5e3}"#;
        let all: Vec<_> = members(text).map(|(key, value)| (&text[key], &text[value])).collect();
        assert_eq!(all, [(r#""a\"""#, r#"[1, {"b":2}]"#), (r#""c""#, "-1.5e3")]);
        assert_eq!(member(text, "c"), Some("-1.5e3"));
    }
}
