//! The content of a signed token, for its holder: read without proving anything.

use serde_json::{Map, Value};

use super::{claims::Claims, jwt, own_token::OWN_ISSUER};

/// The claims of a signed token as they are written in it. Nothing may be decided from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenContent {
    pub issuer: Option<String>,
    /// The audiences, separated by commas.
    pub audience: Option<String>,
    /// `jti`
    pub id: Option<String>,
    /// Unix seconds.
    pub issued_at: Option<u64>,
    /// Unix seconds.
    pub expires_at: Option<u64>,
    pub claims: Claims,
}

impl TokenContent {
    /// The content; `None` for what is no signed token.
    pub fn read(token: &str) -> Option<Self> {
        if !jwt::is_signed(token) {
            return None;
        }
        let members: Map<String, Value> = jwt::payload(token)?;
        let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let second = |name: &str| members.get(name).and_then(Value::as_u64);
        let audience = match members.get("aud") {
            Some(Value::Array(several)) => {
                Some(several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
            }
            _ => text("aud"),
        };
        let claims = serde_json::from_value(Value::Object(members.clone()));
        // an issuer's claims need not be of our types
        let claims = claims.unwrap_or_else(|_| Claims { user: text("sub"), ..Claims::default() });
        Some(Self {
            issuer: text("iss"),
            audience,
            id: text("jti"),
            issued_at: second("iat"),
            expires_at: second("exp"),
            claims,
        })
    }

    /// Returns true if the token says that a Toolgate made it.
    pub fn is_own(&self) -> bool {
        self.issuer.as_deref() == Some(OWN_ISSUER)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

    use super::*;

    fn token(claims: &str) -> String {
        format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn claims_of_other_types_are_left_out() {
        let found = TokenContent::read(&token(r#"{"iss":"x","aud":["a","b"],"sub":"ann","scope":["r"],"exp":1.5}"#));
        let found = found.unwrap();
        assert_eq!((found.audience.as_deref(), found.expires_at), (Some("a, b"), None));
        assert_eq!(found.claims, Claims { user: Some("ann".to_owned()), ..Claims::default() });
        assert!(!found.is_own());
    }

    #[test]
    fn what_is_no_token_has_no_content() {
        for wrong in ["", "a.b", "a.b.c", "..", &token("[]"), "tgk_abcdefgh_secret"] {
            assert_eq!(TokenContent::read(wrong), None, "{wrong}");
        }
    }
}
