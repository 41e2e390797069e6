//! The parts of a JSON text, as slices of it. For text that was parsed before: nothing is checked here.

use std::ops::Range;

use toolgate_core::plain_bytes;

/// Members of an object in their order, duplicates included: the key with its quotes, and the value.
pub(crate) fn members(object: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let parts = parts(object, b'{');
    parts.chunks_exact(2).filter_map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone()))).collect()
}

/// The value of the first member of that name, as its text.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members(object).into_iter().find(|(key, _)| is_named(object, key, name)).and_then(|(_, value)| object.get(value))
}

/// An object's text without the members of that name, every other byte as it was.
pub(crate) fn without(object: &str, name: &str) -> Option<String> {
    let all = members(object);
    let mut named = all.iter().enumerate().filter(|(_, (key, _))| is_named(object, key, name)).map(|(index, _)| index);
    let (gone, more) = (named.next()?, named.next().is_some());
    let end = |index: usize| all.get(index).map(|(_, value)| value.end);
    let start = |index: usize| all.get(index).map(|(key, _)| key.start);
    let cut = match start(gone + 1) {
        Some(next) => start(gone)?..next,
        None => gone.checked_sub(1).and_then(end).map_or(start(gone), Some)?..end(gone)?,
    };
    let rest = [object.get(..cut.start)?, object.get(cut.end..)?].concat();
    if more { without(&rest, name) } else { Some(rest) }
}

fn is_named(text: &str, key: &Range<usize>, name: &str) -> bool {
    let Some(key) = text.get(key.clone()) else { return false };
    let plain = key.get(1..key.len().saturating_sub(1));
    plain == Some(name) || key.contains('\\') && serde_json::from_str::<String>(key).is_ok_and(|key| key == name)
}

/// Keys and values between the brackets of an object or array.
fn parts(text: &str, open: u8) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let bytes = text.as_bytes();
    let first = bytes.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(mut at) = first.filter(|first| bytes.get(*first) == Some(&open)).map(|first| first + 1) else {
        return parts;
    };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'}' | b']' => break,
            b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            _ => {
                let end = value_end(bytes, at);
                parts.push(at..end);
                at = end.max(at + 1);
            }
        }
    }
    parts
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
        let all: Vec<_> = members(text).into_iter().map(|(key, value)| (&text[key], &text[value])).collect();
        assert_eq!(all, [(r#""a\"""#, r#"[1, {"b":2}]"#), (r#""c""#, "-1.5e3")]);
        assert_eq!(member(text, "c"), Some("-1.5e3"));
    }
}
