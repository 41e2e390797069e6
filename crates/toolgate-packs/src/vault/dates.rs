//! Days as people write them in names and texts.

/// A date found in a text, and the text that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// As `2026-03-14`.
    pub(super) date: String,
    pub(super) words: String,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The first date in a text: `2026-03-14`, `2026_03_14`, `2026/3/14`, `20260314`, `14.03.2026`, `14 March 2026`,
/// `March 14, 2026`. Of `03/04/2026` nobody knows which is the month, so it is none.
pub(super) fn first(text: &str) -> Option<Found> {
    let pieces = pieces(text);
    (0..pieces.len()).find_map(|at| {
        let piece = |ahead: usize| pieces.get(at + ahead);
        let read = compact(piece(0)?)
            .map(|date| (date, 0))
            .or_else(|| three(piece(0)?, piece(1)?, piece(2)?).map(|date| (date, 2)))?;
        let (date, ahead) = read;
        let words = text.get(piece(0)?.start..piece(ahead)?.end)?;
        Some(Found { date, words: words.to_owned() })
    })
}

/// A run of digits or of letters, and what stands between it and the next.
struct Piece<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    after: &'a str,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let sort = |c: char| if c.is_ascii_digit() { 1 } else { i32::from(c.is_alphabetic()) * 2 };
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    for (at, c) in text.char_indices() {
        let (sort, end) = (sort(c), at + c.len_utf8());
        match runs.last_mut() {
            Some(run) if sort != 0 && sort == last => run.1 = end,
            _ if sort != 0 => runs.push((at, end)),
            _ => {}
        }
        last = sort;
    }
    let next = |index: usize| runs.get(index + 1).map_or(text.len(), |run| run.0);
    let piece = |(index, (start, end)): (usize, &(usize, usize))| {
        Some(Piece { text: text.get(*start..*end)?, start: *start, end: *end, after: text.get(*end..next(index))? })
    };
    runs.iter().enumerate().filter_map(piece).collect()
}

fn compact(piece: &Piece<'_>) -> Option<String> {
    if piece.text.len() != 8 {
        return None;
    }
    date(piece.text.get(..4)?, number(piece.text.get(4..6)?)?, piece.text.get(6..)?)
}

fn three(one: &Piece<'_>, two: &Piece<'_>, three: &Piece<'_>) -> Option<String> {
    let close = |piece: &Piece<'_>| piece.after.chars().count() <= 2;
    if !close(one) || !close(two) {
        return None;
    }
    if one.text.len() == 4 && one.after == two.after && ["-", "/", ".", "_", " "].contains(&one.after) {
        return date(one.text, number(two.text)?, three.text);
    }
    if three.text.len() != 4 {
        return None;
    }
    if let Some(month) = month(two.text) {
        return date(three.text, month, one.text.trim_end_matches(char::is_alphabetic));
    }
    if let Some(month) = month(one.text) {
        return date(three.text, month, two.text);
    }
    if one.after == "." && two.after == "." {
        return date(three.text, number(two.text)?, one.text);
    }
    None
}

fn month(word: &str) -> Option<u32> {
    let start: String = word.chars().take(3).flat_map(char::to_lowercase).collect();
    (1..).zip(MONTHS).find(|(_, name)| word.len() >= 3 && *name == start).map(|(number, _)| number)
}

fn number(digits: &str) -> Option<u32> {
    Some(digits).filter(|digits| digits.len() <= 2).and_then(|digits| digits.parse().ok())
}

fn date(year: &str, month: u32, day: &str) -> Option<String> {
    let year: u32 = year.parse().ok().filter(|year| (1900..=2199).contains(year))?;
    let day = number(day)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found_as_people_write_them() {
        for text in [
            "2026-03-14",
            "report 2026/3/14 final",
            "scan_20260314_0001",
            "14.03.2026",
            "on 14 March 2026,",
            "March 14, 2026",
            "Mar 14 2026",
            "x_2026_03_14_y",
        ] {
            assert_eq!(first(text).map(|found| found.date).as_deref(), Some("2026-03-14"), "{text}");
        }
        for text in ["", "2026-13-01", "2026-02-30", "03/04/2026", "12345678", "1.2.3", "99999999", "2026"] {
            assert_eq!(first(text), None, "{text}");
        }
        assert_eq!(first("a 14 March 2026 b").unwrap().words, "14 March 2026");
    }
}
