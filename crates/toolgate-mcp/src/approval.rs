//! What a call says about a person's yes in its `_meta`, and how that person is asked at the caller's own client.

use std::time::Duration;

use serde::Deserialize;
use toolgate_spine::Breadth;

use crate::{json::text, message::Params, refusal::Refusal};

/// What a call wants done where it needs a yes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    /// How long to wait for one; zero is not at all.
    pub(crate) wait: Duration,
    /// The call says nothing of waiting: `wait` is the operator's default.
    pub(crate) waits_by_default: bool,
    /// The approval it comes back with.
    pub(crate) approval: Option<String>,
    /// More than this call is to be approved.
    pub(crate) breadth: Option<Breadth>,
}

impl Wish {
    pub(crate) fn of(params: &Params<'_>, default_wait: Duration) -> Result<Self, Refusal> {
        let approval =
            match params.meta.approval {
                None | Some("null") => None,
                Some(raw) => Some(text::string(raw).map(Into::into).ok_or_else(|| {
                    Refusal::params("_meta[\"toolgate/approval\"] must be a string: the approval's id")
                })?),
            };
        let wait = wait(params)?;
        Ok(Self {
            wait: wait.unwrap_or(default_wait),
            waits_by_default: wait.is_none(),
            approval,
            breadth: breadth(params)?,
        })
    }
}

/// The longest that a call may wait for a person, in seconds.
const MOST: u64 = 3600;
/// The longest that a call may wait for a person.
pub const MAX_APPROVAL_WAIT: Duration = Duration::from_secs(MOST);

/// Seconds to wait for a person; longer than anybody waits is a mistake. `None` where the call does not say.
fn wait(params: &Params<'_>) -> Result<Option<Duration>, Refusal> {
    match params.meta.wait {
        None | Some("null") => Ok(None),
        Some(raw) => match raw.parse::<u64>() {
            Ok(seconds) if seconds <= MOST => Ok(Some(Duration::from_secs(seconds))),
            _ => Err(Refusal::params(format!("_meta[\"toolgate/wait\"] must be seconds, 0 to {MOST}"))),
        },
    }
}

fn breadth(params: &Params<'_>) -> Result<Option<Breadth>, Refusal> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Scope {
        uses: u32,
        ttl: u32,
    }
    const USES: u32 = 1000;
    const TTL: u32 = 86_400;
    let Some(raw) = params.meta.approval_scope.filter(|raw| *raw != "null") else { return Ok(None) };
    // a list would do for a structure otherwise
    match text::is_object(raw).then(|| serde_json::from_str(raw)) {
        Some(Ok(Scope { uses: uses @ 1..=USES, ttl: ttl @ 1..=TTL })) => {
            Ok(Some(Breadth { uses, lasts: Duration::from_secs(ttl.into()) }))
        }
        _ => Err(Refusal::params(format!(
            "_meta[\"toolgate/approvalScope\"] must be {{\"uses\": 1 to {USES}, \"ttl\": seconds, 1 to {TTL}}} and nothing else"
        ))),
    }
}

/// The person at the caller's own client.
pub(crate) mod at_client {
    use serde_json::{json, value::RawValue};
    use toolgate_spine::{Outcome, Say, approval_question};

    /// What a person is asked: exactly what would run, and where it is more than one call, that it is. `None` where that
    /// can't be shown whole: other ways to answer remain.
    pub(crate) fn question(outcome: &Outcome) -> Option<Box<RawValue>> {
        let approval = outcome.approval()?;
        let message = approval_question(approval)?;
        let mut properties = json!({"approve": {"type": "boolean", "title": "Approve", "default": false}});
        if let Some(properties) = properties.as_object_mut().filter(|_| approval.wide.is_some()) {
            let only = json!({"type": "boolean", "title": "Only the call shown, once", "default": true});
            properties.insert("once".to_owned(), only);
        }
        let schema = json!({"type": "object", "properties": properties, "required": ["approve"]});
        serde_json::value::to_raw_value(&json!({"mode": "form", "message": message, "requestedSchema": schema})).ok()
    }

    /// `None` where nobody decided. Where nothing is said of more, the one call is meant.
    pub(crate) fn said(answer: &RawValue) -> Option<Say> {
        let answer: serde_json::Value = serde_json::from_str(answer.get()).ok()?;
        let no = Some(Say::No { reason: None });
        match answer.get("action")?.as_str()? {
            "accept" => {
                let content = answer.get("content")?;
                let once = content.get("once").and_then(serde_json::Value::as_bool).unwrap_or(true);
                if content.get("approve")?.as_bool()? { Some(Say::Yes { once, holds: None }) } else { no }
            }
            "decline" => no,
            _ => None,
        }
    }
}
