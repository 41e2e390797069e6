//! Third step: nothing runs that is not recorded first.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Gate, Lang, Tool, View};
use toolgate_store::Approval;

use crate::{
    Books, Client, Guarded, House, Outcome, Resumed,
    approving::Yes,
    noting::{Noted, Ran},
    spine::{not_recorded, ran_as},
};

/// The id of a call, as in the ledger, and when it arrived: what a line of the log says of it.
#[derive(Clone, Copy)]
pub(crate) struct CallTrace<'a> {
    pub id: &'a str,
    pub started: Instant,
}

impl CallTrace<'_> {
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A call that did not run, as the log shows it.
pub(crate) struct LoggedRefusal<'a> {
    pub call: CallTrace<'a>,
    pub outcome: &'static str,
    pub rule: &'a str,
    pub approval: Option<&'a str>,
}

/// A call that may run, once.
pub struct Recorded {
    caller: Arc<Caller>,
    house: Arc<House>,
    view: Arc<View>,
    tool: Arc<Tool>,
    arguments: Box<RawValue>,
    lang: Lang,
    client: Client,
    resumed: Option<Resumed>,
    wait: Option<Duration>,
    asked: String,
    approval: Option<Box<Approval>>,
    // INVARIANT: made only by `Recorder::record`
    _by_record: (),
}

impl Recorded {
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Complete and valid: bound arguments are in it, credentials are not.
    pub fn arguments(&self) -> &RawValue {
        &self.arguments
    }

    pub fn lang(&self) -> Lang {
        self.lang
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The answers to what an earlier try of this call wanted to know.
    pub fn resumed(&self) -> Option<&Resumed> {
        self.resumed.as_ref()
    }

    /// How long its caller waits where a person must say yes.
    pub fn wait(&self) -> Option<Duration> {
        self.wait
    }

    /// The name that was asked for: the address of a resource, also where a pattern led to it.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// The yes it was given, where it needed one.
    pub fn approval(&self) -> Option<&Approval> {
        self.approval.as_deref()
    }

    /// The gate that decided this call, for tools that explain it.
    pub fn gate(&self) -> &Gate {
        self.house.gate()
    }

    /// The largest result that is let through.
    pub fn result_bytes(&self) -> u64 {
        self.house.result_bytes(&self.tool)
    }

    pub(crate) fn house(&self) -> &Arc<House> {
        &self.house
    }

    pub(crate) fn shared_caller(&self) -> &Arc<Caller> {
        &self.caller
    }

    pub fn view(&self) -> &View {
        &self.view
    }
}

/// Counts of one tool by outcome.
#[derive(Debug, Default)]
pub struct Counters {
    outcomes: Mutex<BTreeMap<&'static str, u64>>,
    answered: AtomicU64,
    busy_micros: AtomicU64,
}

/// Records every call at the gate, whatever becomes of it.
#[derive(Debug, Default)]
pub struct Recorder {
    tools: Mutex<BTreeMap<String, Arc<Counters>>>,
    /// Calls of names that lead to no tool for the caller; their names are not kept, since callers choose them.
    unknown: AtomicU64,
    /// Calls of anonymous callers that came too often, and are in no ledger.
    throttled: AtomicU64,
}

impl Recorder {
    /// Puts the intent of a call with an effect on record, for good, before it can run.
    pub(crate) async fn record(
        &self,
        books: Option<&Books>,
        guarded: Box<Guarded>,
        yes: Option<Yes>,
        noted: &mut Noted,
    ) -> Result<Recorded, Box<Outcome>> {
        let approval = yes.as_ref().map(|yes| Box::new(yes.approval().clone()));
        noted.approved(approval.as_deref());
        if let Some(books) = books
            && ran_as(&guarded.decided.tool) == Ran::Write
            && let Err(fault) = noted.intent(books).await
        {
            if let Some(Yes::ToThisCall(taken)) = yes {
                // nothing ran, so that nothing is used up
                let _ = Box::pin(books.store.approvals().give_back(*taken)).await;
            }
            return Err(Box::new(not_recorded(false, &fault)));
        }
        let Guarded { decided, arguments, .. } = *guarded;
        Ok(Recorded {
            approval,
            caller: decided.caller,
            house: decided.house,
            view: decided.view,
            tool: decided.tool,
            arguments,
            lang: decided.lang,
            client: decided.client,
            resumed: decided.resumed,
            wait: decided.wait,
            asked: decided.asked,
            _by_record: (),
        })
    }

    pub(crate) fn answered(&self, tool: &Tool, caller: &Caller, call: &CallTrace<'_>) {
        let (counters, took) = (self.counters(tool), call.elapsed());
        counters.answered.fetch_add(1, Ordering::Relaxed);
        counters.busy_micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        tracing::debug!(target: "toolgate::calls", call = call.id, tool = %tool.name, principal = caller.principal(), outcome = "answered", ?took);
    }

    pub(crate) fn turned_away(&self, tool: Option<&Tool>, caller: &Caller, refusal: &LoggedRefusal<'_>) {
        let LoggedRefusal { call, outcome, rule, approval } = refusal;
        let (took, approval) = (call.elapsed(), approval.map(tracing::field::display));
        match tool {
            Some(tool) => {
                let counters = self.counters(tool);
                *counters.outcomes.lock().unwrap_or_else(PoisonError::into_inner).entry(outcome).or_default() += 1;
                tracing::info!(target: "toolgate::calls", call = call.id, tool = %tool.name, principal = caller.principal(), outcome, rule, approval, ?took);
            }
            None => {
                self.unknown.fetch_add(1, Ordering::Relaxed);
                tracing::info!(target: "toolgate::calls", call = call.id, principal = caller.principal(), outcome, ?took);
            }
        }
    }

    /// Counts a call that was refused before it was read, and not recorded.
    pub fn throttled(&self) {
        self.throttled.fetch_add(1, Ordering::Relaxed);
    }

    fn counters(&self, tool: &Tool) -> Arc<Counters> {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counters) = tools.get(tool.name.as_str()) {
            return Arc::clone(counters);
        }
        Arc::clone(tools.entry(tool.name.to_string()).or_default())
    }

    /// In Prometheus' text format.
    pub fn metrics(&self) -> String {
        let mut text = String::from("# TYPE toolgate_calls_total counter\n");
        let mut busy = String::from("# TYPE toolgate_call_seconds_total counter\n");
        for (tool, counters) in self.tools.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let mut line = |outcome: &str, count: u64| {
                text.push_str(&format!("toolgate_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}\n"));
            };
            line("answered", counters.answered.load(Ordering::Relaxed));
            for (outcome, count) in counters.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                line(outcome, *count);
            }
            let micros = counters.busy_micros.load(Ordering::Relaxed);
            busy.push_str(&format!(
                "toolgate_call_seconds_total{{tool=\"{tool}\"}} {}.{:06}\n",
                micros / 1_000_000,
                micros % 1_000_000
            ));
        }
        text.push_str(&busy);
        text.push_str("# TYPE toolgate_unknown_tool_calls_total counter\n");
        text.push_str(&format!("toolgate_unknown_tool_calls_total {}\n", self.unknown.load(Ordering::Relaxed)));
        text.push_str("# TYPE toolgate_anonymous_calls_throttled_total counter\n");
        let throttled = self.throttled.load(Ordering::Relaxed);
        text.push_str(&format!("toolgate_anonymous_calls_throttled_total {throttled}\n"));
        text
    }
}
