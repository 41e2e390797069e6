//! A unified diff of two texts that differ in one stretch.

const AROUND: usize = 3;

/// From the first line that differs to the last, with three lines around. `None`: the file is gone.
pub fn unified(name: &str, before: &str, after: Option<&str>) -> String {
    let new_name = if after.is_some() { name } else { "/dev/null" };
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.unwrap_or("").split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    if head == old_end && head == new_end {
        return String::new();
    }
    let from = head.saturating_sub(AROUND);
    let below = tail.min(AROUND);
    let mut text = format!(
        "--- {}\n+++ {new_name}\n@@ -{} +{} @@\n",
        if before.is_empty() { "/dev/null" } else { name },
        range(from, old_end + below - from),
        range(from, new_end + below - from),
    );
    let mut lines = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            text.push(sign);
            text.push_str(line.trim_end_matches(['\n', '\r']));
            text.push('\n');
            if !line.ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    };
    lines(' ', old.get(from..head));
    lines('-', old.get(head..old_end));
    lines('+', new.get(head..new_end));
    lines(' ', old.get(old_end..old_end + below));
    text
}

fn range(from: usize, count: usize) -> String {
    format!("{},{count}", if count == 0 { from } else { from + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stretch_with_three_lines_around() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = before.replace("5\n", "five\nand more\n");
        assert_eq!(
            unified("f", before, Some(&after)),
            "--- f\n+++ f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and more\n 6\n 7\n 8\n"
        );
        assert_eq!(unified("f", before, Some(before)), "");
        assert_eq!(
            unified("f", "", Some("a")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", "a\na\n", Some("a\n")), "--- f\n+++ f\n@@ -1,2 +1,1 @@\n a\n-a\n");
    }
}
