//! Bounds on what one user may have open: questions to people, plans and flows.

use std::time::Duration;

use toolgate_store::{Approval, Binding, StoreError};

use crate::{Books, approving::NoYes, books::now};

/// Bytes of what one person is shown: nobody reads more, and what is not read is not approved.
const SHOWN: usize = 256 << 10;

/// The bounds. Absent: no bound.
#[derive(Debug, Clone, Copy, Default)]
pub struct BookLimits {
    pub pending_approvals: Option<u32>,
    /// Of all that the approvers of one user are shown together.
    pub pending_bytes: Option<u64>,
    /// How long the same call is answered with the same denial, before somebody is asked again.
    pub deny_cooldown: Duration,
    pub open_plans: Option<u32>,
    pub open_flows: Option<u32>,
}

/// Whether one more is within a bound.
pub(crate) fn has_room(count: i64, most: Option<u32>) -> bool {
    most.is_none_or(|most| count < i64::from(most))
}

impl Books {
    /// A denial of the very same thing, as long as nobody is to be asked again. Who was denied a call is not asked away by
    /// asking for more calls at once.
    pub(crate) async fn denied_lately(&self, binding: &Binding, wide: bool) -> Result<Option<Approval>, StoreError> {
        let cooldown = i64::try_from(self.settings.limits.deny_cooldown.as_millis()).unwrap_or(i64::MAX);
        if cooldown == 0 {
            return Ok(None);
        }
        let (approvals, since) = (self.store.approvals(), now().saturating_sub(cooldown));
        match approvals.denied_since(binding, false, since).await? {
            None if wide => approvals.denied_since(binding, true, since).await,
            denied => Ok(denied),
        }
    }

    /// The first of these texts that may be shown to a person, the fullest first.
    pub(crate) async fn first_askable(&self, owner: &str, texts: Vec<String>) -> Result<String, NoYes> {
        let mut refused = None;
        for shown in texts {
            match self.may_ask(owner, &shown).await {
                Ok(()) => return Ok(shown),
                Err(no @ NoYes::TooMany(_)) => refused = Some(no),
                Err(no) => return Err(no),
            }
        }
        Err(refused.unwrap_or_else(|| NoYes::TooMany("there is nothing to show".to_owned())))
    }

    /// Whether one more question may be asked in this owner's name.
    async fn may_ask(&self, owner: &str, shown: &str) -> Result<(), NoYes> {
        let limits = &self.settings.limits;
        if shown.len() > SHOWN {
            let message =
                format!("what a person would be shown has {} bytes, and may have {SHOWN}; send less", shown.len());
            return Err(NoYes::TooMany(message));
        }
        if limits.pending_approvals.is_none() && limits.pending_bytes.is_none() {
            return Ok(());
        }
        let usage = self.store.usage().approvals(owner, now()).await;
        let usage = usage.map_err(|fault| NoYes::Unavailable(crate::approving::unkept(&fault)))?;
        let bytes = u64::try_from(usage.bytes).unwrap_or(0).saturating_add(shown.len() as u64);
        if has_room(usage.count, limits.pending_approvals) && limits.pending_bytes.is_none_or(|most| bytes <= most) {
            return Ok(());
        }
        let message = format!(
            "{} approvals of this user wait for an answer, and no more are asked for; have some answered first: toolgate \
             approvals list --state pending",
            usage.count
        );
        Err(NoYes::TooMany(message))
    }
}
