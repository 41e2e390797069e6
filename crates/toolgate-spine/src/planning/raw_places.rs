//! Places in JSON text by JSON pointer, read and replaced as text: a number that a value in between would round keeps its
//! digits.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use indexmap::IndexMap;
use serde::de::Error;
use serde_json::value::RawValue;

/// Levels that a pointer may lead down. Each level is read again, so that the work is bounded by this and the text's size.
const DEEPEST: usize = 128;

/// A pointer, and what is left of it below the value that is looked at.
struct Place<'p, T> {
    rest: &'p str,
    of: T,
}

/// Places by the token that leads to them.
type PlacesBelow<'p, T> = HashMap<Cow<'p, str>, Vec<Place<'p, T>>>;

/// The values that the text has at these pointers; a pointer that leads to nothing is left out.
pub(super) fn values_at<'t, 'p>(
    text: &'t RawValue,
    pointers: impl IntoIterator<Item = &'p str>,
) -> BTreeMap<&'p str, &'t RawValue> {
    let mut found = BTreeMap::new();
    gather(
        text,
        pointers.into_iter().map(|pointer| Place { rest: pointer, of: pointer }).collect(),
        DEEPEST,
        &mut found,
    );
    found
}

/// The text with the values at these pointers replaced. None of the pointers leads through another.
pub(super) fn replaced(text: &RawValue, values: &[(&str, &RawValue)]) -> serde_json::Result<Box<RawValue>> {
    let mut out = String::with_capacity(text.get().len());
    replace(text, values.iter().map(|(pointer, value)| Place { rest: pointer, of: *value }).collect(), &mut out)?;
    RawValue::from_string(out)
}

fn gather<'t, 'p>(
    text: &'t RawValue,
    places: Vec<Place<'p, &'p str>>,
    levels: usize,
    found: &mut BTreeMap<&'p str, &'t RawValue>,
) {
    let (here, below) = by_token(places);
    found.extend(here.into_iter().map(|pointer| (pointer, text)));
    let Some(levels) = levels.checked_sub(1).filter(|_| !below.is_empty()) else { return };
    match text.get().as_bytes().first() {
        Some(b'{') => {
            let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text.get()).unwrap_or_default();
            for (token, places) in below {
                if let Some(value) = members.get(token.as_ref()) {
                    gather(value, places, levels, found);
                }
            }
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text.get()).unwrap_or_default();
            for (token, places) in below {
                if let Some(value) = index(&token).and_then(|index| items.get(index)) {
                    gather(value, places, levels, found);
                }
            }
        }
        _ => {}
    }
}

// INVARIANT: arguments are at most as deep as a message may be, so that this ends.
fn replace(text: &RawValue, places: Vec<Place<'_, &RawValue>>, out: &mut String) -> serde_json::Result<()> {
    let (here, mut below) = by_token(places);
    if let Some(value) = here.last() {
        out.push_str(value.get());
        return Ok(());
    }
    match text.get().as_bytes().first() {
        _ if below.is_empty() => out.push_str(text.get()),
        Some(b'{') => {
            let members: IndexMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text.get())?;
            for (number, (name, value)) in members.into_iter().enumerate() {
                out.push(if number == 0 { '{' } else { ',' });
                out.push_str(&serde_json::to_string(&name)?);
                out.push(':');
                replace(value, below.remove(&name).unwrap_or_default(), out)?;
            }
            out.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text.get())?;
            for (number, value) in items.into_iter().enumerate() {
                out.push(if number == 0 { '[' } else { ',' });
                replace(value, below.remove(number.to_string().as_str()).unwrap_or_default(), out)?;
            }
            out.push(']');
        }
        _ => return Err(serde_json::Error::custom("there is no such place")),
    }
    match below.keys().next() {
        None => Ok(()),
        Some(token) => Err(serde_json::Error::custom(format!("there is no '{token}'"))),
    }
}

/// The places that are reached, and those below, by the next token of their pointers.
fn by_token<T>(places: Vec<Place<'_, T>>) -> (Vec<T>, PlacesBelow<'_, T>) {
    let mut here = Vec::new();
    let mut below = PlacesBelow::new();
    for Place { rest, of } in places {
        let Some(rest) = rest.strip_prefix('/') else {
            here.push(of);
            continue;
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let (token, rest) = rest.split_at(end);
        let token = match token.contains('~') {
            true => Cow::Owned(token.replace("~1", "/").replace("~0", "~")),
            false => Cow::Borrowed(token),
        };
        below.entry(token).or_default().push(Place { rest, of });
    }
    (here, below)
}

/// An index as RFC 6901 writes it.
fn index(token: &str) -> Option<usize> {
    let is_plain = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    token.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn places_are_those_of_a_json_value() {
        let text = r#"{"a/b":[1,{"~":null}],"":{"x":2},"01":"s","n":1.50}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let pointers = [
            "",
            "/a~1b/1/~0",
            "/a~1b/01",
            "/a~1b/+1",
            "/a~1b/9",
            "/",
            "//x",
            "/01",
            "/n",
            "/n/0",
            "/missing",
            "/a~1b/",
        ];
        let text = raw(text);
        let found = values_at(&text, pointers);
        for pointer in pointers {
            let read = found.get(pointer).map(|raw| serde_json::from_str::<Value>(raw.get()).unwrap());
            assert_eq!(read.as_ref(), value.pointer(pointer), "{pointer}");
        }
    }

    #[test]
    fn no_pointer_leads_down_without_end() {
        let deep =
            |levels: usize| (raw(&format!("{}{}", "[".repeat(levels), "]".repeat(levels))), "/0".repeat(levels - 1));
        let (text, pointer) = deep(DEEPEST);
        assert_eq!(values_at(&text, [pointer.as_str()]).len(), 1);
        let (text, pointer) = deep(100_000);
        assert_eq!(values_at(&text, [pointer.as_str()]).len(), 0);
    }

    #[test]
    fn every_digit_stays_where_a_value_is_put_in() {
        let text = raw(r#"{"to":{"$from":1},"n":[1.50,{"$from":2}],"big":123456789012345678901}"#);
        let (one, two) = (raw("0.1000000000000000055"), raw("1e3"));
        let whole = replaced(&text, &[("/to", &one), ("/n/1", &two)]).unwrap();
        assert_eq!(whole.get(), r#"{"to":0.1000000000000000055,"n":[1.50,1e3],"big":123456789012345678901}"#);
        assert!(replaced(&text, &[("/gone", &one)]).is_err());
        assert!(replaced(&text, &[("/big/0", &one)]).is_err());
    }
}
