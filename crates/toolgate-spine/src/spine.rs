//! The path itself, over whatever house stands at the moment.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use toolgate_core::{Caller, Denial, Gate, Tool, tool::Effect};
use toolgate_store::Taken;

use crate::{
    Books, Call, Decided, Guarded, House, Outcome, Previewed, Recorder, ToolSource, Watch,
    books::{call_id, now},
    carried::Carried,
    conclude::Slot,
    noting::{Ending, Noted, Ran},
    results::Results,
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
    /// What was cut, whole.
    pub(crate) results: Results,
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
            results: Results::default(),
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

    /// From here on every request is decided by the new house; calls under way finish in the old one.
    pub fn replace(&self, house: House) {
        let revision = house.gate.revision();
        self.house.store(Arc::new(house));
        self.revisions.send_replace(revision);
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

    /// The same for a call that waits for a person: with the approval's name and how to go on.
    pub fn needs_approval(&self, tool: &Tool, denial: &Denial, approval: Option<&str>) -> Bytes {
        #[derive(Serialize)]
        struct Needs<'a> {
            #[serde(flatten)]
            denial: &'a Denial,
            #[serde(skip_serializing_if = "Option::is_none")]
            approval: Option<&'a str>,
        }
        let text = match approval {
            None => denial.message.clone(),
            Some(id) => format!(
                "{} Approval {id} is asked for; call again with the same arguments once it is granted.",
                denial.message
            ),
        };
        self.house.load().failure(tool, &Needs { denial, approval }, &text).into_bytes()
    }

    /// Waits until no call with an effect is under way.
    pub async fn drain(&self) {
        self.running.close();
        self.running.wait().await;
    }

    pub async fn call(&self, caller: &Arc<Caller>, call: Call<'_>) -> Outcome {
        let outcome = self.walk(caller, call).await;
        self.note(caller, &outcome);
        outcome
    }

    fn note(&self, caller: &Caller, outcome: &Outcome) {
        match outcome {
            Outcome::Answered(_) | Outcome::InputRequired { .. } => {}
            Outcome::Denied { tool, denial, .. } => {
                self.recorder.turned_away(Some(tool), caller, "denied", &denial.rule)
            }
            Outcome::NeedsApproval { tool, denial, .. } => {
                self.recorder.turned_away(Some(tool), caller, "needs_approval", &denial.rule);
            }
            Outcome::Refused { tool, code, .. } => self.recorder.turned_away(Some(tool), caller, "refused", code),
            Outcome::Unknown => self.recorder.turned_away(None, caller, "unknown", ""),
            Outcome::Unbound { tool, argument } => self.recorder.turned_away(Some(tool), caller, "unbound", argument),
            Outcome::Unavailable { tool, .. } => self.recorder.turned_away(Some(tool), caller, "unavailable", ""),
            Outcome::Rejected { tool, .. } => self.recorder.turned_away(Some(tool), caller, "rejected", ""),
            Outcome::Unrecorded { .. } => self.recorder.turned_away(None, caller, "unrecorded", ""),
        }
    }

    async fn walk(&self, caller: &Arc<Caller>, call: Call<'_>) -> Outcome {
        let started = Instant::now();
        let house = self.house.load_full();
        let id = call_id(now());
        let mut about = About { call: Arc::clone(&id), tool: None };
        let admitted = match self.admit(&house, caller, &call, &mut about).await {
            Ok(admitted) => admitted,
            Err(outcome) => {
                let noted = Noted::of(&house, caller, &id, (about.tool.as_ref(), call.name), call.arguments);
                return self.on_record(&house, noted, *outcome, (Ran::No, false), started).await;
            }
        };
        let tool = admitted.tool;
        match admitted.then {
            Then::Preview(previewed) => {
                let noted = Noted::of(&house, caller, &id, (Some(&tool), call.name), Some(previewed.arguments()));
                let outcome = preview(&house, &tool, &*admitted.source, &previewed).await;
                self.recorder.answered(&tool, caller, started.elapsed());
                self.on_record(&house, noted, outcome, (Ran::No, true), started).await
            }
            Then::Run(guarded, taken) => {
                let Admitted { source, slot, .. } = admitted;
                let call = Carried { id, house, guarded: *guarded, taken, source, slot, client: call.client, started };
                self.carried(call).await
            }
        }
    }

    /// Puts the ending on record before anybody hears of it.
    pub(crate) async fn on_record(
        &self,
        house: &House,
        noted: Noted,
        outcome: Outcome,
        (ran, previewed): (Ran, bool),
        started: Instant,
    ) -> Outcome {
        let Some(books) = &self.books else { return outcome };
        let tool = noted.tool().cloned();
        let ending = Ending::of(house, tool.as_ref(), &outcome, previewed);
        match noted.ended(books, ending, ran, started.elapsed()).await {
            Ok(()) => outcome,
            Err(fault) => unrecorded(ran == Ran::Write, &fault),
        }
    }

    /// Everything before the record: decide, guard, have it approved.
    async fn admit(
        &self,
        house: &Arc<House>,
        caller: &Arc<Caller>,
        call: &Call<'_>,
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
        let guarded = decided.guard(call.arguments)?;
        let tool = Arc::clone(&guarded.decided.tool);
        let Some(source) = house.sources.get(&tool.source).cloned() else {
            let message = format!("nothing runs the tools of '{}'", tool.source);
            return Err(Box::new(Outcome::Unavailable { message, tool }));
        };
        if guarded.decided.dry_run {
            return Ok(Admitted { tool, source, slot: None, then: Then::Preview(Previewed { guarded }) });
        }
        let slot = house.slot(&tool, caller)?;
        let taken = self.approved(&guarded, call.wait).await?;
        Ok(Admitted { tool, source, slot: Some(slot), then: Then::Run(Box::new(guarded), taken) })
    }

    /// Completes an argument of a prompt or of a template: who may not use it learns nothing from it either.
    pub async fn complete(&self, caller: &Arc<Caller>, call: Call<'_>, params: &RawValue) -> Outcome {
        let client = call.client.clone();
        let house = self.house.load_full();
        let mut about = About { call: call_id(now()), tool: None };
        let outcome = match self.admit(&house, caller, &call, &mut about).await {
            Err(outcome) => *outcome,
            Ok(Admitted { tool, source, then: Then::Run(guarded, taken), slot: _slot }) => {
                match self.recorder.record(self.books(), &house, *guarded, taken, &about.call).await {
                    Err(outcome) => *outcome,
                    Ok(recorded) => {
                        let timeout = house.timeout(&tool);
                        let result = client.within(timeout, source.complete(recorded, params)).await;
                        house.conclude(&tool, result, timeout)
                    }
                }
            }
            Ok(Admitted { then: Then::Preview(previewed), .. }) => {
                Outcome::Answered(previewed.guarded.preview().into_bytes())
            }
        };
        self.note(caller, &outcome);
        outcome
    }

    /// Watches a resource for a caller who may read it.
    pub async fn watch(&self, caller: &Arc<Caller>, call: Call<'_>) -> Result<Watch, Outcome> {
        let house = self.house.load_full();
        let mut about = About { call: call_id(now()), tool: None };
        let outcome = match self.admit(&house, caller, &call, &mut about).await {
            Err(outcome) => *outcome,
            Ok(Admitted { tool, source, then: Then::Run(guarded, taken), slot: _slot }) => {
                match self.recorder.record(self.books(), &house, *guarded, taken, &about.call).await {
                    Err(outcome) => *outcome,
                    Ok(recorded) => {
                        let timeout = house.timeout(&tool);
                        match tokio::time::timeout(timeout, source.watch(recorded)).await {
                            Ok(Ok(watch)) => return Ok(watch),
                            Ok(Err(fault)) => house.conclude(&tool, Some(Err(fault)), timeout),
                            Err(_) => house.conclude(&tool, None, timeout),
                        }
                    }
                }
            }
            Ok(Admitted { tool, .. }) => Outcome::Unavailable { message: "a dry run watches nothing".to_owned(), tool },
        };
        self.note(caller, &outcome);
        Err(outcome)
    }

    /// Whether there is more behind the gate than tools.
    pub fn has_more(&self) -> bool {
        self.house.load().has_more()
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

/// What a call would change in its source's words, or the call itself where the source has none.
async fn preview(house: &House, tool: &Arc<Tool>, source: &dyn ToolSource, previewed: &Previewed) -> Outcome {
    let timeout = house.timeout(tool);
    match tokio::time::timeout(timeout, source.preview(previewed)).await {
        Ok(Ok(None)) => Outcome::Answered(previewed.guarded.preview().into_bytes()),
        Ok(Ok(Some(answer))) => house.conclude(tool, Some(Ok(answer)), timeout),
        Ok(Err(fault)) => house.conclude(tool, Some(Err(fault)), timeout),
        Err(_) => house.conclude(tool, None, timeout),
    }
}

/// A call that may run.
struct Admitted {
    tool: Arc<Tool>,
    source: Arc<dyn ToolSource>,
    slot: Option<Slot>,
    then: Then,
}

/// What is known of a call as it goes along.
struct About {
    call: Arc<str>,
    tool: Option<Arc<Tool>>,
}

pub(crate) fn ran_as(tool: &Tool) -> Ran {
    match tool.facts.effect {
        Effect::Read => Ran::Read,
        Effect::Write | Effect::Log => Ran::Write,
    }
}

enum Then {
    Run(Box<Guarded>, Option<Taken>),
    Preview(Previewed),
}
