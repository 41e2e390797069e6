//! Text of others for a terminal or a log: characters that steer it, or that hide text or turn it around, are shown as codes.

use crate::pin::{Unseen, unseen};

/// The text with every invisible or direction-changing character as `\u{…}`. Line ends and tabs stay.
pub fn terminal_escape(text: &str) -> String {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// The same on one line: line ends and tabs are `\n` and `\t`.
pub fn line_escape(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if keeps(c) || !is_hidden(c) => shown.push(c),
            '\n' | '\t' => shown.extend(c.escape_default()),
            c => shown.extend(c.escape_unicode()),
        }
    }
    shown
}

/// Blanks that are seen as blanks stay, and so do accents.
fn is_hidden(c: char) -> bool {
    match unseen(c) {
        None | Some(Unseen::Combining) => false,
        Some(Unseen::Space) => c == '\u{2800}',
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_or_hides_is_shown() {
        assert_eq!(terminal_escape("a\tb\né日本\u{3000}e\u{301}"), "a\tb\né日本\u{3000}e\u{301}");
        assert_eq!(terminal_escape("\u{1b}[2J\u{202e}x\r"), "\\u{1b}[2J\\u{202e}x\\u{d}");
        assert_eq!(line_escape("a\nb\tc"), "a\\nb\\tc");
        for hidden in [
            '\u{61c}',
            '\u{e0041}',
            '\u{3164}',
            '\u{115f}',
            '\u{fe0f}',
            '\u{e0100}',
            '\u{200b}',
            '\u{2066}',
            '\u{2028}',
            '\u{ad}',
            '\u{feff}',
            '\u{180e}',
            '\u{2800}',
            '\u{9b}',
            '\u{fffe}',
            '\u{e000}',
        ] {
            assert_eq!(terminal_escape(&format!("a{hidden}b")), format!("a{}b", hidden.escape_unicode()));
        }
    }
}
