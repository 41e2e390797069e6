//! Names for an approver, who has to see what a call is about: the path of a key, the account whose password is reset.

use super::names::{NameKind, name_kind};

/// Last words of names that say where a secret is, whose it is or what becomes of it, and hold no secret themselves.
const ABOUT_SECRETS: [&str; 14] =
    ["path", "file", "folder", "dir", "url", "uri", "name", "for", "of", "owner", "recipient", "id", "user", "account"];

/// The kind of a name for an approver.
pub(super) fn approver_name_kind(name: &str) -> NameKind {
    let words = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_last = |word: &&str| {
        let Some((before, end)) = words.len().checked_sub(word.len()).and_then(|at| words.split_at_checked(at)) else {
            return false;
        };
        let begins = before.ends_with(['_', '-', '.', ' '])
            || (before.ends_with(|c: char| c.is_ascii_lowercase())
                && end.starts_with(|c: char| c.is_ascii_uppercase()));
        begins && end.eq_ignore_ascii_case(word)
    };
    match name_kind(name) {
        // the id of a session is what proves it
        NameKind::ShortLived => NameKind::ShortLived,
        _ if ABOUT_SECRETS.iter().any(is_last) => NameKind::Plain,
        kind => kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approver_sees_what_a_call_is_about() {
        for name in
            ["credential_path", "password_file", "token_url", "secretName", "reset_password_for", "access_key_owner"]
        {
            assert_eq!(approver_name_kind(name), NameKind::Plain, "{name}");
            assert_ne!(name_kind(name), NameKind::Plain, "{name} stays hidden in the ledger");
        }
        for name in ["password", "api_key", "token", "client_secret", "profile_password", "PGPASSWORD", "session_id"] {
            assert_eq!(approver_name_kind(name), name_kind(name), "{name}");
        }
    }
}
