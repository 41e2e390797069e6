//! Names that look like a secret's in letters of another script or width: `ｐａｓｓｗｏｒｄ`, `pаssword` with a Cyrillic `а`;
//! and names of secrets in other scripts.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_security::skeleton;

use super::names::{NameKind, WHOLE, WITHIN, plain_kind};

/// Names in other scripts, found anywhere in a name.
const ELSEWHERE: [&str; 6] = ["パスワード", "暗証番号", "密码", "密碼", "пароль", "비밀번호"];

/// The words and what they look like.
struct Looks {
    within: Vec<(String, &'static str)>,
    whole: Vec<(String, &'static str)>,
    elsewhere: Vec<String>,
}

static LOOKS: LazyLock<Looks> = LazyLock::new(|| Looks {
    within: WITHIN.iter().map(|word| (look(word), *word)).collect(),
    whole: WHOLE.iter().map(|word| (look(word), *word)).collect(),
    elsewhere: ELSEWHERE.iter().map(|word| look(word)).collect(),
});

/// The kind of a name that is not ASCII alone.
pub(super) fn name_kind(name: &str) -> NameKind {
    let ascii: String = letters(name).filter(char::is_ascii).collect();
    let plain = plain_kind(&ascii);
    if plain.is_certain() {
        return plain;
    }
    let look = look(name);
    if LOOKS.elsewhere.iter().any(|word| look.contains(word.as_str())) {
        return NameKind::Typed;
    }
    let within = LOOKS.within.iter().find(|(word, _)| look.contains(word.as_str()));
    let found = within.or_else(|| LOOKS.whole.iter().find(|(word, _)| *word == look));
    found.map_or(NameKind::Plain, |(_, word)| plain_kind(word))
}

/// Letters and digits without their accents, widths and case.
fn letters(name: &str) -> impl Iterator<Item = char> {
    name.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Equal for names that look alike (Unicode Technical Standard 39).
fn look(name: &str) -> String {
    let letters: String = letters(name).collect();
    skeleton(&letters).collect()
}
