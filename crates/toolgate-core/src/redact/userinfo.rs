//! A user's name and password as one value of a command's option: `curl -u ann:X`, `--user ann:X`, `["--user", "ann:X"]`.

use std::ops::Range;

use super::{text::TextWalk, token_run::token_run_end};

/// Options that take `USER:PASSWORD`.
const LONG: [&str; 3] = ["user", "proxy-user", "userpwd"];
/// Options of one letter that may stand before `u` behind the same dash.
const FLAGS: &[u8] = b"sSfLkviIgGN0146";
const MOST_FLAGS: usize = 8;
/// Most blanks and quotes between the option and its value.
const MOST_BETWEEN: usize = 16;
const LONGEST_USER: usize = 128;
/// Longest password that is looked for in quotes or without a blank before it.
const LONGEST_PASSWORD: usize = 600;

/// Returns true if an item of a list is such an option.
pub(super) fn is_option(item: &str) -> bool {
    option_end(item.as_bytes(), 0) == Some(item.len())
}

/// `-u USER:PASSWORD`, at the first dash: the range of the password.
pub(super) fn option(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let bytes = walk.text.as_bytes();
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return None;
    }
    let Some(end) = option_end(bytes, at) else { return attached(walk, at) };
    let between = bytes.get(end..)?.iter().take(MOST_BETWEEN);
    let between =
        between.take_while(|byte| matches!(byte, b' ' | b'\t' | b',' | b'\\' | b'=') || is_quote(**byte)).count();
    if between == 0 {
        return attached(walk, at);
    }
    let start = end + between;
    let from = start + user_end(bytes.get(start..)?)?;
    let quote = bytes.get(end..start)?.iter().rev().find(|byte| is_quote(**byte));
    let to = password_end(walk.text, walk.for_approver, from, quote.copied());
    (to > from).then_some((from, to))
}

/// `-uUSER:PASSWORD`, where the password has letters and digits: other options of one dash look the same.
fn attached(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let bytes = walk.text.as_bytes();
    let quote = match bytes.get(at..at + 3)? {
        [b'-', b'u', quote] if is_quote(*quote) => Some(*quote),
        [b'-', b'u', _] => None,
        _ => return None,
    };
    let start = at + 2 + usize::from(quote.is_some());
    let from = start + user_end(bytes.get(start..)?)?;
    let within = walk.text.get(..walk.text.floor_char_boundary(from + LONGEST_PASSWORD))?;
    let to = password_end(within, walk.for_approver, from, quote);
    let password = bytes.get(from..to)?;
    let holds = |of: fn(&u8) -> bool| password.iter().any(of);
    let is_random = password.len() >= 6 && holds(u8::is_ascii_digit) && holds(u8::is_ascii_alphabetic);
    (to > from && (quote.is_some() || is_random)).then_some((from, to))
}

/// The range of the password in the value of such an option.
pub(super) fn password(value: &str) -> Option<Range<usize>> {
    let from = user_end(value.as_bytes())?;
    (from < value.len()).then_some(from..value.len())
}

/// The end of the option that begins with the dash here.
fn option_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"-")?;
    if let Some(name) = rest.strip_prefix(b"-") {
        let length = name.iter().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
        let name = name.get(..length)?;
        return LONG.iter().any(|long| long.as_bytes().eq_ignore_ascii_case(name)).then_some(at + 2 + length);
    }
    let flags = rest.iter().take(MOST_FLAGS).take_while(|byte| FLAGS.contains(byte)).count();
    matches!(rest.get(flags)?, b'u' | b'U').then_some(at + 1 + flags + 1)
}

/// The place behind the colon of `USER:PASSWORD`; `None` where the two are a user's and a group's number, a path or an address.
fn user_end(value: &[u8]) -> Option<usize> {
    let is_user = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'@' | b'+' | b'%') || byte >= 0x80
    };
    let user = value.iter().take(LONGEST_USER).take_while(|byte| is_user(**byte)).count();
    let password = value.get(user..)?.strip_prefix(b":")?;
    let digits = password.iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let are_numbers = value.get(..user)?.iter().all(u8::is_ascii_digit)
        && digits > 0
        && password.get(digits).is_none_or(|byte| !byte.is_ascii_graphic() || is_quote(*byte));
    let is_path = matches!(password.first(), Some(b'/' | b'\\' | b'~' | b'.' | b':'));
    let is_redacted = password.starts_with(b"[redacted");
    (!are_numbers && !is_path && !is_redacted).then_some(user + 1)
}

/// The end of a password: the quote before the user's name, a blank, or what ends a word of a shell.
fn password_end(text: &str, for_approver: bool, from: usize, quote: Option<u8>) -> usize {
    let bytes = text.as_bytes();
    if for_approver {
        return token_run_end(bytes, from);
    }
    let rest = bytes.get(from..).unwrap_or_default();
    let closing = quote.and_then(|quote| rest.iter().take(LONGEST_PASSWORD).position(|byte| *byte == quote));
    if let Some(closing) = closing {
        let slashes = rest.iter().take(closing).rev().take_while(|byte| **byte == b'\\').count();
        return from + closing - slashes;
    }
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || is_quote(*byte) || matches!(byte, b';' | b'&' | b'|' | b'<' | b'>' | b')')
    };
    from + rest.iter().position(ends).unwrap_or(rest.len())
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}
