//! What looks like a credential does not get into the event log.

use serde_json::Value;

pub(super) const REDACTED: &str = "[redacted]";

/// Parts of a member's name, without regard to case and to signs.
const NAMES: [&str; 11] = [
    "password",
    "passwd",
    "passkey",
    "passphrase",
    "token",
    "secret",
    "authorization",
    "apikey",
    "privatekey",
    "credential",
    "cookie",
];
/// How a value begins.
const STARTS: [&str; 6] = ["bearer ", "basic ", "-----begin", "ghp_", "sk-", "xox"];

pub(super) fn redacted(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| {
                let value = if is_secret(&name) { Value::from(REDACTED) } else { redacted(value) };
                (name, value)
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(redacted).collect(),
        Value::String(text) if looks_secret(&text) => Value::from(REDACTED),
        other => other,
    }
}

fn is_secret(name: &str) -> bool {
    let name: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    NAMES.iter().any(|secret| name.contains(secret))
}

/// A bearer token, a private key, a JSON Web Token.
fn looks_secret(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(12).flat_map(char::to_lowercase).collect();
    let jwt = || text.trim().starts_with("eyJ") && text.matches('.').count() == 2;
    STARTS.iter().any(|secret| start.starts_with(secret)) || jwt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_values_that_look_secret_are_taken_out_at_every_depth() {
        let given = json!({"api_key": 1, "a": {"accessToken": {"b": 2}, "Client-Secret": null, "n": [{"PASSWORD": "x"}]},
            "h": "Bearer abc", "k": ["-----BEGIN PRIVATE KEY-----"], "j": "eyJhbGciOi.eyJzdWI.sig", "plain": "text", "n": 5});
        let kept = redacted(given);
        assert_eq!(
            kept,
            json!({"api_key": REDACTED,
            "a": {"accessToken": REDACTED, "Client-Secret": REDACTED, "n": [{"PASSWORD": REDACTED}]},
            "h": REDACTED, "k": [REDACTED], "j": REDACTED, "plain": "text", "n": 5})
        );
    }
}
