//! Secrets in text that are known by the name before them: `password=X`, `token: X`, `"api_key": "X"`, `Cookie: sid=X`,
//! `--password X`, in queries, forms, connection strings, shell commands, YAML and JSON.

use super::{
    approver_names::approver_name_kind,
    names::{NameKind, name_kind},
    paired,
    shapes::SCHEMES,
    starts_placeholder,
    text::{TextWalk, holds_format},
    token_run::token_run_end,
};

/// Longest name that is looked at.
const LONGEST_NAME: usize = 64;
/// Most blanks, quotes and brackets between a name and its sign, and between the sign and the value.
const MOST_BETWEEN: usize = 16;
/// Longest value that is looked at where the name alone does not say that it is a secret.
const LONGEST_DOUBTFUL: usize = 600;

/// `NAME=VALUE` or `NAME: VALUE`, at the sign.
pub(super) fn named(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let bytes = walk.text.as_bytes();
    let Sign { notation, is_colon, length } = Sign::at(bytes, at)?;
    let doubled = bytes.get(at) == Some(&b':')
        && (bytes.get(at + 1) == Some(&b':') || at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b':'));
    if doubled || walk.text.get(at..)?.starts_with("://") {
        return None;
    }
    let (name_start, name_end) = name_before(walk, at)?;
    let name = walk.text.get(name_start..name_end)?;
    // `=>`, `==`, `:=`
    let sign = at + length;
    let sign = sign + bytes.get(sign..)?.iter().take(2).take_while(|byte| matches!(byte, b'=' | b'>')).count();
    let blanks = blanks(bytes, sign);
    let start = sign + blanks;
    let kind = match kind_in_text(walk, name, name_start) {
        NameKind::Plain if paired::is_labelled(walk, name_start..name_end, start) => NameKind::Secret,
        kind => kind,
    };
    if kind == NameKind::Plain {
        return None;
    }
    let header = is_colon && is_header(name);
    let quote_before =
        name_start.checked_sub(1).and_then(|before| bytes.get(before)).copied().filter(|byte| is_quote(*byte));
    let place = Place { prose: is_colon && blanks > 0, header: header.then_some(quote_before), notation };
    value(walk, start, kind, place)
}

/// The sign between a name and its value.
struct Sign {
    notation: Notation,
    is_colon: bool,
    length: usize,
}

/// The way in which a sign is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    Ascii,
    /// `%3D`: the value ends with `%26` as well.
    Percent,
    /// `：` and `＝`: text in another script may follow, which is no secret.
    Wide,
}

impl Sign {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let (notation, is_colon, length) = match bytes.get(at..)? {
            [b':', ..] => (Notation::Ascii, true, 1),
            [b'=', ..] => (Notation::Ascii, false, 1),
            [b'%', b'3', b'A' | b'a', ..] => (Notation::Percent, true, 3),
            [b'%', b'3', b'D' | b'd', ..] => (Notation::Percent, false, 3),
            [0xef, 0xbc, 0x9a, ..] | [0xef, 0xb9, 0x95, ..] => (Notation::Wide, true, 3),
            [0xef, 0xbc, 0x9d, ..] | [0xef, 0xb9, 0xa6, ..] => (Notation::Wide, false, 3),
            _ => return None,
        };
        Some(Self { notation, is_colon, length })
    }
}

/// `--NAME VALUE`, at the first dash; the two may be items of a list.
pub(super) fn option(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let bytes = walk.text.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return None;
    }
    let dashes = bytes.get(at..)?.iter().take(2).take_while(|byte| **byte == b'-').count();
    let name_start = at + dashes;
    let rest = bytes.get(name_start..)?;
    let length = rest.iter().take(LONGEST_NAME + 1).take_while(|byte| is_option_byte(**byte)).count();
    if length == 0 || length > LONGEST_NAME {
        return None;
    }
    let name = walk.text.get(name_start..name_start + length)?;
    let kind = kind_for(walk, name);
    // A name that is itself a secret is found on the way. INVARIANT: options within the name are not looked for, or each of
    // them would look for those within its own name.
    if kind == NameKind::Plain || holds_format(name, walk.nesting) {
        return None;
    }
    let name_end = name_start + length;
    let between = bytes.get(name_end..)?.iter().take(MOST_BETWEEN);
    let between =
        between.take_while(|byte| is_blank(**byte) || is_quote(**byte) || matches!(byte, b',' | b'\\')).count();
    let mut start = name_end + between;
    if between == 0 || bytes.get(start) == Some(&b'-') {
        return None;
    }
    // back to the quote and its backslashes: they belong to the value
    while start > name_end + 1 && bytes.get(start - 1).is_some_and(|byte| is_quote(*byte) || *byte == b'\\') {
        start -= 1;
    }
    value(walk, start, kind, Place { prose: true, header: None, notation: Notation::Ascii })
}

/// The manner in which a value stands after its name.
#[derive(Clone, Copy)]
struct Place {
    /// In a sentence: the word may be a word.
    prose: bool,
    /// A header's value ends with its line, or with the quote before its name.
    header: Option<Option<u8>>,
    notation: Notation,
}

fn value(walk: &TextWalk<'_>, start: usize, kind: NameKind, place: Place) -> Option<(usize, usize)> {
    let text = walk.text;
    // What may be no secret is looked at within a bound, or the same text would be passed over for each name in it.
    let text = match kind.is_certain() {
        true => text,
        false => text.get(..text.ceil_char_boundary(start + LONGEST_DOUBTFUL))?,
    };
    let bytes = text.as_bytes();
    let slashes = bytes.get(start..)?.iter().take(8).take_while(|byte| **byte == b'\\').count();
    // what was redacted before is not passed over again
    let redacted = |from: usize| text.get(from..).is_some_and(starts_placeholder);
    match bytes.get(start + slashes)? {
        _ if redacted(start + slashes) => None,
        // a shell runs what stands between these
        b'`' if walk.for_approver => None,
        quote if is_quote(*quote) => {
            let from = start + slashes + 1;
            if redacted(from) {
                return None;
            }
            let to = match walk.for_approver {
                true => token_run_end(bytes, from),
                false => quoted_end(bytes, from, *quote, slashes),
            };
            secret_value(text, (from, to), kind, false)
        }
        b'{' | b'[' | b'|' | b'>' if walk.for_approver => None,
        b'{' | b'[' => {
            let to = if kind.is_certain() { nested_end(bytes, start) } else { start };
            (to > start + 2).then_some((start, to))
        }
        b'|' | b'>' if place.prose && kind.is_certain() => Some((start, block_end(bytes, start))),
        _ => {
            let begins = |scheme: &&&str| {
                text.get(start..start + scheme.len()).is_some_and(|word| word.eq_ignore_ascii_case(scheme))
            };
            let scheme = SCHEMES.iter().find(begins);
            let from = scheme.map_or(start, |scheme| start + scheme.len() + blanks(bytes, start + scheme.len()));
            if redacted(from) {
                return None;
            }
            // for an approver no further than is taken
            let most = if walk.for_approver { token_run_end(bytes, from) } else { bytes.len() };
            let to = bare_end(bytes.get(..most).unwrap_or_default(), from, kind, place.notation);
            let (from, to) = secret_value(text, (from, to), kind, place.prose)?;
            match place.header.filter(|_| !walk.for_approver) {
                Some(quote) if scheme.is_none() => Some((from, line_end(bytes, from, quote))),
                _ => Some((from, to)),
            }
        }
    }
}

/// The range, unless what stands there is no secret: nothing, a placeholder, a count, a truth value, a word of a sentence.
pub(super) fn secret_value(
    text: &str,
    (from, to): (usize, usize),
    kind: NameKind,
    prose: bool,
) -> Option<(usize, usize)> {
    let value = text.get(from..to)?;
    if value.is_empty() || !kind.covers(value) {
        return None;
    }
    if value.len() <= 9 && kind != NameKind::Typed {
        let count = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        let word = ["true", "false", "null", "none", "nil"].iter().any(|word| value.eq_ignore_ascii_case(word));
        if count || word {
            return None;
        }
    }
    if prose && kind != NameKind::Typed {
        let letters = value.trim_end_matches(['.', '!', '?', ':', ')']);
        if value.len() < 24 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
    }
    Some((from, to))
}

/// The range of the name before a sign: blanks, a quote and brackets may stand between.
fn name_before(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let before = walk.text.as_bytes().get(walk.kept..at)?;
    let between = before.iter().rev().take(MOST_BETWEEN);
    let between =
        between.take_while(|byte| is_blank(**byte) || is_quote(**byte) || matches!(byte, b'\\' | b']')).count();
    let end = at - between;
    let name = before.get(..before.len() - between)?.iter().rev().take(LONGEST_NAME);
    let mut start = end - name.take_while(|byte| is_name_byte(**byte)).count();
    while !walk.text.is_char_boundary(start) {
        start += 1;
    }
    (start < end).then_some((start, end))
}

fn kind_for(walk: &TextWalk<'_>, name: &str) -> NameKind {
    if walk.for_approver { approver_name_kind(name) } else { name_kind(name) }
}

/// Of `API key: X` both words say what X is.
fn kind_in_text(walk: &TextWalk<'_>, name: &str, start: usize) -> NameKind {
    let kind = kind_for(walk, name);
    if !name.eq_ignore_ascii_case("key") {
        return kind;
    }
    let before = walk.text.as_bytes().get(walk.kept..start).unwrap_or_default();
    let Some((b' ', words)) = before.split_last() else { return kind };
    let length = words.iter().rev().take(16).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let two = walk.text.get(start - 1 - length..start + name.len()).map_or(NameKind::Plain, name_kind);
    if two == NameKind::Plain { kind } else { two }
}

fn is_header(name: &str) -> bool {
    let ends = |word: &str| {
        name.len()
            .checked_sub(word.len())
            .and_then(|at| name.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    ends("cookie") || ends("authorization")
}

/// The quote that closes: behind as many backslashes as the one that opened, or the end of the text.
pub(super) fn quoted_end(bytes: &[u8], from: usize, quote: u8, opened: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let mut slashes = 0_usize;
    for (index, byte) in rest.iter().enumerate() {
        if *byte == b'\\' {
            slashes += 1;
            continue;
        }
        if *byte == quote && closes(slashes, opened) {
            return from + index - slashes;
        }
        slashes = 0;
    }
    bytes.len()
}

/// Whether a quote behind so many backslashes closes what one behind `opened` opened.
fn closes(slashes: usize, opened: usize) -> bool {
    slashes <= opened || (opened == 0 && slashes.is_multiple_of(2))
}

/// The bracket that closes, or the end of the text.
fn nested_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let (mut depth, mut slashes) = (0_usize, 0_usize);
    // the backslashes before the quote that opened the string, if this is within one
    let mut opened: Option<usize> = None;
    for (index, byte) in rest.iter().enumerate() {
        let before = slashes;
        slashes = if *byte == b'\\' { slashes + 1 } else { 0 };
        match byte {
            b'"' => match opened {
                None => opened = Some(before),
                Some(opening) if closes(before, opening) => opened = None,
                Some(_) => {}
            },
            b'{' | b'[' if opened.is_none() => depth += 1,
            b'}' | b']' if opened.is_none() => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + index + 1;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// A block of YAML: the lines that follow and are indented.
fn block_end(bytes: &[u8], start: usize) -> usize {
    let mut end = line_end(bytes, start, None);
    while bytes.get(end) == Some(&b'\n') && bytes.get(end + 1).is_some_and(|byte| is_blank(*byte)) {
        end = line_end(bytes, end + 1, None);
    }
    end
}

fn line_end(bytes: &[u8], start: usize, quote: Option<u8>) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r') || Some(*byte) == quote);
    start + end.unwrap_or(rest.len())
}

/// The end of a value without quotes.
fn bare_end(bytes: &[u8], start: usize, kind: NameKind, notation: Notation) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let ends = |(index, byte): (usize, &u8)| match byte {
        b'=' | b':' => !kind.is_certain(),
        b'&' | b';' | b',' | b'<' | b'>' => true,
        b'\\' => rest.get(index + 1).is_some_and(|next| is_quote(*next)),
        b'%' => notation == Notation::Percent && rest.get(index + 1..index + 3) == Some(b"26"),
        0x80.. => notation == Notation::Wide,
        byte => byte.is_ascii_whitespace() || is_quote(*byte),
    };
    start + rest.iter().enumerate().position(ends).unwrap_or(rest.len())
}

pub(super) fn blanks(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take(MOST_BETWEEN).take_while(|byte| is_blank(**byte)).count()
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Letters of other scripts are part of a name, and so is what a form or a file of settings joins names with.
fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%') || byte >= 0x80
}

fn is_option_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
