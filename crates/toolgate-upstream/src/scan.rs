//! The parts of a JSON text, as slices of it. For text that was parsed before: nothing is checked here.

use std::ops::Range;

use toolgate_core::plain_bytes;

/// Members of an object in their order, duplicates included: the key with its quotes, and the value.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    let mut parts = Parts::of(object);
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}

/// The value of the first member of that name, as its text.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members(object).find(|(key, _)| is_named(object, key, name)).and_then(|(_, value)| object.get(value))
}

/// An object's text without the members of that name, every other byte as it was.
pub(crate) fn without(object: &str, name: &str) -> Option<String> {
    let mut all = members(object);
    let mut before = None;
    let (key, value) = loop {
        let (key, value) = all.next()?;
        if is_named(object, &key, name) {
            break (key, value);
        }
        before = Some(value.end);
    };
    // with the comma behind it, or the one before it where it is the last
    let (cut, more) = match all.next() {
        Some((next, _)) => {
            let more = is_named(object, &next, name) || all.any(|(key, _)| is_named(object, &key, name));
            (key.start..next.start, more)
        }
        None => (before.unwrap_or(key.start)..value.end, false),
    };
    let rest = [object.get(..cut.start)?, object.get(cut.end..)?].concat();
    if more { without(&rest, name) } else { Some(rest) }
}

fn is_named(text: &str, key: &Range<usize>, name: &str) -> bool {
    let Some(key) = text.get(key.clone()) else { return false };
    let plain = key.get(1..key.len().saturating_sub(1));
    plain == Some(name) || key.contains('\\') && serde_json::from_str::<String>(key).is_ok_and(|key| key == name)
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

fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string_end(bytes, at);
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

/// Behind the quote that ends the string which starts here.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += bytes.get(at..).map_or(0, plain_bytes);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
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
    }

    #[test]
    fn members_are_found() {
        let text = r#"{"a\"":[1, {"b":2}] ,"c":-1.5e3}"#;
        let all: Vec<_> = members(text).map(|(key, value)| (&text[key], &text[value])).collect();
        assert_eq!(all, [(r#""a\"""#, r#"[1, {"b":2}]"#), (r#""c""#, "-1.5e3")]);
        assert_eq!(member(text, "c"), Some("-1.5e3"));
    }
}
