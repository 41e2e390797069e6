//! The path itself, over whatever house stands at the moment.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;
use toolgate_core::{Caller, Denial, Gate, Tool, tool::Effect};

use crate::{Call, Decided, House, Recorded, Recorder, SourceFault, ToolAnswer, ToolSource};

/// Runs calls along the one path and holds the house they run in.
pub struct Spine {
    house: ArcSwap<House>,
    revisions: watch::Sender<u64>,
    recorder: Recorder,
    /// Calls with an effect: they finish even if whoever asked has gone.
    running: TaskTracker,
}

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
        match &outcome {
            Outcome::Answered(_) => {}
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
        }
        outcome
    }

    async fn walk(&self, caller: &Arc<Caller>, call: Call<'_>) -> Outcome {
        let house = self.house.load_full();
        let decided = match Decided::decide(&house, caller, &call) {
            Ok(decided) => decided,
            Err(outcome) => return *outcome,
        };
        let guarded = match decided.guard(call.arguments) {
            Ok(guarded) => guarded,
            Err(outcome) => return *outcome,
        };
        let tool = Arc::clone(&guarded.decided.tool);
        let started = Instant::now();
        if guarded.decided.dry_run {
            let preview = guarded.preview();
            self.recorder.answered(&tool, caller, started.elapsed());
            return Outcome::Answered(preview.into_bytes());
        }
        let Some(guard) = house.guard(&tool) else { return Outcome::Unknown };
        let slot = match guard.concurrency.as_ref().map(tokio::sync::Semaphore::try_acquire) {
            Some(Err(_)) => {
                let message = format!("Tool '{}' is busy. Try again shortly.", tool.wire_name);
                return *guarded.decided.refuse("overloaded", message);
            }
            Some(Ok(slot)) => Some(slot),
            None => None,
        };
        let Some(source) = house.sources.get(&tool.source).cloned() else {
            return Outcome::Unavailable { message: format!("nothing runs the tools of '{}'", tool.source), tool };
        };
        let timeout = Duration::from_millis(tool.facts.limits.timeout_ms.unwrap_or(house.defaults.timeout_ms));
        let recorded = self.recorder.record(guarded);
        let result = tokio::time::timeout(timeout, self.run(source, recorded)).await;
        drop(slot);
        let outcome = self.conclude(&house, &tool, result, timeout);
        if matches!(outcome, Outcome::Answered(_)) {
            self.recorder.answered(&tool, caller, started.elapsed());
        }
        outcome
    }

    /// A read stops when its caller goes; a call with an effect runs to its end on its own.
    async fn run(&self, source: Arc<dyn ToolSource>, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        if call.tool().facts.effect == Effect::Read {
            return source.run(call).await;
        }
        match self.running.spawn(async move { source.run(call).await }).await {
            Ok(answer) => answer,
            Err(_) => Err(SourceFault("the tool failed".to_owned())),
        }
    }

    fn conclude(
        &self,
        house: &House,
        tool: &Arc<Tool>,
        result: Result<Result<ToolAnswer, SourceFault>, tokio::time::error::Elapsed>,
        timeout: Duration,
    ) -> Outcome {
        let refused = |code: &'static str, message: String| {
            let denial = Denial { code: code.to_owned(), message, rule: "limits".to_owned(), remedy: None };
            Outcome::Refused { tool: Arc::clone(tool), code, answer: house.failure(tool, &denial, &denial.message) }
        };
        let most = tool.facts.limits.result_bytes.unwrap_or(house.defaults.result_bytes);
        match result {
            Ok(Ok(answer)) if answer.len() as u64 > most => refused(
                "result_too_large",
                format!("The result of tool '{}' is larger than {most} bytes.", tool.wire_name),
            ),
            Ok(Ok(answer)) => Outcome::Answered(answer.into_bytes()),
            Ok(Err(fault)) => Outcome::Unavailable { tool: Arc::clone(tool), message: fault.to_string() },
            Err(_) => refused(
                "timed_out",
                format!("Tool '{}' did not answer within {} ms.", tool.wire_name, timeout.as_millis()),
            ),
        }
    }
}
