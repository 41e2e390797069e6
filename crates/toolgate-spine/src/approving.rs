//! Between guarding and recording: a call that needs a person's yes gets it, or says how.
//!
//! INVARIANT: a yes is for one call: this caller, tool, definition, arguments and rulebook. It is used up by being taken.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use toolgate_core::{Caller, Denial, pin::Canonical};
use toolgate_store::{Answer, Approval, AskFault, Binding, Change, NewApproval, Scope, Taken};

use crate::{
    Books, Guarded, Outcome, Spine,
    books::{now, scope_of},
};

/// What an approver is shown: this is what runs.
#[derive(Serialize)]
struct Shown<'a> {
    tool: &'a str,
    arguments: serde_json::Value,
    why: &'a str,
}

impl Spine {
    /// `None` where no approval is needed.
    pub(crate) async fn approved(
        &self,
        guarded: &Guarded,
        wait: Option<Duration>,
    ) -> Result<Option<Taken>, Box<Outcome>> {
        let decided = &guarded.decided;
        let Some(denial) = decided.needs.clone().filter(|_| !decided.dry_run) else { return Ok(None) };
        let tool = Arc::clone(&decided.tool);
        let Some(books) = &self.books else {
            return Err(Box::new(Outcome::NeedsApproval { tool, denial, approval: None }));
        };
        let unavailable = |message: String| Box::new(Outcome::Unavailable { tool: Arc::clone(&tool), message });
        let binding =
            binding(guarded).ok_or_else(|| unavailable("its arguments can't be bound to an approval".into()))?;
        // heard from before the first look, so that an answer in between is not missed
        let mut changes = wait.is_some().then(|| books.store.changes());
        let until = wait.map(|wait| tokio::time::Instant::now() + wait);
        loop {
            let taken = books.store.approvals().take(&binding, now()).await;
            if let Some(taken) = taken.map_err(|fault| unavailable(unkept(&fault)))? {
                return Ok(Some(taken));
            }
            let asked = ask(books, guarded, &binding, &denial).await.map_err(|fault| match fault {
                AskFault::Store(fault) => unavailable(unkept(&fault)),
                fault => unavailable(fault.to_string()),
            })?;
            let needs = || Outcome::NeedsApproval {
                tool: Arc::clone(&tool),
                denial: denial.clone(),
                approval: Some(asked.id.clone()),
            };
            let (Some(changes), Some(until)) = (&mut changes, until) else { return Err(Box::new(needs())) };
            if !answered(changes, &asked.id, until).await {
                return Err(Box::new(needs()));
            }
            let refused = books.store.approvals().get(&Scope::Everything, &asked.id, now()).await;
            if let Ok(Some(approval)) = refused
                && let Some(outcome) = denied(&approval, &tool, &denial)
            {
                return Err(Box::new(outcome));
            }
        }
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

/// Why is the operator's to know, not a caller's.
fn unkept(fault: &toolgate_store::StoreError) -> String {
    tracing::error!(%fault, "approvals can't be kept");
    "approvals can't be looked up now; try again, and tell the operator if it stays".to_owned()
}

fn denied(approval: &Approval, tool: &Arc<toolgate_core::Tool>, denial: &Denial) -> Option<Outcome> {
    if approval.state.as_str() != "denied" {
        return None;
    }
    let why = approval.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let message = format!("{} was not approved{why}", tool.called());
    let denial = Denial { code: "approval_denied".to_owned(), message, remedy: None, ..denial.clone() };
    Some(Outcome::Denied { tool: Arc::clone(tool), denial, needs_identity: false, missing_scopes: Vec::new() })
}

async fn ask(books: &Books, guarded: &Guarded, binding: &Binding, denial: &Denial) -> Result<Approval, AskFault> {
    let decided = &guarded.decided;
    let redactor = decided.house.guard(&decided.tool).map(|guard| guard.redactor.clone()).unwrap_or_default();
    let arguments = redactor.with_digests(&books.redaction_key).json(guarded.arguments.get());
    let shown = Shown {
        tool: decided.tool.name.as_str(),
        arguments: serde_json::from_str(&arguments).unwrap_or_default(),
        why: &denial.message,
    };
    let ttl = i64::try_from(books.settings.approval_ttl.as_millis()).unwrap_or(i64::MAX);
    let user = decided.caller.user.as_ref().map(|user| format!("user:{user}"));
    let new = NewApproval {
        binding: binding.clone(),
        owner: user.unwrap_or_else(|| decided.caller.principal()),
        shown: serde_json::to_string(&shown).unwrap_or_default(),
        four_eyes: decided.tool.facts.four_eyes,
        asked_at: now(),
        expires: now().saturating_add(ttl),
        wide: None,
    };
    books.store.approvals().ask(new).await
}

fn binding(guarded: &Guarded) -> Option<Binding> {
    let decided = &guarded.decided;
    let caller = &decided.caller;
    Some(Binding {
        asked_by: caller.principal(),
        tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
        flow: caller.flow.as_ref().map(|flow| flow.id.clone()),
        tool: decided.tool.name.to_string(),
        tool_digest: decided.house.guard(&decided.tool)?.digest,
        arguments_digest: Canonical::of(guarded.arguments.get()).ok()?.digest().into(),
        rulebook_digest: decided.house.gate.rulebook().digest(),
    })
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
