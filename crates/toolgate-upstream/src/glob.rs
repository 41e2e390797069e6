//! Which tools of an upstream are wanted, by globs of their names.

/// Included by some glob (or there is none to include) and excluded by none.
pub(crate) fn wanted(name: &str, include: &[String], exclude: &[String]) -> bool {
    let any = |globs: &[String]| globs.iter().any(|glob| matches(glob.as_bytes(), name.as_bytes()));
    (include.is_empty() || any(include)) && !any(exclude)
}

/// `*` is any run of bytes, `?` any one. Time is the product of both lengths at worst.
fn matches(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    // where to take up again: the last star, and how much of the name it has swallowed
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = name.get(read) {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((place, swallowed)) => {
                    star = Some((place, swallowed + 1));
                    at = place + 1;
                    read = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_match() {
        let yes = |glob: &str, name: &str| matches(glob.as_bytes(), name.as_bytes());
        assert!(yes("*", "") && yes("*", "a") && yes("a*", "abc") && yes("*c", "abc") && yes("a*c", "abbc"));
        assert!(yes("a?c", "abc") && yes("*_read_*", "fs_read_file") && yes("*ab", "aab") && yes("abc", "abc"));
        assert!(!yes("a?c", "ac") && !yes("a*d", "abc") && !yes("", "a") && !yes("abc", "abcd"));
        assert!(!yes(&"*a".repeat(50), &"b".repeat(5000)));
    }

    #[test]
    fn an_exclusion_wins() {
        let globs = |text: &str| vec![text.to_owned()];
        assert!(wanted("read", &[], &[]));
        assert!(wanted("read", &globs("r*"), &[]));
        assert!(!wanted("write", &globs("r*"), &[]));
        assert!(!wanted("read", &globs("r*"), &globs("*d")));
    }
}
