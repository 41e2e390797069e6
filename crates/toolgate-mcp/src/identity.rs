//! Who is asking: the credentials a request carries, collected here and judged elsewhere.

use std::{borrow::Cow, fmt, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use toolgate_core::{Caller, Lang, calendar};

use crate::{json::text, message::Params, refusal::Refusal};

/// Turns credentials into a caller. Which place wins and what combines is this trait's to decide.
#[async_trait]
pub trait Identify: Send + Sync {
    async fn identify(&self, credentials: Credentials<'_>) -> Result<Identified, IdentityUnavailable>;
}

/// Every credential of one request, by the place it was found in.
#[derive(Clone, Default)]
pub struct Credentials<'a> {
    /// `Authorization: Bearer`; empty where the header holds what no token can be.
    pub bearer: Option<&'a str>,
    /// `params._meta["toolgate/token"]`
    pub meta_token: Option<Cow<'a, str>>,
    /// `params.token`
    pub params_token: Option<Cow<'a, str>>,
    /// `params.arguments.session_token`
    pub session_token: Option<Cow<'a, str>>,
    /// `params.arguments.coordinator_token`
    pub coordinator_token: Option<Cow<'a, str>>,
    /// Values of the configured task headers, in the configured order.
    pub task_keys: &'a [&'a str],
    /// The request has an `Origin`: a browser made it.
    pub browser: bool,
    /// The client's address, where it is known. Failed attempts are counted by it.
    pub address: Option<IpAddr>,
}

impl fmt::Debug for Credentials<'_> {
    /// Says which places are filled, never with what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("bearer", &self.bearer.is_some())
            .field("meta_token", &self.meta_token.is_some())
            .field("params_token", &self.params_token.is_some())
            .field("session_token", &self.session_token.is_some())
            .field("coordinator_token", &self.coordinator_token.is_some())
            .field("task_keys", &self.task_keys.len())
            .field("browser", &self.browser)
            .field("address", &self.address)
            .finish()
    }
}

/// The caller that the credentials stand for.
#[derive(Debug, Clone)]
pub struct Identified {
    pub caller: Arc<Caller>,
    /// Some credential was there and did not count.
    pub rejected: Option<Rejection>,
}

/// The reason why a credential did not count, as far as its sender is told. Only a sender who proved to hold the
/// credential learns that it has expired or was revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    Invalid,
    /// A token of a Toolgate, with the signature of another key than this one's.
    OtherKey,
    /// `at`: the second since 1970 from which the credential no longer counts.
    Expired {
        at: u64,
    },
    Revoked,
    /// Too many attempts failed at this address: the credential was not looked at.
    Throttled,
}

impl Rejection {
    /// A sentence for the sender of the credential.
    pub fn text(self, lang: Lang) -> String {
        let reason = match (self, lang) {
            (Self::Throttled, Lang::En) => {
                return "The bearer token was not looked at: too many attempts failed at this address. Wait a minute."
                    .to_owned();
            }
            (Self::Throttled, Lang::Ja) => {
                return "このアドレスからの失敗が多すぎるため、認証情報は確認されませんでした。1分ほどお待ちください。"
                    .to_owned();
            }
            (Self::Invalid, Lang::En) => "it is not valid".to_owned(),
            (Self::OtherKey, Lang::En) => {
                "it is signed with another key (was it made with another --data folder?)".to_owned()
            }
            (Self::Expired { at }, Lang::En) => format!("it expired at {}", rfc3339(at)),
            (Self::Revoked, Lang::En) => "it was revoked".to_owned(),
            (Self::Invalid, Lang::Ja) => "無効です".to_owned(),
            (Self::OtherKey, Lang::Ja) => {
                "別の鍵で署名されています（別の --data フォルダーで作成された可能性があります）".to_owned()
            }
            (Self::Expired { at }, Lang::Ja) => format!("{}に期限切れになりました", rfc3339(at)),
            (Self::Revoked, Lang::Ja) => "失効しています".to_owned(),
        };
        match lang {
            Lang::En => format!("The bearer token was not accepted: {reason}."),
            Lang::Ja => format!("送信された認証情報は拒否されました: {reason}。"),
        }
    }

    /// The same with its consequence, for a client that did not ask for anything that needs a credential.
    pub fn notice(self, lang: Lang) -> String {
        let text = self.text(lang);
        match lang {
            Lang::En => format!("{text} You are an anonymous caller."),
            Lang::Ja => format!("{text}匿名の呼び出し元として扱われます。"),
        }
    }
}

/// A second since 1970, in UTC.
fn rfc3339(second: u64) -> String {
    let second = i64::try_from(second).unwrap_or_default();
    let (year, month, day) = calendar::date(second.div_euclid(86_400));
    let time = second.rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

/// The caller can't be known now; nothing may be decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the caller can't be identified now: {reason}; try again, and check the store if it stays")]
pub struct IdentityUnavailable {
    pub reason: String,
    /// Whom the credential was last known to stand for. Good for showing a list; nothing may be done on its word.
    pub last_known: Option<Arc<Caller>>,
}

impl<'a> Credentials<'a> {
    /// Adds what the message's parameters carry.
    pub(crate) fn with_params(mut self, params: &Params<'a>) -> Result<Self, Refusal> {
        let token = |raw: Option<&'a str>, place: &str| match raw.map(text::string) {
            None => Ok(None),
            Some(Some(token)) => Ok(Some(token)),
            Some(None) => Err(Refusal::params(format!("{place} must be a string"))),
        };
        self.meta_token = token(params.meta.token, "_meta[\"toolgate/token\"]")?;
        self.params_token = token(params.token, "params.token")?;
        // Arguments belong to the tool; one of another type is an argument error for its schema to report.
        self.session_token = params.session_token.and_then(text::string);
        self.coordinator_token = params.coordinator_token.and_then(text::string);
        Ok(self)
    }

    pub(crate) fn to_kept(&self) -> KeptCredentials {
        let own = |token: &Option<Cow<'a, str>>| token.as_deref().map(str::to_owned);
        KeptCredentials {
            bearer: self.bearer.map(str::to_owned),
            meta_token: own(&self.meta_token),
            params_token: own(&self.params_token),
            session_token: own(&self.session_token),
            coordinator_token: own(&self.coordinator_token),
            task_keys: self.task_keys.iter().map(|&key| key.to_owned()).collect(),
            browser: self.browser,
            address: self.address,
        }
    }
}

/// Credentials of a stream, kept to be judged again while it is open. No `Debug`: they are secrets.
pub(crate) struct KeptCredentials {
    bearer: Option<String>,
    meta_token: Option<String>,
    params_token: Option<String>,
    session_token: Option<String>,
    coordinator_token: Option<String>,
    task_keys: Vec<String>,
    browser: bool,
    address: Option<IpAddr>,
}

impl KeptCredentials {
    pub(crate) async fn identify(&self, identify: &dyn Identify) -> Result<Identified, IdentityUnavailable> {
        let task_keys: Vec<&str> = self.task_keys.iter().map(String::as_str).collect();
        let credentials = Credentials {
            bearer: self.bearer.as_deref(),
            meta_token: self.meta_token.as_deref().map(Cow::Borrowed),
            params_token: self.params_token.as_deref().map(Cow::Borrowed),
            session_token: self.session_token.as_deref().map(Cow::Borrowed),
            coordinator_token: self.coordinator_token.as_deref().map(Cow::Borrowed),
            task_keys: &task_keys,
            browser: self.browser,
            address: self.address,
        };
        identify.identify(credentials).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_says_why_and_when_and_what_it_comes_to() {
        let expired = Rejection::Expired { at: 951_868_799 };
        assert_eq!(
            expired.notice(Lang::En),
            "The bearer token was not accepted: it expired at 2000-02-29T23:59:59Z. You are an anonymous caller."
        );
        assert!(expired.text(Lang::Ja).contains("2000-02-29T23:59:59Z"));
        assert!(Rejection::OtherKey.text(Lang::En).contains("was it made with another --data folder?"));
    }
}
