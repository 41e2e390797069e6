//! The path itself, over whatever house stands at the moment.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use toolgate_core::{Caller, Denial, Gate, Kind, Tool, tool::Effect};
use toolgate_store::ledger::LedgerUnavailable;

use crate::{
    Books, Call, Decided, Guarded, House, Outcome, Previewed, Recorder, ToolSource,
    approving::Yes,
    books::{call_id, now},
    carried::Carried,
    conclude::Slot,
    dry_check::dry_check,
    noting::{Ending, Named, Noted, Ran},
    offload::contained,
    planning::{Planning, StepOf},
    receipts::with_meta,
    recorded::{CallTrace, LoggedRefusal},
};

/// Runs calls along the one path and holds the house they run in.
pub struct Spine {
    /// Itself, for calls that outlive whoever asked.
    pub(crate) this: Weak<Self>,
    house: ArcSwap<House>,
    revisions: watch::Sender<u64>,
    pub(crate) recorder: Recorder,
    /// Calls with an effect: they finish even if whoever asked has gone.
    pub(crate) running: TaskTracker,
    /// `None` only where nothing is to outlive the process: embedded in tests.
    pub(crate) books: Option<Books>,
    pub(crate) planning: Planning,
    /// False while sources that have just been started have not said yet what they offer.
    settled: watch::Sender<bool>,
}

/// How long a list of what only sources know waits for them after the start.
const SETTLED_WITHIN: Duration = Duration::from_secs(10);

impl Spine {
    /// Without books: what happens is counted and logged, and forgotten with the process.
    pub fn new(house: House) -> Arc<Self> {
        Self::with(house, None)
    }

    /// Nothing runs that is not in these books first.
    pub fn with_books(house: House, books: Books) -> Arc<Self> {
        Self::with(house, Some(books))
    }

    fn with(house: House, books: Option<Books>) -> Arc<Self> {
        let (revisions, _) = watch::channel(house.gate.revision());
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            house: ArcSwap::from_pointee(house),
            revisions,
            recorder: Recorder::default(),
            running: TaskTracker::new(),
            books,
            planning: Planning::default(),
            settled: watch::Sender::new(true),
        })
    }

    pub(crate) fn house(&self) -> Arc<House> {
        self.house.load_full()
    }

    pub fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.house.load().gate)
    }

    /// The revision in force; changes when the house is replaced.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.revisions.subscribe()
    }

    /// Waits until every acknowledged change of the catalogue is in the house that the next decision is made in, whoever
    /// asks. Fails where that can't be known.
    pub(crate) async fn caught_up(&self) -> Result<(), Box<Outcome>> {
        let Some(books) = self.books.as_ref().filter(|books| !books.rights.is_current()) else { return Ok(()) };
        Box::pin(books.rights.catch_up()).await.map_err(|fault| {
            tracing::error!(%fault, "what may be called is not known");
            let message = "it can't be known now what may be called, so that nothing runs; try again";
            Box::new(Outcome::Unrecorded { message: message.to_owned() })
        })
    }

    /// From here on every request is decided by the new house; calls under way finish in the old one.
    pub fn replace(&self, house: House) {
        let revision = house.gate.revision();
        self.house.store(Arc::new(house));
        self.revisions.send_replace(revision);
    }

    /// Something that lists depend on changed, though not the house: who has a stream open may be shown another list.
    pub fn look_again(&self) {
        self.revisions.send_modify(|_| {});
    }

    /// Says whether every source has said by now what it offers.
    pub fn settle(&self, settled: bool) {
        self.settled.send_replace(settled);
    }

    /// Waits for sources that are just starting, for a while. Tools are known before: those were accepted.
    pub async fn settled(&self) {
        if !*self.settled.borrow() {
            let mut settled = self.settled.subscribe();
            let _ = tokio::time::timeout(SETTLED_WITHIN, settled.wait_for(|settled| *settled)).await;
        }
    }

    pub fn books(&self) -> Option<&Books> {
        self.books.as_ref()
    }

    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// A rule's no as a result that a model reads.
    pub fn denied(&self, tool: &Tool, denial: &Denial) -> Bytes {
        self.house.load().failure(tool, denial, &denial.message).into_bytes()
    }

    /// Ends every wait for a person: the calls are answered with the approvals they wait for, and new ones do not wait.
    pub fn stop_waiting(&self) {
        self.books.iter().for_each(|books| books.stopping.cancel());
    }

    /// Waits until no call with an effect is in flight.
    pub async fn drain(&self) {
        self.running.close();
        self.running.wait().await;
    }

    // a future within a future is copied into it: those on every call's way are kept few and small
    pub fn call<'a>(&'a self, caller: &'a Arc<Caller>, call: Call<'a>) -> impl Future<Output = Outcome> + Send + 'a {
        self.call_within(caller, call, None)
    }

    /// The same for a call that may be a step of a plan, whose yes is then the plan's.
    pub(crate) async fn call_within(&self, caller: &Arc<Caller>, call: Call<'_>, step: Option<&StepOf<'_>>) -> Outcome {
        let (id, started) = (call_id(now()), Instant::now());
        let outcome = self.walk(caller, call, step, (&id, started)).await;
        self.note(caller, &outcome, CallTrace { id: &id, started });
        outcome
    }

    pub(crate) fn note(&self, caller: &Caller, outcome: &Outcome, call: CallTrace<'_>) {
        let (outcome_name, rule) = match outcome {
            Outcome::Answered(_) | Outcome::InputRequired { .. } => return,
            Outcome::Denied { denial, .. } => ("denied", denial.rule.as_str()),
            Outcome::NeedsApproval { denial, .. } => ("needs_approval", denial.rule.as_str()),
            Outcome::Refused { code, .. } => ("refused", *code),
            Outcome::Unknown => ("unknown", ""),
            Outcome::Unbound { argument, .. } => ("unbound", argument.as_str()),
            Outcome::Unavailable { .. } => ("unavailable", ""),
            Outcome::Rejected { .. } => ("rejected", ""),
            Outcome::Unrecorded { .. } => ("unrecorded", ""),
        };
        let approval = match outcome {
            Outcome::NeedsApproval { approval, .. } => approval.as_ref().map(|approval| approval.id.as_str()),
            _ => None,
        };
        let refusal = LoggedRefusal { call, outcome: outcome_name, rule, approval };
        self.recorder.turned_away(outcome.tool().map(|tool| &**tool), caller, &refusal);
    }

    async fn walk(
        &self,
        caller: &Arc<Caller>,
        call: Call<'_>,
        step: Option<&StepOf<'_>>,
        (id, started): (&Arc<str>, Instant),
    ) -> Outcome {
        if let Err(outcome) = self.caught_up().await {
            return *outcome;
        }
        let house = self.house.load_full();
        let mut about = About { call: Arc::clone(id), tool: None };
        let admitted = match self.admit(&house, caller, (&call, step), &mut about).await {
            Ok(admitted) => admitted,
            Err(outcome) => {
                let named = Named { tool: about.tool.as_ref(), kind: call.kind, asked: call.name };
                let noted =
                    Noted::turned_away(&house, caller, id, named, call.arguments).part_of(step.map(StepOf::plan));
                return self.on_record(&house, noted, *outcome, (Ran::No, false), started).await;
            }
        };
        let tool = admitted.tool;
        match admitted.then {
            Then::Preview(previewed) => {
                let named = Named::known(&tool, call.name);
                let noted = Noted::of(&house, caller, id, named, Some(previewed.arguments()));
                let shown = self.preview(&house, caller, &tool, &*admitted.source, &previewed);
                let outcome = Box::pin(shown).await;
                self.recorder.answered(&tool, caller, &CallTrace { id, started });
                self.on_record(&house, noted, outcome, (Ran::No, true), started).await
            }
            Then::Run(guarded, yes) => {
                let Admitted { source, slot, .. } = admitted;
                let (client, plan) = (call.client, step.map(StepOf::link));
                // that of the last decision, which a wait for an approval may have made another
                let house = Arc::clone(&guarded.decided.house);
                let id = Arc::clone(id);
                let call = Carried { id, house, guarded, yes, source, slot, client, plan, started };
                match ran_as(&tool) {
                    Ran::Write => Box::pin(self.carried(call)).await,
                    Ran::Read | Ran::No => self.carry(call).await,
                }
            }
        }
    }

    /// Puts the ending on record before anybody hears of it. It is handed over at once; what is waited for says that it counts.
    pub(crate) fn on_record(
        &self,
        house: &House,
        noted: Noted,
        outcome: Outcome,
        (ran, previewed): (Ran, bool),
        started: Instant,
    ) -> impl Future<Output = Outcome> + Send + use<> {
        let pending = self.books.as_ref().map(|books| {
            let ending = Ending::of(house, noted.tool(), &outcome, (ran, previewed));
            noted.ended(books, ending, ran, started.elapsed())
        });
        async move {
            match pending {
                None => outcome,
                Some(pending) => match pending.await {
                    Ok(_) => outcome,
                    Err(fault) => not_recorded(ran == Ran::Write, &fault),
                },
            }
        }
    }

    /// Everything before the record: decide, guard, have it approved.
    pub(crate) async fn admit(
        &self,
        house: &Arc<House>,
        caller: &Arc<Caller>,
        (call, step): (&Call<'_>, Option<&StepOf<'_>>),
        about: &mut About,
    ) -> Result<Admitted, Box<Outcome>> {
        let decided = match Decided::decide(house, caller, call) {
            Ok(decided) => decided,
            Err(outcome) => {
                about.tool = outcome.tool().cloned();
                return Err(outcome);
            }
        };
        about.tool = Some(Arc::clone(&decided.tool));
        let decided = match decided.client.identity_after_wait() {
            None => decided,
            // boxed: rare, and every call would carry room for it
            Some(_) => Box::pin(self.redecided(decided, call)).await?,
        };
        let guarded = decided.guard(call.arguments)?;
        let tool = Arc::clone(&guarded.decided.tool);
        let source = source_of(&guarded)?;
        if guarded.decided.dry_run {
            return Ok(Admitted { tool, source, slot: None, then: Then::Preview(Box::new(Previewed { guarded })) });
        }
        if step.is_none() && guarded.decided.needs.is_some() {
            Box::pin(dry_check(&guarded, &*source)).await?;
        }
        let yes = self.approved(&guarded, call, step).await?;
        let checked = match &yes {
            Some(yes) => Box::pin(self.rechecked(guarded, call, step, yes)).await,
            None => Ok(guarded),
        };
        // the slot is taken after approval: a call that waits for a person runs nothing yet
        let ready = checked.and_then(|guarded| {
            let (decided, source) = (&guarded.decided, source_of(&guarded)?);
            let slot = decided.house.slot(&decided.tool, &decided.caller)?;
            Ok((guarded, source, slot))
        });
        match ready {
            Ok((guarded, source, slot)) => {
                let tool = Arc::clone(&guarded.decided.tool);
                Ok(Admitted { tool, source, slot: Some(slot), then: Then::Run(Box::new(guarded), yes) })
            }
            Err(outcome) => {
                Box::pin(self.give_back(yes)).await;
                Err(outcome)
            }
        }
    }

    /// Whether there is more behind the gate than tools.
    pub fn has_more(&self) -> bool {
        self.house.load().has_more()
    }

    /// What a call would change: in the words of the tool that a fact names, else of its source, or the call itself where
    /// neither has any.
    pub(crate) async fn preview(
        &self,
        house: &House,
        caller: &Arc<Caller>,
        tool: &Arc<Tool>,
        source: &dyn ToolSource,
        previewed: &Previewed,
    ) -> Outcome {
        if let Some(shown) = house.preview_of(tool, previewed.arguments()) {
            let call = Call::of(Kind::Tool, &shown.tool, Some(&shown.arguments), previewed.lang());
            // a call like any: who may not use that tool sees the call itself
            if let Outcome::Answered(answer) = Box::pin(self.call(caller, call)).await {
                return Outcome::Answered(with_meta(&answer, "toolgate/dryRun", "preview_tool"));
            }
            return Outcome::Answered(previewed.guarded.preview().into_bytes());
        }
        let timeout = house.timeout(tool);
        match tokio::time::timeout(timeout, contained(source.preview(previewed))).await {
            Ok(Ok(None)) => Outcome::Answered(previewed.guarded.preview().into_bytes()),
            Ok(Ok(Some(answer))) => house.conclude(tool, Some(Ok(answer)), timeout),
            Ok(Err(fault)) => house.conclude(tool, Some(Err(fault)), timeout),
            Err(_) => house.conclude(tool, None, timeout),
        }
    }
}

/// Why is the operator's to know, not a caller's.
pub(crate) fn unrecorded(ran: bool, fault: &dyn std::fmt::Display) -> Outcome {
    tracing::error!(%fault, ran, "a call is not on record");
    let message = if ran {
        "the call ran, and what came of it can't be recorded; look before calling again, and tell the operator"
    } else {
        "calls can't be recorded now, so that none runs; try again, and tell the operator if it stays"
    };
    Outcome::Unrecorded { message: message.to_owned() }
}

/// The same for the ledger, whose callers hear what kind of failure it is.
pub(crate) fn not_recorded(ran: bool, fault: &LedgerUnavailable) -> Outcome {
    if ran {
        return unrecorded(ran, fault);
    }
    tracing::error!(%fault, ran, "a call is not on record");
    let why = fault.cause.as_str();
    let message =
        format!("calls can't be recorded now, so that none runs: {why}; try again, and tell the operator if it stays");
    Outcome::Unrecorded { message }
}

/// A call that may run.
pub(crate) struct Admitted {
    pub(crate) tool: Arc<Tool>,
    pub(crate) source: Arc<dyn ToolSource>,
    pub(crate) slot: Option<Slot>,
    pub(crate) then: Then,
}

fn source_of(guarded: &Guarded) -> Result<Arc<dyn ToolSource>, Box<Outcome>> {
    let tool = &guarded.decided.tool;
    guarded.decided.house.sources.get(&tool.source).cloned().ok_or_else(|| {
        let message = format!("nothing runs the tools of '{}'", tool.source);
        Box::new(Outcome::Unavailable { message, tool: Arc::clone(tool) })
    })
}

/// What is known of a call as it goes along.
pub(crate) struct About {
    pub(crate) call: Arc<str>,
    pub(crate) tool: Option<Arc<Tool>>,
}

pub(crate) fn ran_as(tool: &Tool) -> Ran {
    match tool.facts.effect {
        Effect::Read => Ran::Read,
        Effect::Write | Effect::Log => Ran::Write,
    }
}

pub(crate) enum Then {
    Run(Box<Guarded>, Option<Yes>),
    Preview(Box<Previewed>),
}
