//! Random definitions, and the same definition in another dress.

use crate::fixtures::random::Random;

/// A JSON value; an object keeps the order it is written in, a number its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Any {
    Word(&'static str),
    Text(String),
    List(Vec<Any>),
    Object(Vec<(String, Any)>),
}

const WORDS: &[&str] = &["null", "true", "false", "0", "-0", "1", "1.0", "1e0", "10", "12345678901234567890.5"];
pub(crate) const CHARS: &[char] = &[
    'a',
    'B',
    ' ',
    '"',
    '\\',
    '/',
    '\n',
    '\u{0}',
    '\u{1b}',
    '\u{7f}',
    'é',
    '\u{301}',
    'а',
    '名',
    '\u{200b}',
    '\u{202e}',
    '\u{2028}',
    '\u{e000}',
    '\u{fe0f}',
    '\u{ffff}',
    '😀',
    '\u{e0061}',
    '𝐚',
    '⟨',
    '#',
    '~',
    '<',
    '!',
    '-',
];

pub(crate) fn text(random: &mut Random, longest: usize) -> String {
    (0..random.below(longest + 1)).map(|_| random.pick(CHARS)).collect()
}

pub(crate) fn any(random: &mut Random, depth: usize) -> Any {
    match random.below(if depth == 0 { 2 } else { 4 }) {
        0 => Any::Word(random.pick(WORDS)),
        1 => Any::Text(text(random, 12)),
        2 => Any::List((0..random.below(4)).map(|_| any(random, depth - 1)).collect()),
        _ => object(random, depth),
    }
}

pub(crate) fn object(random: &mut Random, depth: usize) -> Any {
    let mut members: Vec<(String, Any)> = Vec::new();
    for _ in 0..random.below(5) {
        let key = text(random, 4);
        if members.iter().all(|(other, _)| *other != key) {
            members.push((key, any(random, depth.saturating_sub(1))));
        }
    }
    Any::Object(members)
}

/// The value as text: members in any order, white space anywhere, characters escaped or not.
pub(crate) fn dressed(value: &Any, random: &mut Random) -> String {
    let blank = |random: &mut Random| random.pick(&["", "", " ", "\n", "\t", "\r\n  "]);
    let body = match value {
        Any::Word(word) => (*word).to_owned(),
        Any::Text(text) => quoted(text, random),
        Any::List(items) => {
            let items: Vec<String> = items.iter().map(|item| dressed(item, random)).collect();
            format!("[{}{}]", blank(random), items.join(","))
        }
        Any::Object(members) => {
            let mut rest: Vec<&(String, Any)> = members.iter().collect();
            let mut written = Vec::new();
            while !rest.is_empty() {
                let (key, value) = rest.remove(random.below(rest.len()));
                let (before, after) = (blank(random), blank(random));
                written.push(format!("{before}{}{after}:{}", quoted(key, random), dressed(value, random)));
            }
            format!("{{{}{}}}", written.join(","), blank(random))
        }
    };
    format!("{}{body}{}", blank(random), blank(random))
}

fn quoted(text: &str, random: &mut Random) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if c < ' ' || c == '"' || c == '\\' || random.one_in(4) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04X}")));
        } else {
            out.push(c);
        }
    }
    out + "\""
}

/// One edit somewhere: never the same value again.
pub(crate) fn edit(value: &mut Any, random: &mut Random) {
    match value {
        Any::Word(word) => {
            let others: Vec<&'static str> = WORDS.iter().copied().filter(|other| other != word).collect();
            *word = random.pick(&others);
        }
        Any::Text(text) => edit_text(text, random),
        Any::List(items) => match random.below(3) {
            0 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            1 if !items.is_empty() => {
                let at = random.below(items.len());
                edit(&mut items[at], random);
            }
            _ => items.push(any(random, 1)),
        },
        Any::Object(members) => match random.below(4) {
            0 if !members.is_empty() => drop(members.remove(random.below(members.len()))),
            1 if !members.is_empty() => {
                let at = random.below(members.len());
                edit(&mut members[at].1, random);
            }
            2 if !members.is_empty() => {
                let at = random.below(members.len());
                members[at].0.push_str(" renamed");
            }
            _ => members.push((format!("added {}", members.len()), any(random, 1))),
        },
    }
}

fn edit_text(text: &mut String, random: &mut Random) {
    let mut chars: Vec<char> = text.chars().collect();
    let at = random.below(chars.len() + 1);
    if random.one_in(2) && at < chars.len() {
        chars.remove(at);
    } else {
        chars.insert(at, random.pick(CHARS));
    }
    *text = chars.into_iter().collect();
}
