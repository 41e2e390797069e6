//! A name for a document, from what is known of it: a date, a title, what it is. The same question has the same answer.

use serde::Deserialize;
use serde_json::json;

use super::{
    dates,
    failure::Failure,
    live::Live,
    names,
    reading::{Answer, meant},
};
use crate::terms::folded;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Suggest {
    original_name: String,
    #[serde(default)]
    context: Context,
}

#[derive(Default, Deserialize)]
struct Context {
    #[serde(default)]
    hints: Vec<String>,
}

/// Words for what a document is, and what they are called in a name.
const SORTS: &[(&str, &str)] = &[
    ("invoice", "Invoice"),
    ("receipt", "Receipt"),
    ("contract", "Contract"),
    ("agreement", "Agreement"),
    ("minutes", "Minutes"),
    ("proposal", "Proposal"),
    ("quotation", "Quotation"),
    ("report", "Report"),
    ("letter", "Letter"),
    ("resume", "Resume"),
    ("policy", "Policy"),
    ("statement", "Statement"),
    ("請求書", "請求書"),
    ("領収書", "領収書"),
    ("契約書", "契約書"),
    ("議事録", "議事録"),
    ("見積書", "見積書"),
    ("報告書", "報告書"),
];

/// Words in a name that say nothing.
const EMPTY: &[&str] = &[
    "copy", "final", "draft", "new", "untitled", "document", "doc", "scan", "img", "image", "file", "download", "v1",
    "v2", "v3", "v4", "v5", "of",
];

/// Characters of a title.
const LONGEST: usize = 80;
/// How far into a text its date and title are looked for.
const BEGINNING: usize = 2_000;

pub(super) async fn suggest(vault: &Live, Suggest { original_name, context }: Suggest) -> Result<Answer, Failure> {
    if original_name.trim().is_empty() || original_name.chars().any(char::is_control) {
        return Err(Failure::invalid("The original name is empty or holds control characters."));
    }
    let tree = vault.look().await?;
    let text = match meant(&tree, &original_name, &context.hints) {
        Some(node) => vault.text(node).await.map(|text| text.text).unwrap_or_default(),
        None => String::new(),
    };
    let hints: Vec<String> = context.hints.into_iter().filter(|hint| tree.get(hint).is_none()).collect();
    let (suggested, rationale) = name(&original_name, &hints, &text);
    Answer::of(&json!({"suggestedName": suggested, "rationale": rationale}))
}

/// The name and why it is that.
fn name(original: &str, hints: &[String], text: &str) -> (String, String) {
    let (stem, extension) = names::parts(original);
    let beginning: String = text.chars().take(BEGINNING).collect();
    let mut reasons = Vec::new();

    let hinted = hints.iter().find_map(|hint| dates::first(hint)).map(|found| (found, "a hint"));
    let named = || dates::first(stem).map(|found| (found, "the old name"));
    let written = || dates::first(&beginning).map(|found| (found, "the text"));
    let date = hinted.or_else(named).or_else(written);
    if let Some((found, from)) = &date {
        reasons.push(format!("date {} from {from}", found.date));
    }

    let of_hints = || hints.iter().map(|hint| title(hint)).find(|hint| !hint.is_empty()).map(|title| (title, "a hint"));
    let of_text = || headline(&beginning).map(|title| (title, "the text"));
    let of_name = || Some((title(stem), "the old name")).filter(|(title, _)| !title.is_empty());
    let title = of_hints().or_else(of_text).or_else(of_name);
    if let Some((title, from)) = &title {
        reasons.push(format!("title '{title}' from {from}"));
    }

    let title = title.map(|(title, _)| title);
    let sort = sort(hints, &title, stem, &beginning);
    if let Some(sort) = sort {
        reasons.push(format!("it is called '{sort}'"));
    }
    let words = [date.map(|(found, _)| found.date), title, sort.map(str::to_owned)];
    let words: Vec<String> = words.into_iter().flatten().collect();
    let room = 255_usize.saturating_sub(extension.len());
    let joined = words.join(" ");
    let joined = joined.get(..joined.floor_char_boundary(room)).unwrap_or_default().trim();
    if joined.is_empty() {
        return (names::usable(original), "Nothing better is known: give a title or a date as a hint.".to_owned());
    }
    let suggested = names::usable(&format!("{joined}{extension}"));
    if suggested == original {
        return (suggested, "The name says it already.".to_owned());
    }
    (suggested, format!("Built from: {}.", reasons.join("; ")))
}

/// What the document is, unless its title says so.
fn sort(hints: &[String], title: &Option<String>, stem: &str, text: &str) -> Option<&'static str> {
    let titled = folded(title.as_deref().unwrap_or_default());
    if SORTS.iter().any(|(word, _)| says(&titled, word)) {
        return None;
    }
    let places = [hints.join("\n"), stem.replace(['_', '-'], " "), text.to_owned()];
    places.iter().map(|place| folded(place)).find_map(|place| {
        // the one that is said first
        let at = |(word, name): &(&str, &'static str)| Some((place.find(word).filter(|_| says(&place, word))?, *name));
        SORTS.iter().filter_map(at).min().map(|(_, name)| name)
    })
}

/// As a word of its own, where words stand apart.
fn says(text: &str, word: &str) -> bool {
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word || found.strip_suffix('s') == Some(word))
}

/// The first line that could be a headline.
fn headline(text: &str) -> Option<String> {
    let lines = text.lines().map(|line| line.trim_start_matches(['#', '*', '=', '-', '>', ' ', '\t']).trim());
    let mut titles = lines.filter(|line| line.chars().any(char::is_alphabetic)).map(title);
    titles.find(|title| title.chars().count() >= 3)
}

/// A text as a title: no date, no signs that names can't hold, no words that say nothing, not too long.
fn title(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let dateless = dates::first(first).map_or_else(|| first.to_owned(), |found| first.replace(&found.words, " "));
    let plain = |c: char| if c.is_alphanumeric() || "'&+.,".contains(c) { c } else { ' ' };
    let cleaned: String = dateless.chars().map(plain).collect();
    let empty = |word: &&str| {
        let word = folded(word.trim_matches(|c: char| !c.is_alphanumeric()));
        word.is_empty() || EMPTY.contains(&word.as_str())
    };
    let words: Vec<&str> = cleaned.split_whitespace().collect();
    // they say nothing at the beginning and at the end; in between they are part of a sentence
    let start = words.iter().position(|word| !empty(word)).unwrap_or(words.len());
    let end = words.iter().rposition(|word| !empty(word) && !is_counter(word)).map_or(start, |last| last + 1);
    let mut title = String::new();
    for word in words.get(start..end.max(start)).unwrap_or_default() {
        if title.chars().count() + word.chars().count() >= LONGEST {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    title.trim_matches(|c: char| "'&+.,".contains(c)).to_owned()
}

/// The number that a second download gets.
fn is_counter(word: &str) -> bool {
    word.len() <= 2 && word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(original: &str, hints: &[&str], text: &str) -> String {
        let hints: Vec<String> = hints.iter().map(|hint| (*hint).to_owned()).collect();
        name(original, &hints, text).0
    }

    #[test]
    fn a_name_is_made_of_date_title_and_what_it_is() {
        let text = "# Acme Ltd\n\nInvoice no. 4711\nDate: 14 March 2026\n";
        assert_eq!(suggested("scan_0001.pdf", &[], text), "2026-03-14 Acme Ltd Invoice.pdf");
        assert_eq!(suggested("scan.pdf", &["Acme March", "2026-03-14"], ""), "2026-03-14 Acme March.pdf");
        assert_eq!(suggested("Report_final_v2 (1).DOCX", &[], ""), "Report.DOCX");
        assert_eq!(suggested("20260314-board-minutes-copy.md", &[], ""), "2026-03-14 board minutes.md");
        assert_eq!(suggested("x.md", &["株式会社 議事録"], ""), "株式会社 議事録.md");
    }

    #[test]
    fn the_extension_stays_and_nothing_leads_elsewhere() {
        assert_eq!(suggested("a.tar.gz", &["../../etc/passwd"], ""), "etc passwd.gz");
        assert_eq!(suggested("noextension", &["A / B"], ""), "A B");
        let long = suggested("a.txt", &[&"word ".repeat(200)], "");
        assert!(long.len() <= 85 && long.ends_with(".txt"), "{long}");
    }

    #[test]
    fn nothing_known_is_the_old_name() {
        assert_eq!(suggested("untitled.txt", &[], ""), "untitled.txt");
        let again = suggested("2026-03-14 Acme Invoice.pdf", &[], "");
        assert_eq!(again, "2026-03-14 Acme Invoice.pdf");
    }
}
