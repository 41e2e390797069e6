//! Names under which secrets go, in any spelling: `session_token`, `clientSecret`, `X-Api-Key`.

use std::{cell::RefCell, collections::HashMap};

use super::lookalike;

/// Found anywhere in a name, its case and its separators aside.
pub(super) const WITHIN: [&str; 34] = [
    "password",
    "passwd",
    "passkey",
    "passphrase",
    "passcode",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "token",
    "secret",
    "authorization",
    "apikey",
    "accesskey",
    "accountkey",
    "authkey",
    "masterkey",
    "privatekey",
    "sharedkey",
    "signingkey",
    "encryptionkey",
    "cookie",
    "credential",
    "bearer",
    "sessionkey",
    "sessid",
    "jsessionid",
    "connectsid",
    "connectionstring",
    "seedphrase",
    "recoverycode",
    "sharedaccesssignature",
    "amzsignature",
    "googsignature",
];

/// Too short or too common to be looked for within other names.
pub(super) const WHOLE: [&str; 11] = ["auth", "pwd", "pass", "pw", "pswd", "otp", "pin", "jwt", "cvv", "cvc", "ssn"];

/// Words that name a secret also where they are the last of several: `DB_PASS`, `smtpPwd`, `user-otp`.
const LAST: [&str; 9] = ["pass", "pwd", "pswd", "pw", "otp", "jwt", "cvv", "cvc", "ssn"];
/// Words before `pass` that make it something else.
const ORDINARY_PASSES: [&str; 10] =
    ["boarding", "render", "first", "second", "third", "final", "test", "tests", "season", "day"];

/// Of these, what people type, which may be digits alone.
const TYPED_WITHIN: [&str; 9] =
    ["password", "passwd", "passkey", "passphrase", "passcode", "passwort", "kennwort", "motdepasse", "contrasena"];
const TYPED_WHOLE: [&str; 8] = ["pwd", "pw", "pswd", "otp", "pin", "cvv", "cvc", "ssn"];

/// Names of secrets and of other things: the value decides.
const SHORT_LIVED: [&str; 4] = ["session", "signature", "sid", "sig"];
/// The same at the end of a name: `session_id`, `ASP.NET_SessionId`.
const SHORT_LIVED_END: &str = "sessionid";

/// Words that hold one of the above and mean something else.
const HARMLESS: [&str; 4] = ["tokeniz", "tokenis", "secretar", "cookiecutter"];

/// Names longer than this are looked at piece by piece.
const LONGEST: usize = 128;

/// The meaning of a name for the value that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// Says nothing.
    Plain,
    /// `key`: a secret where the value looks random.
    Key,
    /// `session`, `signature`: a secret where the value is one word with a digit in it.
    ShortLived,
    /// A secret; numbers and truth values are none, since `max_tokens` is a count.
    Secret,
    /// A secret that people type: it may be digits alone.
    Typed,
}

impl NameKind {
    /// Whether the name alone makes the value a secret.
    pub(super) fn is_certain(self) -> bool {
        matches!(self, Self::Secret | Self::Typed)
    }

    /// Whether a text under this name is a secret.
    pub(super) fn covers(self, value: &str) -> bool {
        let one_word = || value.bytes().all(|byte| byte.is_ascii_graphic()) && !value.contains("[redacted");
        let digit = || value.bytes().any(|byte| byte.is_ascii_digit());
        match self {
            Self::Plain => false,
            Self::Secret | Self::Typed => true,
            Self::ShortLived => value.len() >= 8 && one_word() && digit(),
            Self::Key => value.len() >= 16 && one_word() && digit() && is_mixed(value),
        }
    }
}

/// Large and small letters beside each other, or nothing but hexadecimal digits: no name that people give.
fn is_mixed(value: &str) -> bool {
    let any = |of: fn(&u8) -> bool| value.as_bytes().iter().any(of);
    any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase) || value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Longest name whose kind is remembered, and how many are.
const LONGEST_REMEMBERED: usize = 64;
const MOST_REMEMBERED: usize = 512;

thread_local! {
    /// Kinds of names that were looked at on this thread: callers repeat the names of their tools' arguments.
    static REMEMBERED: RefCell<HashMap<Box<str>, NameKind>> = RefCell::new(HashMap::new());
}

/// The kind of a member's name.
pub(super) fn name_kind(name: &str) -> NameKind {
    if name.len() > LONGEST_REMEMBERED {
        return looked_up_kind(name);
    }
    REMEMBERED.with_borrow_mut(|remembered| {
        if let Some(kind) = remembered.get(name) {
            return *kind;
        }
        let kind = looked_up_kind(name);
        // names may be the callers' own: however many they make up, the memory is bounded
        if remembered.len() >= MOST_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(name.into(), kind);
        kind
    })
}

fn looked_up_kind(name: &str) -> NameKind {
    if !name.is_ascii() {
        return lookalike::name_kind(name);
    }
    let mut plain = [0_u8; LONGEST];
    let mut letters = name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    let mut length = 0;
    for (place, letter) in plain.iter_mut().zip(&mut letters) {
        *place = letter;
        length += 1;
    }
    if letters.next().is_some() {
        // No name people give is that long.
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        return plain_kind(&plain.to_ascii_lowercase());
    }
    let kind = plain.get(..length).and_then(|plain| str::from_utf8(plain).ok()).map_or(NameKind::Secret, plain_kind);
    if kind == NameKind::Plain { last_word_kind(name) } else { kind }
}

/// The kind of a name by its last word, which begins behind a separator or with a capital letter. Numbers at the end do not
/// count.
fn last_word_kind(name: &str) -> NameKind {
    let name = name.strip_suffix("%5D").or_else(|| name.strip_suffix("%5d")).unwrap_or(name);
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let of_word = |word: &str| -> Option<NameKind> {
        let (before, end) = name.split_at_checked(name.len().checked_sub(word.len())?)?;
        let last = *before.as_bytes().last().filter(|_| end.eq_ignore_ascii_case(word))?;
        let is_capital = end.starts_with(|c: char| c.is_ascii_uppercase());
        let begins = !last.is_ascii_alphabetic()
            || before.ends_with("%5B")
            || before.ends_with("%5b")
            || (last.is_ascii_lowercase() && is_capital);
        let ends_before = |word: &&str| -> bool {
            let before = before.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
            before
                .len()
                .checked_sub(word.len())
                .and_then(|at| before.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(word))
        };
        if !begins || (word == "pass" && ORDINARY_PASSES.iter().any(ends_before)) {
            return None;
        }
        // a variable of an environment counts nothing
        let is_variable = end.bytes().all(|byte| byte.is_ascii_uppercase());
        Some(if is_variable { NameKind::Typed } else { plain_kind(word) })
    };
    LAST.iter().find_map(|word| of_word(word)).unwrap_or(NameKind::Plain)
}

/// The kind of a name that is small letters and digits alone.
pub(super) fn plain_kind(plain: &str) -> NameKind {
    if is_secret(plain) {
        let typed = TYPED_WHOLE.contains(&plain) || TYPED_WITHIN.iter().any(|word| plain.contains(word));
        return if typed { NameKind::Typed } else { NameKind::Secret };
    }
    match plain {
        "key" => NameKind::Key,
        plain if SHORT_LIVED.contains(&plain) || plain.ends_with(SHORT_LIVED_END) => NameKind::ShortLived,
        _ => NameKind::Plain,
    }
}

/// Which letters follow which at the beginning of a word of [`WITHIN`]: says no for most places of a name.
const BEGINNINGS: [u32; 32] = {
    let mut beginnings = [0; 32];
    let mut words: &[&str] = &WITHIN;
    while let [word, others @ ..] = words {
        if let [first, second, ..] = word.as_bytes() {
            #[allow(
                clippy::indexing_slicing,
                reason = "five bits are an index of it, and this is done by the compiler"
            )]
            {
                beginnings[(*first & 31) as usize] |= 1 << (*second & 31);
            }
        }
        words = others;
    }
    beginnings
};

fn holds(name: &str) -> bool {
    let may_begin = |[first, second]: &[u8; 2]| {
        BEGINNINGS.get(usize::from(first & 31)).is_some_and(|seconds| seconds >> (second & 31) & 1 == 1)
    };
    let begins = |(at, pair): (usize, &[u8; 2])| {
        let rest = name.as_bytes().get(at..).unwrap_or_default();
        WITHIN.iter().any(|word| word.as_bytes().first_chunk() == Some(pair) && rest.starts_with(word.as_bytes()))
    };
    name.as_bytes().array_windows().enumerate().any(|(at, pair)| may_begin(pair) && begins((at, pair)))
}

fn is_secret(plain: &str) -> bool {
    if plain.len() < 2 {
        return false;
    }
    if !holds(plain) {
        return WHOLE.contains(&plain);
    }
    if !HARMLESS.iter().any(|harmless| plain.contains(harmless)) {
        return true;
    }
    let mut rest = plain.to_owned();
    for harmless in HARMLESS {
        rest = rest.replace(harmless, " ");
    }
    holds(&rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_secret_name(name: &str) -> bool {
        name_kind(name).is_certain()
    }

    #[test]
    fn secrets_are_known_by_name_in_any_spelling() {
        for name in [
            "password",
            "Password",
            "user_password",
            "PASSWD",
            "passkey",
            "token",
            "session_token",
            "accessToken",
            "clientSecret",
            "client-secret",
            "Authorization",
            "proxy-authorization",
            "api_key",
            "X-API-Key",
            "apikey",
            "Set-Cookie",
            "cookies",
            "aws_secret_access_key",
            "AccountKey",
            "private_key",
            "credentials",
            "auth",
            "pwd",
            "pw",
            "ssn",
            "jwt",
            "max_tokens",
            "tokens",
            "pass word",
            "tokenizer_password",
            "ｐａｓｓｗｏｒｄ",
            "pаsswоrd",
            "pass\u{200b}wörd",
            "clіent_ѕecret",
            "パスワード",
            "密码",
            "mot de passe",
            "contraseña",
            "DB_PASS",
            "DB_PASS_2",
            "smtpPass",
            "mysql-pwd",
            "login_otp",
            "account%5Bpass%5D",
            "PGPASSWORD",
            "JSESSIONID",
            "PHPSESSID",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "X-Amz-Security-Token",
            "X-Goog-Signature",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        let long = "x".repeat(500);
        assert!(is_secret_name(&format!("{long}password")) && is_secret_name(&format!("password{long}")));
    }

    #[test]
    fn other_names_are_left_alone() {
        for name in [
            "",
            "id",
            "title",
            "author",
            "authority",
            "tokenizer",
            "tokenization",
            "secretary",
            "passenger",
            "compass",
            "key",
            "monkey",
            "keyboard",
            "public_key",
            "session",
            "session_id",
            "sessionId",
            "BYPASS",
            "bypass",
            "passage",
            "Passat",
            "boarding_pass",
            "tests_pass",
            "gpio_pin",
            "OLDPWD",
            "requires_auth",
            "pinned",
            "path",
            "übersicht",
            "日付",
            "ключ",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_common_name_is_a_secrets_where_its_value_looks_like_one() {
        for (name, value, secret) in [
            ("key", "phase-2-results", false),
            ("key", "knowledge/Team-Notes", false),
            ("key", "9f86d081884c7d659a2feaa0", true),
            ("Key", "q83vEjRWeJq83vEjRW", true),
            ("session", "morning run", false),
            ("session", "tempo", false),
            ("session", "a81f-99201", true),
            ("signature", "c2lnbmF0dXJl1", true),
            ("sid", "12345678", true),
            ("session_id", "a81f-99201", true),
            ("sessionid", "3 of 5", false),
            ("session_id", "morning", false),
            ("title", "q83vEjRWeJq83vEjRW", false),
        ] {
            assert_eq!(name_kind(name).covers(value), secret, "{name}: {value}");
        }
    }
}
