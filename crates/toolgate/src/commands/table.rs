//! Lists for people: a header, and columns as wide as what stands in them.

use super::books::line;

/// Rows under a header. Text of others stays on its line; the last column is as long as it is.
pub fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(rows.into_iter().map(|row| row.map(|cell| if cell.is_empty() { "-".to_owned() } else { line(cell) })));
    let mut widths = [0; N];
    for cells in &lines {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for cells in &lines {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        text.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
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
}
