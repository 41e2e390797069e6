//! Texts as passages and terms: what is stored to be found, and what is asked for.
//!
//! Terms are the same on every database: words of letters and digits without regard to case, and for writing without
//! spaces each character and each pair of neighbours.

use toolgate_store::Passage;

use super::names::folded;

/// Characters of a passage, about.
const PASSAGE: usize = 1_000;
/// A document with more is found by its beginning.
const PASSAGES: usize = 2_000;
const LONGEST_TERM: usize = 64;
/// Words of a question that count.
const ASKED: usize = 32;

/// Words that every text has and no question is about. One of the two engines would rank by them.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "in", "is", "it", "its", "of",
    "on", "or", "that", "the", "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "with",
    "you",
];

/// The passages of a text: whole paragraphs where they fit, whole words otherwise.
pub(super) fn passages(name: &str, text: &str) -> Vec<Passage> {
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for line in text.lines() {
        for part in parts(line) {
            let more = part.chars().count();
            if length + more > PASSAGE && !piece.trim().is_empty() {
                pieces.push(std::mem::take(&mut piece));
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

/// What a text is found by.
pub(super) fn stored(text: &str) -> Vec<String> {
    terms(text, |run, terms| {
        let mut run = run.iter().peekable();
        while let Some(one) = run.next() {
            terms.push(one.to_string());
            if let Some(next) = run.peek() {
                terms.push(format!("{one}{next}"));
            }
        }
    })
}

/// What a question asks for, each once. A question of common words alone asks for those.
pub(super) fn asked(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let all = terms(text, |run, terms| match run {
        [one] => terms.push(one.to_string()),
        run => terms.extend(run.windows(2).map(|pair| pair.iter().collect())),
    });
    let telling = |term: &String| !COMMON.contains(&term.as_str());
    let only_telling = all.iter().any(telling);
    for term in all.into_iter().filter(|term| !only_telling || telling(term)) {
        if !found.contains(&term) && found.len() < ASKED {
            found.push(term);
        }
    }
    found
}

fn terms(text: &str, unspaced: impl Fn(&[char], &mut Vec<String>)) -> Vec<String> {
    let text = folded(text);
    let mut terms = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters: Vec<char> = word.chars().collect();
        for run in letters.chunk_by(|one, next| is_unspaced(*one) == is_unspaced(*next)) {
            if run.first().is_some_and(|c| is_unspaced(*c)) {
                unspaced(run, &mut terms);
            } else {
                terms.push(run.iter().take(LONGEST_TERM).collect());
            }
        }
    }
    terms
}

/// Written without spaces between words: Japanese and Chinese.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_words_without_case_and_pairs_where_there_are_no_spaces() {
        assert_eq!(stored("Don't PANIC, Ａ1!"), ["don", "t", "panic", "a1"]);
        assert_eq!(stored("水道料X"), ["水", "水道", "道", "道料", "料", "x"]);
        assert_eq!(asked("水道料 x X"), ["水道", "道料", "x"]);
        assert_eq!(asked("水"), ["水"]);
        assert_eq!(asked("What is the notice period?"), ["notice", "period"]);
        assert_eq!(asked("the who"), ["the", "who"]);
        assert_eq!(asked(" \"*' "), [""; 0]);
    }

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
}
