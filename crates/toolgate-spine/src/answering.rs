//! Answering an approval: one way, whether it is said over HTTP, at a caller's own client or on the command line.
//!
//! Who may say yes is decided by the rulebook. To say no takes no more than to see it: it only narrows.

use std::time::Duration;

use toolgate_core::{AskedFacts, Caller, Decision, Denial, Lang, redact::Redactor};
use toolgate_store::{
    Answer, AnswerFault, Approval, ApprovalFilter, Page, Paging, Scope, StoreError, ledger::LedgerUnavailable,
};

use crate::{
    Books, Spine,
    answer_record::{AnswerRecord, Approver},
    asking::tools_of,
    books::now,
};

/// What an approver says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Say {
    Yes {
        /// The call that asked alone, also where more was asked for.
        once: bool,
        /// How long the yes holds from now; absent: as long as is configured, or less where less was asked for.
        holds: Option<Duration>,
    },
    No {
        reason: Option<String>,
    },
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerProblem {
    /// It may be seen, and not be granted, by this caller.
    #[error("{}", .0.message)]
    Denied(Denial),
    #[error(transparent)]
    Fault(#[from] AnswerFault),
    #[error("an answer that can't be recorded does not count: {0}")]
    Unrecorded(LedgerUnavailable),
}

impl Books {
    /// Answers an approval that is in scope. Who may is settled before.
    ///
    /// INVARIANT: an answer is on record before it counts; one that then does not count is followed by a record that says so.
    pub async fn answer(
        &self,
        scope: &Scope,
        asked: &Approval,
        approver: &Approver<'_>,
        say: Say,
    ) -> Result<Approval, AnswerProblem> {
        let (now, by) = (now(), approver.by.to_owned());
        let answer = match say {
            Say::No { reason } => Answer::Deny { by, reason },
            Say::Yes { once, holds } => {
                // nobody grants for longer than any approval lasts
                let holding = holds.unwrap_or(self.settings.approval_ttl).min(self.settings.approval_ttl);
                let end = now.saturating_add(i64::try_from(holding.as_millis()).unwrap_or(i64::MAX));
                match asked.wide {
                    None => Answer::Grant { by, uses: 1, until: end },
                    Some(_) if once => Answer::GrantOnce { by, until: end },
                    // who names no time means no more than what was asked for
                    Some(wide) => {
                        let until = if holds.is_none() { end.min(wide.until) } else { end };
                        Answer::Grant { by, uses: wide.uses, until }
                    }
                }
            }
        };
        let answer = without_secrets(answer);
        let record = AnswerRecord::of(asked, approver, &answer);
        record.said(self).await.map_err(AnswerProblem::Unrecorded)?;
        match self.store.approvals().answer(scope, &asked.id, answer, now).await {
            Ok(approval) => Ok(approval),
            Err(fault) => {
                record.refused(self, &fault).await;
                Err(fault.into())
            }
        }
    }
}

/// The code of a record of an answer to an approval that its caller may not see.
const NOT_SEEN: &str = "not_visible";

/// An answer that was not let through, as its record has it: without the words of its reason.
fn attempted(by: &str, say: &Say) -> Answer {
    let by = by.to_owned();
    match say {
        Say::Yes { .. } => Answer::GrantOnce { by, until: now() },
        Say::No { .. } => Answer::Deny { by, reason: None },
    }
}

/// A reason is shown to others and kept.
fn without_secrets(answer: Answer) -> Answer {
    match answer {
        Answer::Deny { by, reason } => {
            let redactor = Redactor::default();
            Answer::Deny { by, reason: reason.map(|reason| redactor.text(&reason).into_owned()) }
        }
        answer => answer,
    }
}

fn unknown(id: &str) -> AnswerFault {
    AnswerFault::Unknown { id: id.chars().take(100).collect() }
}

/// Pages that one look goes through at the most, so that who sees nothing does not read everything.
const PAGES: usize = 10;

impl Spine {
    /// Answers an approval in the name of a caller, as far as the rulebook lets it. What it may not see does not exist.
    pub async fn answer_approval(
        &self,
        by: &Caller,
        at_client: bool,
        id: &str,
        say: Say,
        lang: Lang,
    ) -> Result<Approval, AnswerProblem> {
        let Some(books) = &self.books else { return Err(unknown(id).into()) };
        let found = books.store.approvals().get(&Scope::Everything, id, now()).await.map_err(AnswerFault::Store)?;
        let approval = found.ok_or_else(|| unknown(id))?;
        let decision = self.may_approve(by, at_client, &approval, lang);
        let (principal, house) = (by.principal(), self.house());
        let approver = Approver { by: &principal, who: by, rules: &house.rules };
        let attempt = || AnswerRecord::of(&approval, &approver, &attempted(&principal, &say));
        match (decision, &say) {
            (Decision::Allow, _) => {}
            (_, Say::No { .. }) if is_theirs(by, &approval) => {}
            (Decision::Deny(denial) | Decision::NeedsApproval(denial), Say::Yes { .. }) if is_theirs(by, &approval) => {
                attempt().not_allowed(books, &denial.code, Some(&denial.rule));
                return Err(AnswerProblem::Denied(denial));
            }
            // on record, though the caller learns nothing of it
            _ => {
                attempt().not_allowed(books, NOT_SEEN, None);
                return Err(unknown(id).into());
            }
        }
        books.answer(&Scope::Everything, &approval, &approver, say).await
    }

    /// Returns true if the operator trusts this caller's client to ask a person: `[approvals] ask_clients_of`.
    pub fn trusts_client_of(&self, caller: &Caller) -> bool {
        self.books.as_ref().is_some_and(|books| books.may_ask_client_of(&caller.principal()))
    }

    /// Whether the person at this caller's own client may be asked: the operator trusts the client, and the answer would count.
    pub fn may_ask_client(&self, caller: &Caller, approval: &Approval) -> bool {
        self.trusts_client_of(caller) && self.may_approve(caller, true, approval, Lang::En) == Decision::Allow
    }

    /// An approval that this caller may see: its own, or one it may approve.
    pub async fn approval(&self, by: &Caller, id: &str) -> Result<Option<Approval>, StoreError> {
        let Some(books) = &self.books else { return Ok(None) };
        let found = books.store.approvals().get(&Scope::Everything, id, now()).await?;
        Ok(found.filter(|approval| self.sees(by, approval)))
    }

    /// Those this caller may see, newest first. A page may be short and have a next one all the same.
    pub async fn approvals(
        &self,
        by: &Caller,
        filter: &ApprovalFilter,
        paging: &Paging,
    ) -> Result<Page<Approval>, StoreError> {
        let (mut items, mut next) = (Vec::new(), paging.after.clone());
        let Some(books) = &self.books else { return Ok(Page { items, next: None }) };
        let scope = match &by.tenant {
            _ if by.operator => Scope::Everything,
            tenant => Scope::Tenant(tenant.as_ref().map(|tenant| tenant.id.clone())),
        };
        let wanted = usize::try_from(paging.limit).unwrap_or(usize::MAX);
        for _ in 0..PAGES {
            let left = u32::try_from(wanted.saturating_sub(items.len())).unwrap_or(u32::MAX);
            let page = Paging { limit: left, after: next };
            let page = books.store.approvals().list(&scope, filter, now(), &page).await?;
            items.extend(page.items.into_iter().filter(|approval| self.sees(by, approval)));
            next = page.next;
            if next.is_none() || items.len() >= wanted {
                break;
            }
        }
        Ok(Page { items, next })
    }

    /// How long a yes holds where nobody says.
    pub fn approval_ttl(&self) -> Duration {
        self.books.as_ref().map(|books| books.settings.approval_ttl).unwrap_or_default()
    }

    fn sees(&self, by: &Caller, approval: &Approval) -> bool {
        is_theirs(by, approval) || self.may_approve(by, false, approval, Lang::En) == Decision::Allow
    }

    fn may_approve(&self, by: &Caller, at_client: bool, approval: &Approval, lang: Lang) -> Decision {
        let bound = &approval.binding;
        let person = by.person();
        let asked = AskedFacts {
            asker: &bound.asked_by,
            tenant: bound.tenant.as_deref(),
            flow: bound.flow.as_deref(),
            owner: person.is_some_and(|person| person == approval.owner) || by.principal() == bound.asked_by,
            four_eyes: approval.four_eyes,
            wide: approval.wide.is_some(),
            at_client,
        };
        let gate = self.gate();
        // a plan takes a yes of somebody who may say it to every call in it
        let decisions = tools_of(approval).into_iter().map(|tool| gate.decide_approve(by, &tool, &asked, lang));
        decisions.into_iter().find(|decision| *decision != Decision::Allow).unwrap_or(Decision::Allow)
    }
}

/// Who asked for it, and the person who did so through an agent or a task.
fn is_theirs(by: &Caller, approval: &Approval) -> bool {
    let (principal, tenant) = (by.principal(), by.tenant.as_ref().map(|tenant| tenant.id.as_str()));
    by.is_signed_in()
        && tenant == approval.binding.tenant.as_deref()
        && (principal == approval.owner || principal == approval.binding.asked_by)
}
