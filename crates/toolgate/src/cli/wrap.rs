//! Text in lines of a certain width.

/// The text in lines of at most `width` characters; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let needed = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && needed > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// A name and, from `column` on, its text; further lines begin at the same column.
pub fn hanging(name: &str, column: usize, text: &str, width: usize) -> String {
    let mut out = String::new();
    for (index, line) in wrapped(text, width.saturating_sub(column).max(20)).iter().enumerate() {
        let before = if index == 0 { name } else { "" };
        out.push_str(format!("{before:<column$}{line}").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 4), ["incomprehensible"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn further_lines_begin_below_the_first() {
        let text = hanging("  name", 8, "twenty characters at least in a line", 28);
        assert_eq!(text, "  name  twenty characters at\n        least in a line\n");
    }
}
