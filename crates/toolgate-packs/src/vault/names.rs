//! Names that may be given to a document or folder.

use unicode_normalization::UnicodeNormalization;

use super::failure::Failure;

/// What file systems hold.
const LONGEST: usize = 255;

/// Begins the name of a file that is still being written. Never listed.
pub(super) const UNFINISHED: &str = ".toolgate-";

/// The name as it will be on disk: in the composed form, so that what looks the same is the same.
pub(super) fn checked(name: &str) -> Result<String, Failure> {
    let name: String = name.nfc().collect();
    let refused = |why: &str| Err(Failure::invalid(format!("The name {why}.")));
    if name.trim().is_empty() {
        return refused("is empty");
    }
    if name.len() > LONGEST {
        return refused("is longer than 255 bytes");
    }
    if name.contains(['/', '\\']) {
        return refused("holds a path separator");
    }
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return refused("holds a control character");
    }
    if name.trim() != name {
        return refused("begins or ends with white space");
    }
    if name.starts_with('.') {
        return refused("begins with a dot, which the vault does not show");
    }
    Ok(name)
}

/// A name that can be given, made of one that perhaps can't.
pub(super) fn usable(name: &str) -> String {
    if let Ok(name) = checked(name) {
        return name;
    }
    let plain = |c: char| if matches!(c, '/' | '\\') || c.is_control() || is_invisible(c) { ' ' } else { c };
    let name: String = name.nfc().map(plain).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.trim_start_matches(['.', ' ']);
    let name = name.get(..name.floor_char_boundary(LONGEST)).unwrap_or_default().trim_end();
    checked(name).unwrap_or_else(|_| "untitled".to_owned())
}

/// Characters that make one name look like another: direction marks and line separators.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether the vault shows a file of this name.
pub(super) fn is_shown(name: &str) -> bool {
    !name.starts_with('.') && !name.is_empty()
}

/// Names that people can't tell apart have the same of these.
pub(super) fn looks(name: &str) -> String {
    name.nfc().collect()
}

/// The name without its extension, and the extension with its dot.
pub(super) fn parts(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => name.split_at(dot),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_lead_elsewhere_or_deceive_is_no_name() {
        let long = "x".repeat(256);
        for name in [
            "",
            " ",
            "\t",
            ".",
            "..",
            "../a",
            "a/b",
            "/a",
            "a\\b",
            "a\0b",
            "a\nb",
            " a",
            "a ",
            ".a",
            "a\u{202e}b",
            &long,
        ] {
            assert!(checked(name).is_err(), "{name:?}");
        }
        assert_eq!(checked("e\u{301}.txt").unwrap(), "\u{e9}.txt");
        assert_eq!(checked(&"x".repeat(255)).unwrap().len(), 255);
        assert!(checked("水曜日の議事録.md").is_ok());
    }

    #[test]
    fn an_extension_is_what_follows_the_last_dot() {
        assert_eq!(parts("a.tar.gz"), ("a.tar", ".gz"));
        assert_eq!(parts(".hidden"), (".hidden", ""));
        assert_eq!(parts("a."), ("a.", ""));
        assert_eq!(parts("plain"), ("plain", ""));
    }
}
