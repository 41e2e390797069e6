//! Between guarding and recording: a call that needs a person's yes gets it, or says how.
//!
//! INVARIANT: a yes is for one call, or for one plan: this caller, tool, definition, arguments and rulebook. It is used up by
//! being taken; of the calls, only the steps of that plan run on it.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use toolgate_core::{Caller, Denial, pin::Canonical};
use toolgate_store::{Answer, Approval, ApprovalState, AskFault, Binding, Change, NewApproval, Scope, Taken};

use crate::{
    Books, Guarded, Outcome, Spine,
    books::{now, scope_of},
    planning::StepOf,
};

/// What a person is asked to say yes to: a call, or a plan of calls.
pub(crate) struct Asked {
    pub(crate) binding: Binding,
    pub(crate) owner: String,
    /// What the approver sees, as JSON: this is what runs.
    pub(crate) shown: String,
    pub(crate) four_eyes: bool,
}

/// A yes, taken.
pub(crate) enum Yes {
    ToThisCall(Taken),
    /// To the plan that the call is a step of.
    ToItsPlan(Approval),
}

impl Yes {
    pub(crate) fn approval(&self) -> &Approval {
        match self {
            Self::ToThisCall(taken) => taken.approval(),
            Self::ToItsPlan(approval) => approval,
        }
    }
}

/// Why there is no yes.
pub(crate) enum NoYes {
    /// Nobody answered yet.
    Pending {
        approval: String,
    },
    Denied {
        reason: Option<String>,
    },
    Unavailable(String),
}

impl Spine {
    /// `None` where no approval is needed.
    pub(crate) async fn approved(
        &self,
        guarded: &Guarded,
        step: Option<&StepOf<'_>>,
    ) -> Result<Option<Yes>, Box<Outcome>> {
        let decided = &guarded.decided;
        let Some(denial) = decided.needs.clone().filter(|_| !decided.dry_run) else { return Ok(None) };
        let tool = Arc::clone(&decided.tool);
        if let Some(step) = step {
            let covered = step.yes(&decided.house).map(|approval| Some(Yes::ToItsPlan(approval.clone())));
            return covered.ok_or_else(|| Box::new(Outcome::NeedsApproval { tool, denial, approval: None }));
        }
        let Some(books) = &self.books else {
            return Err(Box::new(Outcome::NeedsApproval { tool, denial, approval: None }));
        };
        let asked = asked(books, guarded, &denial);
        let unbound = || NoYes::Unavailable("its arguments can't be bound to an approval".to_owned());
        let taken = match asked.ok_or_else(unbound) {
            Ok(asked) => books.yes_to(&asked, decided.wait).await,
            Err(no) => Err(no),
        };
        taken.map(|taken| Some(Yes::ToThisCall(taken))).map_err(|no| {
            Box::new(match no {
                NoYes::Pending { approval } => Outcome::NeedsApproval { tool, denial, approval: Some(approval) },
                NoYes::Unavailable(message) => Outcome::Unavailable { tool, message },
                NoYes::Denied { reason } => {
                    let denial = refused(&tool.called(), reason.as_deref(), &denial);
                    Outcome::Denied { tool, denial, needs_identity: false, missing_scopes: Vec::new() }
                }
            })
        })
    }

    /// Answers an approval in the name of `by`, as far as it may.
    pub async fn answer_approval(&self, by: &Caller, id: &str, grant: bool) -> Result<(), String> {
        let Some(books) = &self.books else { return Err("nothing keeps approvals here".to_owned()) };
        let answer = if grant {
            let until =
                now().saturating_add(i64::try_from(books.settings.approval_ttl.as_millis()).unwrap_or(i64::MAX));
            Answer::Grant { by: by.principal(), uses: 1, until }
        } else {
            Answer::Deny { by: by.principal(), reason: None }
        };
        books
            .store
            .approvals()
            .answer(&scope_of(by), id, answer, now())
            .await
            .map(drop)
            .map_err(|fault| fault.to_string())
    }

    /// Whether this caller's own client may be asked for an approval.
    pub fn may_ask_client_of(&self, caller: &Caller) -> bool {
        self.books.as_ref().is_some_and(|books| books.may_ask_client_of(&caller.principal()))
    }

    /// What an approval shows, to whoever may see it.
    pub async fn shown_of(&self, caller: &Caller, id: &str) -> Option<String> {
        let books = self.books.as_ref()?;
        let approval = books.store.approvals().get(&scope_of(caller), id, now()).await.ok()??;
        Some(approval.shown)
    }
}

impl Books {
    /// Takes the yes to exactly this, or asks for it, and waits as long as it may for an answer.
    pub(crate) async fn yes_to(&self, asked: &Asked, wait: Option<Duration>) -> Result<Taken, NoYes> {
        // heard from before the first look, so that an answer in between is not missed
        let mut changes = wait.is_some().then(|| self.store.changes());
        let until = wait.map(|wait| tokio::time::Instant::now() + wait);
        loop {
            let taken = self.store.approvals().take(&asked.binding, now()).await;
            if let Some(taken) = taken.map_err(|fault| unkept(&fault))? {
                return Ok(taken);
            }
            let question = self.store.approvals().ask(self.question(asked)).await.map_err(|fault| match fault {
                AskFault::Store(fault) => unkept(&fault),
                fault => NoYes::Unavailable(fault.to_string()),
            })?;
            let pending = NoYes::Pending { approval: question.id.clone() };
            let (Some(changes), Some(until)) = (&mut changes, until) else { return Err(pending) };
            if !answered(changes, &question.id, until).await {
                return Err(pending);
            }
            let answer = self.store.approvals().get(&Scope::Everything, &question.id, now()).await;
            if let Ok(Some(approval)) = answer
                && approval.state == ApprovalState::Denied
            {
                return Err(NoYes::Denied { reason: approval.reason });
            }
        }
    }

    fn question(&self, asked: &Asked) -> NewApproval {
        let ttl = i64::try_from(self.settings.approval_ttl.as_millis()).unwrap_or(i64::MAX);
        NewApproval {
            binding: asked.binding.clone(),
            owner: asked.owner.clone(),
            shown: asked.shown.clone(),
            four_eyes: asked.four_eyes,
            asked_at: now(),
            expires: now().saturating_add(ttl),
            wide: None,
        }
    }
}

/// Why is the operator's to know, not a caller's.
fn unkept(fault: &toolgate_store::StoreError) -> NoYes {
    tracing::error!(%fault, "approvals can't be kept");
    NoYes::Unavailable("approvals can't be looked up now; try again, and tell the operator if it stays".to_owned())
}

/// A person's no in words.
pub(crate) fn refused(what: &str, reason: Option<&str>, denial: &Denial) -> Denial {
    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let message = format!("{what} was not approved{why}");
    Denial { code: "approval_denied".to_owned(), message, remedy: None, ..denial.clone() }
}

/// Who may say yes by default: the person behind a caller.
pub(crate) fn owner_of(caller: &Caller) -> String {
    caller.user.as_ref().map_or_else(|| caller.principal(), |user| format!("user:{user}"))
}

/// `None` where the arguments have no digest.
fn asked(books: &Books, guarded: &Guarded, denial: &Denial) -> Option<Asked> {
    let decided = &guarded.decided;
    let (caller, guard) = (&decided.caller, decided.house.guard(&decided.tool)?);
    let arguments = guard.redactor.clone().with_digests(&books.redaction_key).json(guarded.arguments.get());
    let shown = Shown {
        tool: decided.tool.name.as_str(),
        arguments: serde_json::from_str(&arguments).unwrap_or_default(),
        why: &denial.message,
    };
    Some(Asked {
        binding: Binding {
            asked_by: caller.principal(),
            tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
            flow: caller.flow.as_ref().map(|flow| flow.id.clone()),
            tool: decided.tool.name.to_string(),
            tool_digest: guard.digest,
            arguments_digest: Canonical::of(guarded.arguments.get()).ok()?.digest().into(),
            rulebook_digest: decided.house.gate.rulebook().digest(),
        },
        owner: owner_of(caller),
        shown: serde_json::to_string(&shown).unwrap_or_default(),
        four_eyes: decided.tool.facts.four_eyes,
    })
}

/// What an approver is shown.
#[derive(Serialize)]
pub(crate) struct Shown<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: serde_json::Value,
    pub(crate) why: &'a str,
}

/// False once nobody waits any longer.
async fn answered(changes: &mut toolgate_store::Changes, id: &str, until: tokio::time::Instant) -> bool {
    loop {
        match tokio::time::timeout_at(until, changes.next()).await {
            Ok(Some(Change::Approval { id: answered })) if answered == id => return true,
            Ok(Some(Change::Resync | Change::Flow { .. })) => return true,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
    }
}
