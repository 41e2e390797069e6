//! Text of others for a terminal: characters that steer it, or hide or turn text around, are shown as what they are.

pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let steers = character.is_control() && !matches!(character, '\n' | '\t');
        let hides = matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if steers || hides { shown.extend(character.escape_unicode()) } else { shown.push(character) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_steers_or_hides_is_shown() {
        assert_eq!(visible("a\tb\né日本"), "a\tb\né日本");
        assert_eq!(visible("\u{1b}[2J\u{202e}x\r"), "\\u{1b}[2J\\u{202e}x\\u{d}");
    }
}
