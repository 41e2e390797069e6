//! Between guarding and recording: a call that needs a person's yes gets it, or says how.
//!
//! INVARIANT: a yes is for what was asked: this caller, tool, definition, rulebook, and these arguments unless more was asked
//! for and granted. It is used up by being taken. A call that names an approval runs on that one or not at all.

use std::sync::Arc;

use toolgate_core::{Denial, Kind, Tool, pin::Canonical};
use toolgate_store::{Approval, ApprovalState, AskFault, Binding, Change, Scope, Taken};

use crate::{
    Books, Call, Guarded, Outcome, Spine,
    asking::ask,
    books::{now, scope_of},
};

impl Spine {
    /// `None` where no approval is needed.
    pub(crate) async fn approved(&self, guarded: &Guarded, call: &Call<'_>) -> Result<Option<Taken>, Box<Outcome>> {
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
        let mut changes = call.wait.is_some().then(|| books.store.changes());
        let until = call.wait.map(|wait| tokio::time::Instant::now() + wait);
        loop {
            let approvals = books.store.approvals();
            let asked = match call.approval {
                Some(id) => match come_back(books, guarded, &binding, id, &denial).await? {
                    Back::Taken(taken) => return Ok(Some(taken)),
                    Back::Waiting(approval) => approval,
                },
                None => {
                    let taken = approvals.take(&binding, now()).await;
                    if let Some(taken) = taken.map_err(|fault| unavailable(unkept(&fault)))? {
                        return Ok(Some(taken));
                    }
                    ask(books, guarded, &binding, &denial, call.breadth).await.map_err(|fault| match fault {
                        AskFault::Store(fault) => unavailable(unkept(&fault)),
                        AskFault::WideWithoutFlow | AskFault::WideOfNothing => {
                            decided.refuse("approval_scope", fault.to_string())
                        }
                        fault => unavailable(fault.to_string()),
                    })?
                }
            };
            let id = asked.id.clone();
            let needs = Outcome::NeedsApproval {
                tool: Arc::clone(&tool),
                denial: denial.clone(),
                approval: Some(Box::new(asked)),
            };
            let (Some(changes), Some(until)) = (&mut changes, until) else { return Err(Box::new(needs)) };
            if !answered(changes, &id, until).await {
                return Err(Box::new(needs));
            }
            let answer = approvals.get(&Scope::Everything, &id, now()).await;
            if let Ok(Some(approval)) = answer
                && approval.state == ApprovalState::Denied
            {
                return Err(Box::new(over(&approval, &tool, &denial)));
            }
        }
    }
}

/// Why is the operator's to know, not a caller's.
pub(crate) fn unkept(fault: &toolgate_store::StoreError) -> String {
    tracing::error!(%fault, "approvals can't be kept");
    "approvals can't be looked up now; try again, and tell the operator if it stays".to_owned()
}

/// What a call that names an approval comes back to.
enum Back {
    Taken(Taken),
    Waiting(Approval),
}

async fn come_back(
    books: &Books,
    guarded: &Guarded,
    binding: &Binding,
    id: &str,
    denial: &Denial,
) -> Result<Back, Box<Outcome>> {
    let approval = named(books, guarded, binding, id, denial).await?;
    if approval.state == ApprovalState::Pending {
        return Ok(Back::Waiting(approval));
    }
    match books.store.approvals().take_named(binding, id, now()).await {
        Ok(Some(taken)) => Ok(Back::Taken(taken)),
        // another call took it meanwhile, or its time came: then that is what is said
        Ok(None) => named(books, guarded, binding, id, denial).await.map(Back::Waiting),
        Err(fault) => {
            let tool = Arc::clone(&guarded.decided.tool);
            Err(Box::new(Outcome::Unavailable { tool, message: unkept(&fault) }))
        }
    }
}

/// The approval a call comes back with, while it may still be granted; else why the call does not run. What another caller
/// asked for is as unknown as what nobody did.
async fn named(
    books: &Books,
    guarded: &Guarded,
    binding: &Binding,
    id: &str,
    denial: &Denial,
) -> Result<Approval, Box<Outcome>> {
    let tool = &guarded.decided.tool;
    let found = books.store.approvals().get(&scope_of(&guarded.decided.caller), id, now()).await;
    let found =
        found.map_err(|fault| Box::new(Outcome::Unavailable { tool: Arc::clone(tool), message: unkept(&fault) }))?;
    let shown: String = id.chars().take(100).collect();
    let Some(approval) = found.filter(|approval| approval.binding.asked_by == binding.asked_by) else {
        let message = format!("There is no approval '{shown}' of this caller.");
        return Err(Box::new(refused(tool, denial, "approval_unknown", message, ASK_ANEW)));
    };
    if !approval.covers(binding) {
        let message = format!("Approval '{shown}' is for another call: its tool, arguments, flow or rules are others.");
        let remedy = "Make the very call that it is for, or call without _meta[\"toolgate/approval\"] to ask anew.";
        return Err(Box::new(refused(tool, denial, "approval_mismatch", message, remedy)));
    }
    match approval.state {
        ApprovalState::Pending | ApprovalState::Granted => Ok(approval),
        _ => Err(Box::new(over(&approval, tool, denial))),
    }
}

const ASK_ANEW: &str = "Call without _meta[\"toolgate/approval\"] to ask anew.";

/// What an approval that nothing can run on any more says.
fn over(approval: &Approval, tool: &Arc<Tool>, denial: &Denial) -> Outcome {
    let id = &approval.id;
    let (code, message) = match approval.state {
        ApprovalState::Denied => {
            let why = approval.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            ("approval_denied", format!("{} was not approved{why}", tool.called()))
        }
        ApprovalState::Expired => ("approval_expired", format!("Approval '{id}' has expired.")),
        ApprovalState::Ended => ("approval_ended", format!("Approval '{id}' ended with its flow.")),
        _ => ("approval_spent", format!("Approval '{id}' was used already.")),
    };
    refused(tool, denial, code, message, ASK_ANEW)
}

fn refused(tool: &Arc<Tool>, denial: &Denial, code: &str, message: String, remedy: &str) -> Outcome {
    let denial = Denial { code: code.to_owned(), message, remedy: Some(remedy.to_owned()), rule: denial.rule.clone() };
    Outcome::Denied { tool: Arc::clone(tool), denial, needs_identity: false, missing_scopes: Vec::new() }
}

fn binding(guarded: &Guarded) -> Option<Binding> {
    let decided = &guarded.decided;
    let caller = &decided.caller;
    Some(Binding {
        asked_by: caller.principal(),
        tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
        flow: caller.flow.as_ref().map(|flow| flow.id.clone()),
        tool: match decided.tool.kind {
            // a pattern of addresses stands for many: what is approved is the one
            Kind::Template | Kind::Address => decided.asked.clone(),
            _ => decided.tool.name.to_string(),
        },
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
