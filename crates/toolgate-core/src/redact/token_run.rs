//! Runs of token characters: all that is hidden from an approver within text. They hold no blank, line break, quote, bracket
//! or operator, and so no command.

use super::names::NameKind;

/// The end of the run that begins here, or here if there is none.
pub(super) fn token_run_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !is_run_byte(*byte)).unwrap_or(rest.len())
}

/// Whether the whole text is one run.
pub(super) fn is_token_run(text: &str) -> bool {
    text.bytes().all(is_run_byte)
}

/// Returns true if a text somewhere below a secret's name looks like a secret: a run, and no word, option, path or address. What a
/// caller nests under such a name may be a command, of which an approver must see every part.
pub(super) fn looks_secret(text: &str) -> bool {
    let is_word =
        || text.len() < 24 && text.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b'.'));
    let is_path = || text.starts_with(['-', '/', '.', '~']) || text.contains("://");
    !text.is_empty() && is_token_run(text) && (NameKind::Key.covers(text) || !(is_word() || is_path()))
}

/// The end of a private key's lines, which follow its first. A line counts as one where it is a run of base64 with large
/// letters and digits: no name of a program.
pub(super) fn key_lines_end(bytes: &[u8], mut end: usize) -> usize {
    loop {
        let rest = bytes.get(end..).unwrap_or_default();
        let escaped = rest.starts_with(b"\\n");
        let blanks = if escaped { 2 } else { rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count() };
        let line = rest.get(blanks..).unwrap_or_default();
        let length = line.iter().take_while(|byte| is_base64(**byte)).count();
        let line = line.get(..length).unwrap_or_default();
        let holds = |of: fn(&u8) -> bool| line.iter().any(of);
        if !(holds(u8::is_ascii_uppercase) && holds(u8::is_ascii_digit)) {
            return end;
        }
        end += blanks + length;
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn is_run_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'@' | b'!' | b'%' | b':')
}
