//! Secrets that are known by their shape wherever they stand: bearer tokens, JSON Web Tokens, private keys, addresses that are
//! secrets, well-known key formats and Toolgate's own.

use super::{
    text::{TextWalk, holds_secret},
    token_run::{key_lines_end, token_run_end},
};

/// A prefix, and how many token characters must follow at least.
pub(super) const PREFIXES: [(&str, usize); 33] = [
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
    ("xapp-", 10),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk_test_", 16),
    ("shpat_", 20),
    ("AIza", 30),
    ("npm_", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AGE-SECRET-KEY-", 30),
    ("hf_", 30),
    ("SG.", 30),
    ("GOCSPX-", 20),
    ("pypi-", 30),
    ("whsec_", 20),
    ("ya29.", 20),
];

/// Addresses whose path is the secret.
const WEBHOOKS: [&str; 6] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "api.telegram.org/bot",
];

/// Schemes after which a credential stands.
pub(super) const SCHEMES: [&str; 2] = ["bearer ", "basic "];
/// The longest label of a private key's armour.
const LONGEST_LABEL: usize = 40;

/// `Bearer TOKEN` or `Basic TOKEN`. A token is not a word of prose: it is long, or has more than small letters in it.
pub(super) fn credential(walk: &mut TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let rest = walk.text.get(at..)?;
    let begins = |scheme: &&str| rest.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = SCHEMES.into_iter().find(begins)?;
    let after = rest.get(scheme.len()..)?;
    let start = at + rest.len() - after.trim_start_matches(' ').len();
    let end = walk.run_end(start);
    let token = walk.text.get(start..end)?;
    let prose = token.len() < 20 && token.bytes().all(|byte| byte.is_ascii_lowercase());
    (token.len() >= 8 && !prose).then_some((start, end))
}

/// `eyJ` is `{"` in base64: a header, a dot and the rest.
pub(super) fn web_token(walk: &mut TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    if !walk.text.get(at..)?.starts_with("eyJ") {
        return None;
    }
    let end = walk.run_end(at);
    let dot = walk.first_dot(at)?;
    (dot >= at + 8 && dot + 1 < end).then_some((at, end))
}

/// To the end of its armour, or of the text: half a key is a secret too.
pub(super) fn private_key(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let rest = walk.text.get(at..)?;
    let after = rest.strip_prefix("-----BEGIN ")?;
    let dashes = after.as_bytes().windows(5).take(LONGEST_LABEL + 1).position(|five| five == b"-----")?;
    if !after.get(..dashes)?.ends_with("PRIVATE KEY") {
        return None;
    }
    if walk.for_approver {
        let label_end = at + "-----BEGIN ".len() + dashes + 5;
        let end = key_lines_end(walk.text.as_bytes(), label_end);
        return (end > label_end).then_some((at, end));
    }
    let end = rest.find("-----END ").and_then(|end| {
        let dashes = rest.get(end + 9..)?.find("-----")?;
        Some(end + 9 + dashes + 5)
    });
    Some((at, at + end.unwrap_or(rest.len())))
}

/// `scheme://user:PASSWORD@host`, or an address that whoever knows it may use.
pub(super) fn address(walk: &TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let text = walk.text;
    let address = text.get(at..)?.strip_prefix("://")?;
    if let Some(prefix) = WEBHOOKS.iter().find(|prefix| address.starts_with(**prefix)) {
        let start = at + 3 + prefix.len();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\');
        let path = text.as_bytes().get(start..)?;
        let end = start + path.iter().position(ends).unwrap_or(path.len());
        let end = hidden_end(walk, start, end);
        let secret = text.get(start..end)?;
        return (secret.len() >= 8 && !super::is_placeholder(secret)).then_some((start, end));
    }
    let end = address.find(['/', '?', '#', ' ', '"', '\'', '<', '>', '\n']).unwrap_or(address.len());
    let (userinfo, _) = address.get(..end)?.rsplit_once('@')?;
    let (user, secret) = userinfo.split_once(':')?;
    // what was redacted before stays as it is
    if secret.is_empty() || user.contains('=') || userinfo.contains("[redacted") {
        return None;
    }
    // some services take a token for the user
    let start = if holds_secret(user, walk.nesting) { at + 3 } else { at + 3 + user.len() + 1 };
    let end = hidden_end(walk, start, at + 3 + userinfo.len());
    (start < end).then_some((start, end))
}

/// The end of what is hidden of a secret: for an approver that of its first run.
fn hidden_end(walk: &TextWalk<'_>, start: usize, end: usize) -> usize {
    if walk.for_approver { token_run_end(walk.text.as_bytes(), start).min(end) } else { end }
}

pub(super) fn known_format(walk: &mut TextWalk<'_>, at: usize) -> Option<(usize, usize)> {
    let rest = walk.text.get(at..)?;
    let first = rest.as_bytes().first();
    PREFIXES.iter().filter(|(prefix, _)| prefix.as_bytes().first() == first).find_map(|(prefix, least)| {
        rest.strip_prefix(prefix)?;
        let start = at + prefix.len();
        let end = walk.run_end(start);
        (end - start >= *least).then_some((at, end))
    })
}

#[cfg(test)]
mod tests {
    use crate::redact::text::replace;

    fn redacted(text: &str) -> Option<String> {
        replace(text, false, |_, out| out.push_str("[x]"))
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
            (
                "see https://hooks.slack.com/services/T0000/B0000/abcDEF123 now".into(),
                "see https://hooks.slack.com/services/[x] now",
            ),
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
            "https://hooks.slack.com/services/[redacted]",
        ] {
            assert_eq!(redacted(text), None, "{text}");
        }
    }
}
