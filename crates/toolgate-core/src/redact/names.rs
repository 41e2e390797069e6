//! Names under which secrets go, in any spelling: `session_token`, `clientSecret`, `X-Api-Key`.

/// Found anywhere in a name, its case and its separators aside.
const WITHIN: [&str; 18] = [
    "password",
    "passwd",
    "passkey",
    "passphrase",
    "passcode",
    "token",
    "secret",
    "authorization",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "cookie",
    "credential",
    "bearer",
    "sessionkey",
    "connectionstring",
];

/// Too short or too common to be looked for within other names.
const WHOLE: [&str; 8] = ["auth", "pwd", "pass", "otp", "pin", "jwt", "cvv", "cvc"];

/// Of these, what people type, which may be digits alone.
const TYPED_WITHIN: [&str; 5] = ["password", "passwd", "passkey", "passphrase", "passcode"];
const TYPED_WHOLE: [&str; 5] = ["pwd", "otp", "pin", "cvv", "cvc"];

/// Words that hold one of the above and mean something else.
const HARMLESS: [&str; 4] = ["tokeniz", "tokenis", "secretar", "cookiecutter"];

/// Names longer than this are looked at piece by piece.
const LONGEST: usize = 128;

pub(super) fn is_secret_name(name: &str) -> bool {
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
        return is_secret(&plain.to_ascii_lowercase());
    }
    plain.get(..length).and_then(|plain| str::from_utf8(plain).ok()).is_none_or(is_secret)
}

/// Of a name that is a secret's: whether a number under it is one too. Other numbers are counts, as `max_tokens` is.
pub(super) fn is_typed_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    TYPED_WHOLE.contains(&plain.as_str()) || TYPED_WITHIN.iter().any(|word| plain.contains(word))
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
    if plain.len() < 3 {
        return false;
    }
    if !holds(plain) {
        return WHOLE.contains(&plain);
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
            "private_key",
            "credentials",
            "auth",
            "pwd",
            "jwt",
            "max_tokens",
            "tokens",
            "pass word",
            "tokenizer_password",
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
            "pinned",
            "path",
            "übersicht",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
