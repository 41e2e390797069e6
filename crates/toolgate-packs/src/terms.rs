//! Texts as terms: what is stored to be found, and what is asked for.
//!
//! Terms are the same on every database: words of letters and digits without regard to case, and for writing without
//! spaces each character and each pair of neighbours.

use unicode_normalization::UnicodeNormalization;

const LONGEST_TERM: usize = 64;
/// Words of a question that count.
const ASKED: usize = 32;

/// Words that every text has and no question is about. One of the two engines would rank by them.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "do", "does", "for", "from", "how", "in", "is", "it", "its", "of",
    "on", "or", "that", "the", "this", "to", "was", "we", "what", "when", "where", "which", "who", "why", "with",
    "you",
];

/// What a text is found by.
pub(crate) fn stored(text: &str) -> Vec<String> {
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
pub(crate) fn asked(text: &str) -> Vec<String> {
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

/// For comparing without regard to case.
pub(crate) fn folded(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
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
}
