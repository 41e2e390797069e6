//! What a secret looks like wherever it stands: bearer tokens, JSON Web Tokens, private keys, well-known key formats and
//! our own.

/// A prefix, and how many token characters must follow at least.
const PREFIXES: [(&str, usize); 25] = [
    // our own: API keys, task keys, agent sessions, the seed on disk
    ("tgk_", 16),
    ("tk_", 20),
    ("sess_", 16),
    ("toolgate-seed-1 ", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 22),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk_test_", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("hf_", 30),
];

/// The text with each secret in it given to `put` instead; `None` if there is none.
pub(super) fn replace(text: &str, put: impl Fn(&str, &mut String)) -> Option<String> {
    let mut out: Option<String> = None;
    let (mut kept, mut at) = (0, 0);
    while let Some(start) = next_start(text.as_bytes(), kept, at) {
        match secret_at(text, start) {
            Some((from, to)) => {
                let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
                out.push_str(text.get(kept..from).unwrap_or_default());
                put(text.get(from..to).unwrap_or_default(), out);
                kept = to;
                at = to.max(start + 1);
            }
            None => at = start + 1,
        }
    }
    let mut out = out?;
    out.push_str(text.get(kept..).unwrap_or_default());
    Some(out)
}

/// The next place where a secret can start. Punctuation starts one wherever it stands; a letter only where a word begins, as
/// one does after a placeholder.
fn next_start(text: &[u8], kept: usize, at: usize) -> Option<usize> {
    let kind = |byte: u8| KINDS.get(usize::from(byte)).copied().unwrap_or_default();
    let mut before =
        at.checked_sub(1).filter(|_| at > kept).and_then(|before| text.get(before)).map_or(0, |byte| kind(*byte));
    let found = text.get(at..)?.iter().position(|byte| {
        let kind = kind(*byte);
        let within_word = kind & before & LETTER != 0;
        before = kind;
        kind & STARTS != 0 && !within_word
    })?;
    Some(at + found)
}

/// A letter or digit.
const LETTER: u8 = 1;
/// What some secret starts with.
const STARTS: u8 = 2;

/// Looked at for every byte of every input and result.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        #[allow(clippy::indexing_slicing, reason = "a byte is an index of it, and this is done by the compiler")]
        {
            if byte.is_ascii_alphanumeric() {
                kinds[byte as usize] |= LETTER;
            }
            if matches!(byte, b'B' | b'b' | b'e' | b'-' | b':' | b't' | b's' | b'g' | b'x' | b'r' | b'A' | b'n' | b'h')
            {
                kinds[byte as usize] |= STARTS;
            }
        }
        byte += 1;
    }
    kinds
};

/// Where the secret that starts here begins and ends. What names its kind stays readable where it is not part of it.
fn secret_at(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = text.get(at..)?;
    let whole = |length: usize| (at, at + length);
    match rest.as_bytes().first()? {
        b'B' | b'b' => credential(rest).map(|(start, end)| (at + start, at + end)),
        b'e' => web_token(rest).map(whole),
        b'-' => private_key(rest).map(whole),
        b':' => password_in_url(rest).map(|(start, end)| (at + start, at + end)),
        _ => known_format(rest).map(whole),
    }
}

/// `Bearer TOKEN` or `Basic TOKEN`. A token is not a word of prose: it is long, or has more than small letters in it.
fn credential(rest: &str) -> Option<(usize, usize)> {
    let begins = |scheme: &&str| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = ["bearer ", "basic "].into_iter().find(begins)?;
    let after = rest.get(scheme.len()..)?;
    let start = rest.len() - after.trim_start_matches(' ').len();
    let token = rest.get(start..start + run(rest.get(start..)?))?;
    let prose = token.bytes().all(|byte| byte.is_ascii_lowercase()) && token.len() < 20;
    (token.len() >= 8 && !prose).then_some((start, start + token.len()))
}

/// `eyJ` is `{"` in base64: a header, a dot and the rest.
fn web_token(rest: &str) -> Option<usize> {
    let length = run(rest.strip_prefix("eyJ")?) + 3;
    let (header, after) = rest.get(..length)?.split_once('.')?;
    (header.len() >= 8 && !after.is_empty()).then_some(length)
}

/// To the end of its armour, or of the text: half a key is a secret too.
fn private_key(rest: &str) -> Option<usize> {
    let (label, _) = rest.strip_prefix("-----BEGIN ")?.split_once("-----")?;
    if label.len() > 40 || !label.ends_with("PRIVATE KEY") {
        return None;
    }
    let end = rest.find("-----END ").and_then(|end| {
        let dashes = rest.get(end + 9..)?.find("-----")?;
        Some(end + 9 + dashes + 5)
    });
    Some(end.unwrap_or(rest.len()))
}

/// `scheme://user:PASSWORD@host`.
fn password_in_url(rest: &str) -> Option<(usize, usize)> {
    let authority = rest.strip_prefix("://")?;
    let end = authority.find(['/', '?', '#', ' ', '"', '\'', '<', '>', '\n']).unwrap_or(authority.len());
    let (userinfo, _) = authority.get(..end)?.rsplit_once('@')?;
    let (user, secret) = userinfo.split_once(':')?;
    let start = 3 + user.len() + 1;
    (!secret.is_empty() && !super::is_placeholder(secret)).then_some((start, start + secret.len()))
}

fn known_format(rest: &str) -> Option<usize> {
    let first = rest.as_bytes().first();
    PREFIXES.iter().filter(|(prefix, _)| prefix.as_bytes().first() == first).find_map(|(prefix, least)| {
        let length = run(rest.strip_prefix(prefix)?);
        (length >= *least).then_some(prefix.len() + length)
    })
}

/// How many characters of a token follow.
fn run(text: &str) -> usize {
    let token =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=');
    text.as_bytes().iter().take_while(token).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> Option<String> {
        replace(text, |_, out| out.push_str("[x]"))
    }

    #[test]
    fn secrets_are_known_by_shape() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl";
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        for (text, expected) in [
            (jwt.to_owned(), "[x]"),
            (format!("the token is {jwt}, ok"), "the token is [x], ok"),
            ("Authorization: Bearer abc123DEF456".into(), "Authorization: Bearer [x]"),
            ("bearer   a1b2c3d4".into(), "bearer   [x]"),
            ("Basic YW5uOmh1bnRlcjI=".into(), "Basic [x]"),
            (format!("a {pem} b {pem}"), "a [x] b [x]"),
            ("-----BEGIN PRIVATE KEY-----\nhalf".into(), "[x]"),
            (format!("tgk_abcdefgh_{}", "s".repeat(43)), "[x]"),
            (format!("key=tk_{}", "A".repeat(22)), "key=[x]"),
            (format!("sess_{}", "a1".repeat(10)), "[x]"),
            (format!("toolgate-seed-1 {}", "A".repeat(43)), "[x]"),
            (format!("x_ghp_{}", "a1".repeat(18)), "x_[x]"),
            ("AKIAIOSFODNN7EXAMPLE".into(), "[x]"),
            (
                "postgres://ann:hunter2@db/x and https://a.example/b".into(),
                "postgres://ann:[x]@db/x and https://a.example/b",
            ),
            ("postgres://ann:p@ss@db".into(), "postgres://ann:[x]@db"),
        ] {
            assert_eq!(redacted(&text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in [
            "",
            "the bearer of good news",
            "a bearer certificate",
            "basic training",
            "eyJust",
            "eyJabc.",
            "é eyJ ü",
            "-----BEGIN CERTIFICATE-----\nMIIE",
            "tk_short",
            "AKIA",
            "sess_",
            "http://ann@host/",
            "a:b@c",
            "://:@",
            "https://host:8080/x@y",
            "[redacted]",
            "https://u:[redacted]@h",
        ] {
            assert_eq!(redacted(text), None, "{text}");
        }
    }
}
