//! An OAuth issuer whose keys are a file in the home.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::home::Home;

#[path = "../../../../toolgate-server/tests/issuer/signer.rs"]
#[allow(dead_code, reason = "it also signs what only identity's own tests ask for")]
mod signer;

pub use signer::Signer;

pub const ISSUER: &str = "https://login.example";
pub const AUDIENCE: &str = "https://tools.example/mcp";

/// What to put in `toolgate.toml`.
pub const CONFIG: &str = r#"
[[identity.issuers]]
name = "corp"
issuer = "https://login.example"
audience = "https://tools.example/mcp"
jwks_file = "jwks.json"
"#;

pub fn publish(home: &Home, keys: &[&Signer]) {
    let keys: Vec<Value> = keys.iter().map(|key| key.jwk()).collect();
    home.write("jwks.json", &json!({ "keys": keys }).to_string());
}

/// Claims that hold for an hour, with more put in or put over.
pub fn claims(subject: &str, more: Value) -> Value {
    let now = now();
    let mut claims = json!({"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 3600});
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claims
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
