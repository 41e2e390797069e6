//! The text of a web page: its title, then what a reader would see, with a line for each block.

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// Their content is for programs.
const SILENT: [&[u8]; 5] = [b"script", b"style", b"noscript", b"template", b"svg"];
/// Within a line.
const INLINE: [&[u8]; 14] =
    [b"a", b"b", b"i", b"em", b"strong", b"span", b"code", b"u", b"s", b"small", b"sub", b"sup", b"mark", b"abbr"];

/// Reads tags one after another and keeps no tree, so that nesting costs nothing.
pub(super) fn text(content: &[u8]) -> String {
    let page = super::plain::text(content);
    let mut emitter = DefaultEmitter::<()>::default();
    emitter.naively_switch_states(true);
    let mut text = String::new();
    let mut silent: Option<Vec<u8>> = None;
    for token in Tokenizer::new_with_emitter(&page, emitter).flatten() {
        match token {
            Token::StartTag(tag) if silent.is_none() => {
                if SILENT.contains(&tag.name.as_slice()) && !tag.self_closing {
                    silent = Some(tag.name.to_vec());
                } else {
                    part(&mut text, &tag.name);
                }
            }
            Token::EndTag(tag) => {
                if silent.as_deref() == Some(tag.name.as_slice()) {
                    silent = None;
                } else if silent.is_none() {
                    part(&mut text, &tag.name);
                }
            }
            Token::String(string) if silent.is_none() => words(&mut text, &String::from_utf8_lossy(&string)),
            _ => {}
        }
    }
    text.trim().to_owned()
}

fn part(text: &mut String, tag: &[u8]) {
    if INLINE.contains(&tag) {
        return;
    }
    let line = text.trim_end_matches(' ').len();
    text.truncate(line);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// White space in a page is one space.
fn words(text: &mut String, string: &str) {
    let parted = |text: &String| text.is_empty() || text.ends_with(['\n', ' ']);
    if string.starts_with(char::is_whitespace) && !parted(text) {
        text.push(' ');
    }
    let mut words = string.split_whitespace().peekable();
    while let Some(word) = words.next() {
        text.push_str(word);
        if words.peek().is_some() || string.ends_with(char::is_whitespace) {
            text.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees_is_the_text() {
        let page = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if (a<b) {}</script>\
            </head><body><h1>Head</h1><p>One <b>bold</b>\n word.</p><ul><li>x<li>y</ul><!-- no --></body>";
        assert_eq!(text(page.as_bytes()), "A & B\nHead\nOne bold word.\nx\ny");
    }

    #[test]
    fn nesting_without_end_and_tags_that_never_close_are_read() {
        let deep = format!("{}deep{}", "<div>".repeat(200_000), "</div>".repeat(10));
        assert_eq!(text(deep.as_bytes()), "deep");
        assert_eq!(text(b"a <p <q \"' < & &#xffffffff; b"), text(b"a <p <q \"' < & &#xffffffff; b"));
        assert_eq!(text(b"<script>never closed"), "");
    }
}
