//! Summaries made of a text's own sentences: how it begins, what it lists, which places in files it names. The same text
//! has the same summary, always.

/// Characters, which is about five hundred tokens.
const MOST: usize = 2_000;
const SENTENCES: usize = 3;
const FINDINGS: usize = 12;
const LONGEST_FINDING: usize = 200;
const REFERENCES: usize = 20;

/// `None` of a text that says nothing.
pub(super) fn of(text: &str) -> Option<String> {
    let lines = prose(text);
    let opening: Vec<&str> = lines.iter().filter(|line| !line.is_finding).map(|line| line.text).collect();
    let mut parts = Vec::new();
    let lead = lead(&opening);
    if !lead.is_empty() {
        parts.push(lead);
    }
    let findings: Vec<String> = lines.iter().filter(|line| line.is_finding).take(FINDINGS).map(finding).collect();
    if !findings.is_empty() {
        parts.push(findings.join("\n"));
    }
    let references = references(text);
    if !references.is_empty() {
        parts.push(format!("References: {}", references.join(", ")));
    }
    let summary: String = parts.join("\n\n").chars().take(MOST).collect();
    Some(summary).filter(|summary| !summary.is_empty())
}

struct Line<'t> {
    text: &'t str,
    is_finding: bool,
}

/// Lines that are neither headings nor code, without what marks them as findings.
fn prose(text: &str) -> Vec<Line<'_>> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || line.is_empty() || line.starts_with('#') || line.chars().all(|c| !c.is_alphanumeric()) {
            continue;
        }
        let found = marked(line);
        lines.push(Line { text: found.unwrap_or(line), is_finding: found.is_some() });
    }
    lines
}

/// What follows `-`, `*`, `+`, `•`, `1.` or `1)`.
fn marked(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
        line.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
    };
    bullet.or_else(numbered).map(str::trim).filter(|rest| !rest.is_empty())
}

/// The first sentences.
fn lead(lines: &[&str]) -> String {
    let text = lines.join(" ");
    let mut ends = text.char_indices().filter(|(at, c)| {
        let after = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => after.is_none_or(char::is_whitespace),
            _ => false,
        }
    });
    let end = ends.nth(SENTENCES - 1).map_or(text.len(), |(at, c)| at + c.len_utf8());
    text.get(..end).unwrap_or(&text).chars().take(MOST / 2).collect()
}

fn finding(line: &Line<'_>) -> String {
    let cut: String = line.text.chars().take(LONGEST_FINDING).collect();
    format!("- {cut}")
}

/// Places like `src/main.rs:42`, each once, in the order of the text.
fn references(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let outside = |c: char| c.is_whitespace() || "()[]{}<>`'\",;".contains(c);
    for word in text.split(outside) {
        let word = word.trim_end_matches(['.', ':']);
        if is_reference(word) && !found.contains(&word) && found.len() < REFERENCES {
            found.push(word);
        }
    }
    found
}

fn is_reference(word: &str) -> bool {
    let Some((path, place)) = word.split_once(':') else { return false };
    let is_name = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let is_number =
        |number: &str| !number.is_empty() && number.len() <= 7 && number.chars().all(|c| c.is_ascii_digit());
    let file = path.rsplit('/').next().unwrap_or(path);
    let has_extension = file.split_once('.').is_some_and(|(_, end)| end.starts_with(|c: char| c.is_alphabetic()));
    word.len() <= 200
        && path.chars().all(is_name)
        && (has_extension || path.contains('/'))
        && place.splitn(2, [':', '-']).all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_the_beginning_the_findings_and_the_places() {
        let text = "# Review\n\nThe parser is sound. It is slow! Is it v1.2? Nobody asked.\n\n```\nlet x = 1.\n- no\n```\n\
            - `scan` allocates, see src/scan.rs:42\n2. tests are missing (tests/a.rs:7:3).\n\nSee src/scan.rs:42 and http://x:80/.";
        assert_eq!(
            of(text).unwrap(),
            "The parser is sound. It is slow! Is it v1.2?\n\n- `scan` allocates, see src/scan.rs:42\n\
             - tests are missing (tests/a.rs:7:3).\n\nReferences: src/scan.rs:42, tests/a.rs:7:3"
        );
    }

    #[test]
    fn it_stays_short_and_whole_whatever_the_text() {
        for text in ["word ".repeat(10_000), "水。".repeat(5_000), "- 水\n".repeat(900), "x".repeat(9_000)] {
            let summary = of(&text).unwrap();
            assert!(summary.chars().count() <= MOST);
            assert_eq!(of(&text), Some(summary));
        }
        for nothing in ["", " \n\t", "```\ncode\n```", "# Title", "---"] {
            assert_eq!(of(nothing), None, "{nothing:?}");
        }
        assert_eq!(of("完了しました。次は？終わり。まだ。").unwrap(), "完了しました。次は？終わり。");
    }
}
