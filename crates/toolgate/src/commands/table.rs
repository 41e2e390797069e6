//! Lists for people: a header, and columns as wide as what stands in them, as far as the terminal goes.

use super::books::line;
use crate::terminal;

/// Characters that a column keeps when the terminal is too narrow for the table.
const NARROWEST_COLUMN: usize = 8;

/// Rows under a header. Text of others stays on its line.
pub fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let rows = rows.into_iter().map(|row| row.map(|cell| if cell.is_empty() { "-".to_owned() } else { line(cell) }));
    laid_out(&header.map(str::to_owned), &rows.map(Vec::from).collect::<Vec<_>>(), terminal::width())
}

/// The same with any number of columns, at most `width` characters wide. The first column is never cut: it holds the name or the
/// id that other commands take.
pub fn laid_out(header: &[String], rows: &[Vec<String>], width: Option<usize>) -> String {
    let columns = 0..header.len();
    let lines: Vec<&[String]> = std::iter::once(header).chain(rows.iter().map(Vec::as_slice)).collect();
    let widest = |column: usize| lines.iter().filter_map(|cells| cells.get(column)).map(|cell| length(cell)).max();
    let wanted: Vec<usize> = columns.map(|column| widest(column).unwrap_or_default()).collect();
    let widths = match width {
        Some(width) => shrunk(&wanted, header, width),
        None => wanted,
    };
    let mut text = String::new();
    for cells in lines {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{:<width$}", cut(cell, *width)));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// The widths with the widest columns narrowed to the same, as far as that is needed and their headers allow.
fn shrunk(wanted: &[usize], header: &[String], width: usize) -> Vec<usize> {
    let room = width.saturating_sub(2 * wanted.len().saturating_sub(1));
    let narrowed = |most: usize, keeps_headers: bool| -> Vec<usize> {
        let widths = wanted.iter().zip(header).enumerate().map(|(column, (wanted, header))| {
            let least = if keeps_headers { length(header).max(NARROWEST_COLUMN) } else { NARROWEST_COLUMN };
            if column == 0 { *wanted } else { (*wanted).min(most.max(least)) }
        });
        widths.collect()
    };
    let sum = |widths: Vec<usize>| widths.iter().sum::<usize>();
    let (mut low, mut high) = (0, wanted.iter().copied().max().unwrap_or_default());
    if sum(narrowed(high, true)) <= room {
        return wanted.to_vec();
    }
    // headers are cut only where nothing else helps
    let keeps_headers = sum(narrowed(0, true)) <= room;
    let fits = |most: usize| sum(narrowed(most, keeps_headers)) <= room;
    // the largest bound that fits, or the smallest there is
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    narrowed(low, keeps_headers)
}

/// The text, its end replaced by `…` where it is longer.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_below_each_other_whatever_stands_in_them() {
        let rows = [["a", "long name"], ["tüv\u{1b}", ""]].map(|row| row.map(str::to_owned));
        let text = table(["ID", "NAME"], rows);
        let places: Vec<usize> = text.lines().map(|line| line.chars().position(|c| c == ' ').unwrap()).collect();
        assert_eq!(places.len(), 3);
        let second = |line: &str| {
            line.split_once("  ")
                .map(|(first, rest)| first.chars().count() + rest.chars().take_while(|c| *c == ' ').count())
        };
        let starts: std::collections::BTreeSet<_> = text.lines().map(second).collect();
        assert_eq!(starts.len(), 1, "{text}");
        assert!(!text.contains('\u{1b}') && text.ends_with("-\n"), "{text}");
    }

    #[test]
    fn a_table_fits_the_terminal_and_keeps_its_first_column_whole() {
        let header = ["ID", "STATE", "TEXT"].map(str::to_owned);
        let row = ["rcpt_0123456789abcdef".to_owned(), "done".to_owned(), "word ".repeat(40)];
        let rows = [row.to_vec(), row.to_vec()];
        for width in [40, 60, 80, 200] {
            let text = laid_out(&header, &rows, Some(width));
            assert!(text.lines().all(|line| length(line) <= width), "{width}: {text}");
            assert_eq!(text.matches("rcpt_0123456789abcdef  done ").count(), 2, "{text}");
            assert!(text.lines().skip(1).all(|line| line.ends_with('…')), "{text}");
        }
        assert!(!laid_out(&header, &rows, None).contains('…'), "a file or a pipe gets all of it");
        assert!(!laid_out(&header, &rows, Some(300)).contains('…'));
    }

    #[test]
    fn a_terminal_too_narrow_for_any_table_keeps_readable_columns() {
        let header = ["ID", "ONE", "TWO"].map(str::to_owned);
        let text = laid_out(&header, &[vec!["x".repeat(30), "y".repeat(30), "z".repeat(30)]], Some(20));
        assert!(text.contains("yyyyyyy…  zzzzzzz…"), "{text}");
    }
}
