//! Between guarding and recording: a call that needs a person's yes gets it, or says how.
//!
//! INVARIANT: a yes is for what was asked: this caller, tool, definition, rulebook, and these arguments unless more was asked
//! for and granted; or for one plan, whose steps alone run on it. It is used up by being taken. A call that names an
//! approval runs on that one or not at all.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio_util::sync::CancellationToken;
use toolgate_core::{Caller, Denial, Kind, Tool, pin::Canonical};
use toolgate_store::{Approval, ApprovalState, AskFault, Binding, Change, Changes, Scope, StoreError, Taken};

use crate::{
    Books, Call, Client, Guarded, Outcome, ProgressNote, Spine,
    asking::Question,
    books::{now, scope_of},
    planning::StepOf,
};

/// A yes, taken.
pub(crate) enum Yes {
    ToThisCall(Box<Taken>),
    /// To the plan that the call is a step of.
    ToItsPlan(Box<Approval>),
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
    Pending(Box<Approval>),
    Denied(Box<Approval>),
    /// What was asked for can't be granted to anybody.
    Unaskable(AskFault),
    Unavailable(String),
    /// More than one user may ask for.
    TooMany(String),
}

impl From<AskFault> for NoYes {
    fn from(fault: AskFault) -> Self {
        match fault {
            AskFault::Store(fault) => Self::Unavailable(unkept(&fault)),
            fault @ (AskFault::WideWithoutFlow | AskFault::WideOfNothing) => Self::Unaskable(fault),
            fault => Self::Unavailable(fault.to_string()),
        }
    }
}

impl Spine {
    /// `None` where no approval is needed.
    pub(crate) async fn approved(
        &self,
        guarded: &Guarded,
        call: &Call<'_>,
        step: Option<&StepOf<'_>>,
    ) -> Result<Option<Yes>, Box<Outcome>> {
        match guarded.decided.needs.clone().filter(|_| !guarded.decided.dry_run) {
            None => Ok(None),
            // boxed: rare, and too deep to lie inside the future of every call
            Some(denial) => Box::pin(self.sought(guarded, call, step, denial)).await.map(Some),
        }
    }

    async fn sought(
        &self,
        guarded: &Guarded,
        call: &Call<'_>,
        step: Option<&StepOf<'_>>,
        denial: Denial,
    ) -> Result<Yes, Box<Outcome>> {
        let decided = &guarded.decided;
        let tool = Arc::clone(&decided.tool);
        if let Some(step) = step {
            let covered = step.yes(&decided.house, binding(guarded).as_ref());
            return covered.ok_or_else(|| Box::new(Outcome::NeedsApproval { tool, denial, approval: None }));
        }
        let Some(books) = &self.books else {
            return Err(Box::new(Outcome::NeedsApproval { tool, denial, approval: None }));
        };
        let Some(binding) = binding(guarded) else {
            let message = "its arguments can't be bound to an approval".to_owned();
            return Err(Box::new(Outcome::Unavailable { tool, message }));
        };
        let patience = Patience::new(books, (&decided.client, &decided.caller), call.wait);
        let taken = match call.approval {
            Some(id) => {
                let named = books.yes_named(guarded, &binding, (id, &denial), patience).await?;
                named.map(Box::new).map(Yes::ToThisCall)
            }
            None => {
                let question = Question::Call { guarded, denial: &denial, breadth: call.breadth };
                books.yes_to(&binding, &question, patience).await
            }
        };
        taken.map_err(|no| match no {
            NoYes::Pending(approval) => Box::new(Outcome::NeedsApproval { tool, denial, approval: Some(approval) }),
            NoYes::Denied(approval) => Box::new(over(&approval, &tool, &denial)),
            NoYes::Unaskable(fault) => decided.refuse("approval_scope", fault.to_string()),
            NoYes::Unavailable(message) => Box::new(Outcome::Unavailable { tool, message }),
            NoYes::TooMany(message) => decided.refuse("approval_limit", message),
        })
    }
}

impl Outcome {
    /// The outcome of a call whose approval was denied after the call asked for it.
    #[must_use]
    pub fn denied_by(self, approval: &Approval) -> Self {
        match self {
            Self::NeedsApproval { tool, denial, .. } => over(approval, &tool, &denial),
            outcome => outcome,
        }
    }
}

impl Spine {
    /// Nothing ran on it, so that nothing is used up.
    pub(crate) async fn give_back(&self, yes: Option<Yes>) {
        if let (Some(books), Some(Yes::ToThisCall(taken))) = (&self.books, yes) {
            let _ = Box::pin(books.store.approvals().give_back(*taken)).await;
        }
    }
}

impl Books {
    /// Takes the yes to exactly this, or asks for it, and waits as long as it may for an answer.
    pub(crate) async fn yes_to(
        &self,
        binding: &Binding,
        question: &Question<'_>,
        mut patience: Patience<'_>,
    ) -> Result<Yes, NoYes> {
        loop {
            let taken = self.take(binding, question).await;
            if let Some(yes) = taken.map_err(|fault| NoYes::Unavailable(unkept(&fault)))? {
                return Ok(yes);
            }
            let asked = question.ask(self, binding).await?;
            self.wait_for(&mut patience, asked).await?;
        }
    }

    /// A plan's yes is used up and noted in the plan in one step: nobody can stop in between and lose it.
    async fn take(&self, binding: &Binding, question: &Question<'_>) -> Result<Option<Yes>, StoreError> {
        match question {
            Question::Call { .. } => {
                let taken = self.store.approvals().take(binding, now()).await?;
                Ok(taken.map(Box::new).map(Yes::ToThisCall))
            }
            Question::Plan { plan, scope, .. } => {
                let taken = self.store.plans().approve_with(scope, &plan.id, binding, now()).await?;
                Ok(taken.map(Box::new).map(Yes::ToItsPlan))
            }
        }
    }

    /// Takes the yes that the call names, once it is given.
    async fn yes_named(
        &self,
        guarded: &Guarded,
        binding: &Binding,
        (id, denial): (&str, &Denial),
        mut patience: Patience<'_>,
    ) -> Result<Result<Taken, NoYes>, Box<Outcome>> {
        loop {
            let approval = match come_back(self, guarded, binding, id, denial).await? {
                Back::Taken(taken) => return Ok(Ok(taken)),
                Back::Waiting(approval) => approval,
            };
            if let Err(no) = self.wait_for(&mut patience, approval).await {
                return Ok(Err(no));
            }
        }
    }

    /// Whether it is worth looking again.
    async fn wait_for(&self, patience: &mut Patience<'_>, asked: Approval) -> Result<(), NoYes> {
        if !patience.answered(&asked.id).await {
            return Err(NoYes::Pending(Box::new(asked)));
        }
        match self.store.approvals().get(&Scope::Everything, &asked.id, now()).await {
            Ok(Some(approval)) if approval.state == ApprovalState::Denied => Err(NoYes::Denied(Box::new(approval))),
            _ => Ok(()),
        }
    }
}

/// How long a caller waits for a person, and what it hears meanwhile.
pub(crate) struct Patience<'a> {
    client: &'a Client,
    caller: &'a Caller,
    until: Option<Deadline>,
}

/// The end of a wait: an answer, a time, or the end of the gateway.
struct Deadline {
    changes: Changes,
    at: tokio::time::Instant,
    stopping: CancellationToken,
}

impl<'a> Patience<'a> {
    /// Heard from before the first look, so that an answer in between is not missed.
    pub(crate) fn new(books: &Books, (client, caller): (&'a Client, &'a Caller), wait: Option<Duration>) -> Self {
        let until = wait.map(|wait| Deadline {
            changes: books.store.changes(),
            at: tokio::time::Instant::now() + wait,
            stopping: books.stopping.clone(),
        });
        Self { client, caller, until }
    }

    /// False once nobody waits any longer, or where too many calls of the caller wait already.
    async fn answered(&mut self, id: &str) -> bool {
        let Some(Deadline { changes, at, stopping }) = &mut self.until else { return false };
        let client = self.client;
        let answer = async {
            let mut progress = tokio::time::interval(PROGRESS_EVERY);
            loop {
                tokio::select! {
                    biased;
                    change = changes.next() => match change {
                        Some(Change::Approval { id: answered }) if answered == id => return true,
                        Some(Change::Resync | Change::Flow { .. }) => return true,
                        Some(_) => {}
                        None => return false,
                    },
                    () = tokio::time::sleep_until(*at) => return false,
                    () = stopping.cancelled() => return false,
                    _ = progress.tick() => client.report(waiting_note(id)),
                }
            }
        };
        self.client.while_waiting(self.caller, answer).await.unwrap_or(false)
    }
}

/// The time between two reports to a client that wants progress, so that the client does not give up a call that waits.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Progress grows with the clock and stays far below 1: what the tool reports once it runs still goes forward.
fn waiting_note(id: &str) -> ProgressNote {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let message = format!("waiting for a person to answer approval {id}");
    ProgressNote { progress: since.as_secs_f64() / 1e12, total: None, message: Some(message) }
}

/// Why is the operator's to know, not a caller's.
pub(crate) fn unkept(fault: &StoreError) -> String {
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

/// A denied call is not put to a person again at once.
const ASK_LATER: &str = "The denial stands for a while ([approvals] deny_cooldown_seconds). After that, call without \
                         _meta[\"toolgate/approval\"] to ask anew.";
const ASK_ANEW: &str = "Call without _meta[\"toolgate/approval\"] to ask anew.";

/// What an approval that nothing can run on any more says.
fn over(approval: &Approval, tool: &Arc<Tool>, denial: &Denial) -> Outcome {
    let (code, message) = no_in_words(approval, &tool.called());
    let remedy = if approval.state == ApprovalState::Denied { ASK_LATER } else { ASK_ANEW };
    refused(tool, denial, code, message, remedy)
}

/// Why nothing runs on it: a code and a sentence.
pub(crate) fn no_in_words(approval: &Approval, what: &str) -> (&'static str, String) {
    let id = &approval.id;
    match approval.state {
        ApprovalState::Denied => {
            let why = approval.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            ("approval_denied", format!("{what} was not approved{why}"))
        }
        ApprovalState::Expired => ("approval_expired", format!("Approval '{id}' has expired.")),
        ApprovalState::Ended => ("approval_ended", format!("Approval '{id}' ended with its flow.")),
        _ => ("approval_spent", format!("Approval '{id}' was used already.")),
    }
}

fn refused(tool: &Arc<Tool>, denial: &Denial, code: &str, message: String, remedy: &str) -> Outcome {
    let denial = Denial {
        code: code.to_owned(),
        message,
        remedy: Some(remedy.to_owned()),
        rule: denial.rule.clone(),
        source: None,
    };
    Outcome::Denied { tool: Arc::clone(tool), denial, needs_identity: false, missing_scopes: Vec::new() }
}

pub(crate) fn binding(guarded: &Guarded) -> Option<Binding> {
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
        tool_digest: decided.house.digest_of(&decided.tool)?,
        arguments_digest: Canonical::of(guarded.arguments.get()).ok()?.digest().into(),
        rulebook_digest: decided.house.gate.rulebook().digest(),
    })
}
