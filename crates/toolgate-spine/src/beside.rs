//! What is asked about a prompt or a resource besides the thing itself: to complete an argument of it, to be told when it changes. Who
//! may not use it learns nothing this way either, and both are on record like its use.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};
use toolgate_core::Caller;

use crate::{
    Call, Outcome, Recorded, SourceFault, Spine, ToolAnswer, ToolSource, Watch,
    books::{call_id, now},
    noting::{Beside, Named, Noted, Ran},
    offload::contained,
    recorded::CallTrace,
    spine::{About, Admitted, Then, ran_as},
};

type Answered = Option<Result<ToolAnswer, SourceFault>>;

impl Spine {
    /// Completes an argument of a prompt or of a template.
    pub async fn complete(&self, caller: &Arc<Caller>, call: Call<'_>, params: &RawValue) -> Outcome {
        let client = call.client.clone();
        let run = |source: Arc<dyn ToolSource>, recorded, timeout| async move {
            client.within(timeout, contained(source.complete(recorded, params))).await
        };
        self.beside(caller, &call, (Beside::Completes, given(params).as_deref()), run).await
    }

    /// Watches a resource for a caller who may read it.
    pub async fn watch(&self, caller: &Arc<Caller>, call: Call<'_>) -> Result<Watch, Outcome> {
        let mut begun = None;
        let place = &mut begun;
        let run = move |source: Arc<dyn ToolSource>, recorded, timeout| async move {
            match tokio::time::timeout(timeout, contained(source.watch(recorded))).await {
                Ok(Ok(watch)) => {
                    *place = Some(watch);
                    Some(Ok(ToolAnswer::raw("{}".into())))
                }
                Ok(Err(fault)) => Some(Err(fault)),
                Err(_) => None,
            }
        };
        let outcome = self.beside(caller, &call, (Beside::Watches, None), run).await;
        match (outcome, begun) {
            (Outcome::Answered(_), Some(watch)) => Ok(watch),
            (outcome, _) => Err(outcome),
        }
    }

    async fn beside<F>(
        &self,
        caller: &Arc<Caller>,
        call: &Call<'_>,
        (what, given): (Beside, Option<&RawValue>),
        run: impl FnOnce(Arc<dyn ToolSource>, Recorded, Duration) -> F,
    ) -> Outcome
    where
        F: Future<Output = Answered>,
    {
        let (started, house) = (Instant::now(), self.house());
        let mut about = About { call: call_id(now()), tool: None };
        let admitted = self.admit(&house, caller, (call, None), &mut about).await;
        let named = Named { tool: about.tool.as_ref(), kind: call.kind, asked: call.name };
        let noted = if admitted.is_ok() { Noted::of } else { Noted::turned_away };
        let mut noted = noted(&house, caller, &about.call, named, given).beside(what);
        let (outcome, ran) = match admitted {
            Err(outcome) => (*outcome, Ran::No),
            Ok(Admitted { tool, source, then: Then::Run(guarded, yes), slot: _slot }) => {
                match self.recorder.record(self.books(), guarded, yes, &mut noted).await {
                    Err(outcome) => (*outcome, Ran::No),
                    Ok(recorded) => {
                        let timeout = house.timeout(&tool);
                        let answered = run(source, recorded, timeout).await;
                        (house.conclude(&tool, answered, timeout), ran_as(&tool))
                    }
                }
            }
            Ok(Admitted { tool, then: Then::Preview(_), .. }) => {
                (Outcome::Unavailable { message: "a dry run shows nothing of this".to_owned(), tool }, Ran::No)
            }
        };
        let outcome = self.on_record(&house, noted, outcome, (ran, false), started).await;
        self.note(caller, &outcome, CallTrace { id: &about.call, started });
        outcome
    }
}

/// What the client has filled in so far and what it is at, as the arguments they are: so that what is secret is known by its name.
fn given(params: &RawValue) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Params {
        argument: Argument,
        #[serde(default)]
        context: Context,
    }
    #[derive(Deserialize)]
    struct Argument {
        name: String,
        value: Value,
    }
    #[derive(Deserialize, Default)]
    struct Context {
        #[serde(default)]
        arguments: Map<String, Value>,
    }
    let Params { argument, context } = serde_json::from_str(params.get()).ok()?;
    let mut all = context.arguments;
    all.insert(argument.name, argument.value);
    to_raw_value(&all).ok()
}
