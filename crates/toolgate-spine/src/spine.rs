//! The path itself, over whatever house stands at the moment.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::task::TaskTracker;
use toolgate_core::{Caller, Denial, Gate, Tool, tool::Effect};

use crate::{
    Call, Decided, House, InputRequired, Previewed, Recorded, Recorder, SourceFault, ToolAnswer, ToolSource, Watch,
};

/// Runs calls along the one path and holds the house they run in.
pub struct Spine {
    house: ArcSwap<House>,
    revisions: watch::Sender<u64>,
    recorder: Recorder,
    /// Calls with an effect: they finish even if whoever asked has gone.
    running: TaskTracker,
    /// False while sources that have just been started have not said yet what they offer.
    settled: watch::Sender<bool>,
}

/// How long a list of what only sources know waits for them after the start.
const SETTLED_WITHIN: Duration = Duration::from_secs(10);

/// What becomes of a call.
#[derive(Debug)]
pub enum Outcome {
    /// The tool's own answer, or a preview.
    Answered(Bytes),
    /// A rule said no, and the caller may know it.
    Denied {
        tool: Arc<Tool>,
        denial: Denial,
        needs_identity: bool,
        missing_scopes: Vec<String>,
    },
    NeedsApproval {
        tool: Arc<Tool>,
        denial: Denial,
    },
    /// A guard said no: arguments or limits.
    Refused {
        tool: Arc<Tool>,
        code: &'static str,
        message: String,
        answer: ToolAnswer,
    },
    /// Unknown or hidden: one branch.
    Unknown,
    /// A bound argument whose fact the caller lacks.
    Unbound {
        tool: Arc<Tool>,
        argument: String,
    },
    /// The source could not answer.
    Unavailable {
        tool: Arc<Tool>,
        message: String,
    },
    /// The source answered with an error of the protocol.
    Rejected {
        tool: Arc<Tool>,
        code: i64,
        message: String,
        /// JSON text.
        data: Option<String>,
    },
    /// The client must answer something first, and then call again.
    InputRequired {
        tool: Arc<Tool>,
        input: InputRequired,
    },
}

impl Outcome {
    pub(crate) fn denied(tool: Arc<Tool>, denial: Denial, caller: &Caller) -> Self {
        let missing_scopes = match denial.code.as_str() {
            // all that the tool needs at once, so that one more sign-in suffices
            "insufficient_scope" => tool.facts.oauth_scopes.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let needs_identity = denial.code == "authentication_required" && !caller.is_signed_in();
        Self::Denied { tool, denial, needs_identity, missing_scopes }
    }
}

impl Spine {
    pub fn new(house: House) -> Arc<Self> {
        let (revisions, _) = watch::channel(house.gate.revision());
        Arc::new(Self {
            house: ArcSwap::from_pointee(house),
            revisions,
            recorder: Recorder::default(),
            running: TaskTracker::new(),
            settled: watch::Sender::new(true),
        })
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

    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// A rule's no as a result that a model reads.
    pub fn denied(&self, tool: &Tool, denial: &Denial) -> Bytes {
        self.house.load().failure(tool, denial, &denial.message).into_bytes()
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
            Outcome::NeedsApproval { tool, denial } => {
                self.recorder.turned_away(Some(tool), caller, "needs_approval", &denial.rule);
            }
            Outcome::Refused { tool, code, .. } => self.recorder.turned_away(Some(tool), caller, "refused", code),
            Outcome::Unknown => self.recorder.turned_away(None, caller, "unknown", ""),
            Outcome::Unbound { tool, argument } => self.recorder.turned_away(Some(tool), caller, "unbound", argument),
            Outcome::Unavailable { tool, .. } => self.recorder.turned_away(Some(tool), caller, "unavailable", ""),
            Outcome::Rejected { tool, .. } => self.recorder.turned_away(Some(tool), caller, "rejected", ""),
        }
    }

    async fn walk(&self, caller: &Arc<Caller>, call: Call<'_>) -> Outcome {
        let started = Instant::now();
        let admitted = match self.admit(caller, &call) {
            Ok(admitted) => admitted,
            Err(outcome) => return *outcome,
        };
        let (house, tool) = (admitted.house, admitted.tool);
        let recorded = match admitted.then {
            Then::Run(recorded) => recorded,
            Then::Preview(previewed) => {
                let outcome = preview(&house, &tool, &*admitted.source, &previewed).await;
                self.recorder.answered(&tool, caller, started.elapsed());
                return outcome;
            }
        };
        let timeout = house.timeout(&tool);
        let result = call.client.within(timeout, self.run(admitted.source, recorded)).await;
        drop(admitted.slot);
        let outcome = house.conclude(&tool, result, timeout);
        if matches!(outcome, Outcome::Answered(_)) {
            self.recorder.answered(&tool, caller, started.elapsed());
        }
        outcome
    }

    /// Everything before the run: decide, guard, record.
    fn admit(&self, caller: &Arc<Caller>, call: &Call<'_>) -> Result<Admitted, Box<Outcome>> {
        let house = self.house.load_full();
        let guarded = Decided::decide(&house, caller, call)?.guard(call.arguments)?;
        let tool = Arc::clone(&guarded.decided.tool);
        let Some(source) = house.sources.get(&tool.source).cloned() else {
            let message = format!("nothing runs the tools of '{}'", tool.source);
            return Err(Box::new(Outcome::Unavailable { message, tool }));
        };
        if guarded.decided.dry_run {
            return Ok(Admitted { house, tool, source, slot: None, then: Then::Preview(Previewed { guarded }) });
        }
        let slot = house.slot(&tool)?;
        Ok(Admitted { house, tool, source, slot, then: Then::Run(self.recorder.record(guarded)) })
    }

    /// Completes an argument of a prompt or of a template: who may not use it learns nothing from it either.
    pub async fn complete(&self, caller: &Arc<Caller>, call: Call<'_>, params: &RawValue) -> Outcome {
        let client = call.client.clone();
        let outcome = match self.admit(caller, &call) {
            Err(outcome) => *outcome,
            Ok(Admitted { house, tool, source, then: Then::Run(recorded), slot: _slot }) => {
                let timeout = house.timeout(&tool);
                let result = client.within(timeout, source.complete(recorded, params)).await;
                house.conclude(&tool, result, timeout)
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
        let outcome = match self.admit(caller, &call) {
            Err(outcome) => *outcome,
            Ok(Admitted { house, tool, source, then: Then::Run(recorded), slot: _slot }) => {
                let timeout = house.timeout(&tool);
                match tokio::time::timeout(timeout, source.watch(recorded)).await {
                    Ok(Ok(watch)) => return Ok(watch),
                    Ok(Err(fault)) => house.conclude(&tool, Some(Err(fault)), timeout),
                    Err(_) => house.conclude(&tool, None, timeout),
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

    /// A read stops when its caller goes; a call with an effect runs to its end on its own.
    async fn run(&self, source: Arc<dyn ToolSource>, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        if call.tool().facts.effect == Effect::Read {
            return source.run(call).await;
        }
        match self.running.spawn(async move { source.run(call).await }).await {
            Ok(answer) => answer,
            Err(_) => Err(SourceFault::unavailable("the tool failed")),
        }
    }
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
    house: Arc<House>,
    tool: Arc<Tool>,
    source: Arc<dyn ToolSource>,
    slot: Option<OwnedSemaphorePermit>,
    then: Then,
}

enum Then {
    Run(Recorded),
    Preview(Previewed),
}
