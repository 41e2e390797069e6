//! From the record to the answer in one piece: whoever asked may go meanwhile, what was begun is ended and put on record.

use std::{pin::Pin, sync::Arc, time::Instant};

use toolgate_core::tool::Effect;

use crate::{
    Client, Guarded, House, Outcome, Recorded, SourceFault, Spine, ToolAnswer, ToolSource, Undo,
    approving::Yes,
    conclude::Slot,
    cutting::is_to_be_cut,
    noting::{Named, Noted, Ran},
    offload::contained,
    planning::PlanLink,
    receipts::After,
    recorded::CallTrace,
    spine::{ran_as, unrecorded},
};

/// A call that nothing stands in the way of any more.
pub(crate) struct Carried {
    pub(crate) id: Arc<str>,
    pub(crate) house: Arc<House>,
    pub(crate) guarded: Box<Guarded>,
    /// The yes it was given, where it needed one.
    pub(crate) yes: Option<Yes>,
    pub(crate) source: Arc<dyn ToolSource>,
    pub(crate) slot: Option<Slot>,
    pub(crate) client: Client,
    /// The plan it is a step of.
    pub(crate) plan: Option<PlanLink>,
    pub(crate) started: Instant,
}

/// A tool at work.
type Run<'a> = Pin<Box<dyn Future<Output = Result<ToolAnswer, SourceFault>> + Send + 'a>>;

impl Spine {
    /// A call with an effect goes on by itself, from its intent to its outcome.
    pub(crate) async fn carried(&self, call: Carried) -> Outcome {
        let Some(spine) = self.this.upgrade() else { return self.carry(call).await };
        match self.running.spawn(async move { spine.carry(call).await }).await {
            Ok(outcome) => outcome,
            Err(fault) => unrecorded(true, &fault),
        }
    }

    /// A read stops when its caller goes.
    pub(crate) async fn carry(&self, call: Carried) -> Outcome {
        let Carried { id, house, guarded, yes, source, slot, client, plan, started } = call;
        let (tool, caller) = (Arc::clone(&guarded.decided.tool), Arc::clone(&guarded.decided.caller));
        let lang = guarded.decided.lang;
        let named = Named::known(&tool, &guarded.decided.asked);
        let mut noted = Noted::of(&house, &caller, &id, named, Some(&guarded.arguments))
            .part_of(plan.as_ref().map(|link| link.plan.as_str()));
        let recorded = match self.recorder.record(self.books(), guarded, yes, &mut noted).await {
            Ok(recorded) => recorded,
            Err(outcome) => {
                return self.on_record(&house, noted, *outcome, (Ran::No, false), started).await;
            }
        };
        let approval = recorded.approval().cloned().map(Box::new);
        let input = tool.facts.undo.as_ref().map(|_| recorded.arguments().to_owned());
        let timeout = house.timeout(&tool);
        let result = client.within(timeout, contained(self.run(&source, recorded))).await;
        drop(slot);
        let result = match result {
            // boxed: rare, and every call would carry room for it
            Some(Ok(answer)) if is_to_be_cut(&house, &tool, &answer) => {
                Some(Ok(Box::pin(self.cut(&house, &tool, &caller, answer)).await))
            }
            result => result,
        };
        let undo = result.as_ref().and_then(|result| result.as_ref().ok()).map(|answer| answer.undo().clone());
        let outcome = house.conclude(&tool, result, timeout);
        if matches!(outcome, Outcome::Answered(_)) {
            self.recorder.answered(&tool, &caller, &CallTrace { id: &id, started });
        }
        let undo = match (undo.unwrap_or_default(), &outcome, input) {
            (Undo::Unsaid, Outcome::Answered(output), Some(input)) => house.undo_of(&tool, &input, output),
            (undo, ..) => undo,
        };
        let after = After { undo, approval, plan, lang };
        let outcome = match ran_as(&tool) {
            Ran::Write => {
                let named = (&*id, noted.input());
                Box::pin(self.with_receipt(&house, &caller, &tool, named, outcome, after)).await
            }
            Ran::Read | Ran::No => outcome,
        };
        self.on_record(&house, noted, outcome, (ran_as(&tool), false), started).await
    }

    /// What takes longer than its time is not cut off where it has an effect: it may be half done.
    fn run<'a>(&self, source: &'a Arc<dyn ToolSource>, call: Recorded) -> Run<'a> {
        if call.tool().facts.effect == Effect::Read {
            return source.run(call);
        }
        let source = Arc::clone(source);
        let running = self.running.spawn(async move { source.run(call).await });
        Box::pin(async move { running.await.unwrap_or_else(|_| Err(SourceFault::Failed)) })
    }
}
