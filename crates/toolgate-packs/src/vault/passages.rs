//! Texts as passages, each with the terms it is found by.

use toolgate_store::Passage;

use crate::terms::stored;

/// Characters of a passage, about.
const PASSAGE: usize = 1_000;
/// A document with more is found by its beginning.
const PASSAGES: usize = 2_000;

/// The passages of a text: whole paragraphs where they fit, whole words otherwise.
pub(super) fn passages(name: &str, text: &str) -> Vec<Passage> {
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for line in text.lines() {
        for part in parts(line) {
            let more = part.chars().count();
            if length + more > PASSAGE {
                // blank lines alone are no passage, and are not looked at again
                let full = std::mem::take(&mut piece);
                pieces.extend(Some(full).filter(|full| !full.trim().is_empty()));
                length = 0;
            }
            piece.push_str(part);
            length += more;
        }
        piece.push('\n');
        length += 1;
        if pieces.len() >= PASSAGES {
            break;
        }
    }
    pieces.push(piece);
    let passage = |(place, text): (usize, String)| {
        let text = text.trim().to_owned();
        // a document is found by its name too, at its beginning
        let mut terms = if place == 0 { stored(name) } else { Vec::new() };
        terms.extend(stored(&text));
        Passage { text, terms }
    };
    let pieces = pieces.into_iter().filter(|piece| !piece.trim().is_empty());
    pieces.take(PASSAGES).enumerate().map(passage).collect()
}

/// A line in parts of at most a passage, parted after white space where there is some.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    while let Some((end, _)) = rest.char_indices().nth(PASSAGE) {
        let (head, _) = rest.split_at(end);
        let at = head.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_parted_and_nothing_is_lost() {
        let text = format!("{}\n\n{}\n{}", "word ".repeat(500), "x".repeat(2500), "end");
        let passages = passages("name.txt", &text);
        assert!(passages.iter().all(|passage| passage.text.chars().count() <= PASSAGE + 1));
        let count = |c: char| passages.iter().map(|passage| passage.text.matches(c).count()).sum::<usize>();
        assert_eq!((count('w'), count('x')), (500, 2500));
        assert!(passages.last().unwrap().text.ends_with("end"));
        assert_eq!(super::passages("a.txt", " \n "), []);
    }

    #[test]
    fn blank_lines_without_end_are_read_once() {
        // with each line looked at anew for each further one this takes an hour
        let blank = format!("first\n{}last", "\n".repeat(20 << 20));
        let texts: Vec<String> = passages("a.txt", &blank).into_iter().map(|passage| passage.text).collect();
        assert_eq!(texts, ["first", "last"]);
    }
}
