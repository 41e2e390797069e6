//! Webhooks: people are told of approvals by a signed POST to addresses the operator chose.
//!
//! Nothing waits for them: what happened stands in the store, a task of its own looks there and tells it, and a call never
//! knows. Each notice is claimed by one replica; who can't be reached is tried again, and given up after a while.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::hmac;
use reqwest::{Client, Url, redirect::Policy};
use serde_json::json;
use tokio::{sync::watch, task::JoinSet};
use toolgate_core::hex;
use toolgate_spine::approval_json;
use toolgate_store::{Notice, NoticeEvent, Store};

use crate::identity::Secret;

/// An address that is told, and what its notices are signed with.
pub struct Webhook {
    url: Url,
    secret: Secret,
    events: Vec<NoticeEvent>,
}

/// Why an entry is no webhook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    #[error("the url '{0}' is not https://… or http://…")]
    Url(String),
    #[error("the secret for '{0}' has fewer than 16 bytes; make a longer one: openssl rand -hex 32")]
    Secret(String),
    #[error("there is no event '{0}'; there are: asked, answered, expired")]
    Event(String),
}

impl Webhook {
    /// No events are all of them.
    pub fn new(url: &str, secret: Secret, events: &[String]) -> Result<Self, BadWebhook> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let parsed = parsed.ok_or_else(|| BadWebhook::Url(url.to_owned()))?;
        if secret.expose().len() < 16 {
            return Err(BadWebhook::Secret(url.to_owned()));
        }
        let event = |word: &String| NoticeEvent::parse(word).ok_or_else(|| BadWebhook::Event(word.clone()));
        let events = match events {
            [] => NoticeEvent::ALL.to_vec(),
            some => some.iter().map(event).collect::<Result<_, _>>()?,
        };
        Ok(Self { url: parsed, secret, events })
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("url", &self.url.as_str()).field("events", &self.events).finish_non_exhaustive()
    }
}

/// How often the store is looked at, and how much is told at once.
const EVERY: Duration = Duration::from_secs(1);
const AT_ONCE: u32 = 16;
/// What is older than this is no news.
const NEWS: Duration = Duration::from_secs(60 * 60);
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// Pauses before each further try.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(8), Duration::from_secs(30)];
/// Longer than all tries take together, so that nobody else tells what is being told.
const CLAIMED: Duration = Duration::from_secs(120);

/// Tells until told to stop. What was not told by then is told by another replica, or after the next start.
pub async fn tell(store: Store, webhooks: Vec<Webhook>, mut stopped: watch::Receiver<bool>) {
    let client = match Client::builder().redirect(Policy::none()).timeout(ANSWERED_WITHIN).build() {
        Ok(client) => client,
        Err(fault) => return tracing::error!(%fault, "webhooks can't be sent"),
    };
    let webhooks: Arc<[Arc<Webhook>]> = webhooks.into_iter().map(Arc::new).collect();
    // dropped with this task: what was being told then is told again
    let mut telling = JoinSet::new();
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = stopped.wait_for(|stopped| *stopped) => return,
        }
        while telling.try_join_next().is_some() {}
        let room = AT_ONCE.saturating_sub(u32::try_from(telling.len()).unwrap_or(AT_ONCE));
        if room == 0 {
            continue;
        }
        let now = now();
        match store.notices().claim(now, now - millis(NEWS), now + millis(CLAIMED), room).await {
            Ok(notices) => {
                for notice in notices {
                    telling.spawn(tell_all(store.clone(), client.clone(), Arc::clone(&webhooks), notice));
                }
            }
            Err(fault) => tracing::warn!(%fault, "what is to be told of approvals can't be looked up"),
        }
    }
}

/// Everybody at once, so that who does not answer keeps nobody else waiting.
async fn tell_all(store: Store, client: Client, webhooks: Arc<[Arc<Webhook>]>, notice: Notice) {
    let notice = Arc::new(notice);
    let mut deliveries = JoinSet::new();
    for webhook in webhooks.iter().filter(|webhook| webhook.events.contains(&notice.event)) {
        let (client, webhook, notice) = (client.clone(), Arc::clone(webhook), Arc::clone(&notice));
        deliveries.spawn(async move { deliver(&client, &webhook, &notice).await });
    }
    while deliveries.join_next().await.is_some() {}
    if let Err(fault) = store.notices().told(&notice, now()).await {
        tracing::warn!(%fault, "a notice was told and may be told again");
    }
}

async fn deliver(client: &Client, webhook: &Webhook, notice: &Notice) {
    let (event, approval) = (notice.event, &notice.approval);
    // the same for every try and every replica, so that who is told twice can tell
    let delivery = format!("{}.{event}", approval.id);
    let body = json!({"event": event.as_str(), "delivery": delivery, "approval": approval_json(approval)}).to_string();
    let host = webhook.url.host_str().unwrap_or_default();
    for pause in PAUSES.into_iter().map(Some).chain([None]) {
        let sent = client
            .post(webhook.url.clone())
            .header("Content-Type", "application/json")
            .header("Toolgate-Delivery", &delivery)
            .header("Toolgate-Signature", signature(&webhook.secret, now() / 1000, &body))
            .body(body.clone())
            .send()
            .await;
        let why = match sent {
            Ok(answer) if answer.status().is_success() => return,
            Ok(answer) => answer.status().to_string(),
            // an address may hold a secret: it is not logged
            Err(fault) => fault.without_url().to_string(),
        };
        let Some(pause) = pause else {
            return tracing::warn!(delivery, host, why, "a webhook was not delivered and is given up");
        };
        tracing::debug!(delivery, host, why, "a webhook is tried again");
        tokio::time::sleep(pause).await;
    }
}

/// `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`
pub fn signature(secret: &Secret, at: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose());
    let tag = hmac::sign(&key, format!("{at}.{body}").as_bytes());
    format!("t={at},v1={}", hex(tag.as_ref()))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    millis(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_the_docs_say() {
        // HMAC-SHA256 of "1700000000.{}" with this key, made with OpenSSL
        let secret = Secret::new(*b"0123456789abcdef");
        assert_eq!(
            signature(&secret, 1_700_000_000, "{}"),
            "t=1700000000,v1=e4f8e2ecae2295b2ddb2f0b5584c8275e226c0ebe9b3b819e70156bb67122e3e"
        );
    }

    #[test]
    fn what_is_no_webhook_is_refused_and_the_secret_is_not_shown() {
        let secret = || Secret::new(*b"0123456789abcdef");
        let wrong = |url: &str, secret: Secret, events: &[&str]| {
            let events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
            Webhook::new(url, secret, &events).unwrap_err().to_string()
        };
        assert!(wrong("ftp://x", secret(), &[]).contains("'ftp://x'"));
        assert!(wrong("x", secret(), &[]).contains("'x'"));
        assert!(wrong("http://x", Secret::new(*b"short"), &[]).contains("openssl rand -hex 32"));
        assert!(wrong("http://x", secret(), &["aksed"]).contains("'aksed'"));
        let fine = Webhook::new("https://x/y", secret(), &["asked".to_owned()]).unwrap();
        assert!(!format!("{fine:?}").contains("0123456789"));
    }
}
