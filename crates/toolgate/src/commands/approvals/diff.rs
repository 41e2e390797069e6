//! The lines that differ between what is and what would be.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};

/// The time for finding what differs. After it, the rest is one change.
const TIME: Duration = Duration::from_millis(500);

/// Lines that begin with `- ` (before), `+ ` (after) or two blanks (both). With `context`, only so many lines around a change,
/// and `…` between changes.
pub fn diff(before: &[String], after: &[String], context: Option<usize>) -> Vec<String> {
    let operations = capture_diff_slices_deadline(Algorithm::Myers, before, after, Some(Instant::now() + TIME));
    let groups = match context {
        Some(lines) => group_diff_ops(operations, lines),
        None => vec![operations],
    };
    let mut shown = Vec::new();
    for (number, group) in groups.into_iter().enumerate() {
        if number > 0 {
            shown.push("…".to_owned());
        }
        for operation in group {
            let (tag, old, new) = operation.as_tag_tuple();
            let (old, new) = (before.get(old).unwrap_or_default(), after.get(new).unwrap_or_default());
            if tag == DiffTag::Equal {
                shown.extend(old.iter().map(|line| format!("  {line}")));
                continue;
            }
            shown.extend(old.iter().map(|line| format!("- {line}")));
            shown.extend(new.iter().map(|line| format!("+ {line}")));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn changed_lines_are_marked_and_far_ones_left_out() {
        let (before, after) = (lines("a b c d e f g h i"), lines("a B c d e f g h j"));
        let all = ["  a", "- b", "+ B", "  c", "  d", "  e", "  f", "  g", "  h", "- i", "+ j"];
        assert_eq!(diff(&before, &after, None), all);
        assert_eq!(diff(&before, &after, Some(1)), ["  a", "- b", "+ B", "  c", "…", "  h", "- i", "+ j"]);
        assert_eq!(diff(&[], &lines("a"), Some(3)), ["+ a"]);
        assert_eq!(diff(&lines("a"), &[], Some(3)), ["- a"]);
    }
}
