//! A call under way for a client: what it says, and in the end what came of it.

use std::{borrow::Cow, collections::VecDeque, future::Future, net::IpAddr, pin::Pin, sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tokio::{sync::mpsc, task::JoinHandle};
use toolgate_core::{Caller, Kind, Lang, Tool};
use toolgate_spine::{
    Asking, Call, CallPlace, CallerIdentity, Client, ClientFault, InputRequired, Line, LogLevel, Outcome, Post,
    Resumed, Said, Say,
};

use crate::{
    approval::{Wish, at_client},
    wire::Inner,
};

/// What a client may fall behind; a slow one misses notes, and holds up questions.
const SAID_KEPT: usize = 32;
/// How often one call may come back for more input.
const ROUNDS: u32 = 32;
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A call that outlives the message it came with.
#[derive(Debug, Clone)]
pub(crate) struct OwnedCall {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) arguments: Option<Box<RawValue>>,
    pub(crate) dry_run: bool,
    pub(crate) lang: Lang,
    pub(crate) wish: Wish,
}

/// What is known of the client.
#[derive(Debug)]
pub(crate) struct Ear {
    pub(crate) wants_progress: bool,
    pub(crate) log: Option<LogLevel>,
    pub(crate) capabilities: Box<RawValue>,
    /// Of the older era: it is asked while the call runs. Else it is asked in the call's answer, and calls again.
    pub(crate) asked_while_running: bool,
    pub(crate) address: Option<IpAddr>,
    /// Its place among the calls that run, where those are counted.
    pub(crate) place: Option<Arc<CallPlace>>,
    /// Where it hears of what ends after the call.
    pub(crate) post: Option<Arc<dyn Post>>,
    /// Its credentials, for when the call has waited.
    pub(crate) identity: Option<Arc<dyn CallerIdentity>>,
}

pub(crate) struct Running {
    pub(crate) outcome: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    pub(crate) said: Hearing,
}

/// What a call says, in its order.
pub(crate) struct Hearing {
    said: mpsc::Receiver<Said>,
    /// Notes that nobody could be told when they were said.
    earlier: VecDeque<Said>,
    /// Else nothing but questions and notes is for the client.
    asked_while_running: bool,
    /// What the call wanted to ask first of all that the client can't be asked.
    lacks: Option<Asking>,
}

impl Running {
    pub(crate) fn start(
        inner: &Arc<Inner>,
        caller: &Arc<Caller>,
        call: &Arc<OwnedCall>,
        resumed: Option<Resumed>,
        ear: Ear,
    ) -> Self {
        let (sender, said) = mpsc::channel(SAID_KEPT);
        let asked_while_running = ear.asked_while_running;
        let line = Line {
            said: sender,
            wants_progress: ear.wants_progress,
            log: ear.log,
            capabilities: ear.capabilities,
            address: ear.address,
        };
        let place = ear.place.clone();
        let client = Client::with_identity(line, ear.post, ear.place, ear.identity);
        let (inner, caller, call) = (Arc::clone(inner), Arc::clone(caller), Arc::clone(call));
        let outcome = Box::pin(async move {
            let outcome = if asked_while_running {
                until_complete(&inner, &caller, &call, client).await
            } else {
                call.approved_by_client(&inner, &caller, &client, resumed).await
            };
            if let Some(place) = place {
                place.end();
            }
            outcome
        });
        Self { outcome, said: Hearing { said, earlier: VecDeque::new(), asked_while_running, lacks: None } }
    }

    /// Goes on by itself, also while nobody waits for its outcome: what a call does between its questions, and its time
    /// limit, must not stand still with the client. Dropped, it is called off all the same.
    pub(crate) fn driven(self) -> Self {
        let mut task = CalledOff(tokio::spawn(self.outcome));
        let outcome = Box::pin(async move {
            match (&mut task.0).await {
                Ok(outcome) => outcome,
                Err(fault) => match fault.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // called off: only where nobody waits, or the process ends
                    Err(_) => std::future::pending().await,
                },
            }
        });
        Self { outcome, ..self }
    }
}

impl Hearing {
    /// Waits for what is said next. `None` if nothing more can be.
    pub(crate) async fn next(&mut self) -> Option<Said> {
        loop {
            let said = match self.earlier.pop_front() {
                Some(said) => said,
                None => self.said.recv().await?,
            };
            if let Some(said) = self.noted(said) {
                return Some(said);
            }
        }
    }

    /// What was said and not heard when the call ended. Its last questions are nobody's any more.
    pub(crate) fn rest(&mut self) -> Vec<Said> {
        // from here on there is nobody to hear it, and whoever says something knows
        self.said.close();
        let mut rest: Vec<Said> = self.earlier.drain(..).collect();
        while let Ok(said) = self.said.try_recv() {
            rest.extend(self.noted(said).filter(|said| !matches!(said, Said::Question(_))));
        }
        rest
    }

    fn noted(&mut self, said: Said) -> Option<Said> {
        match said {
            Said::Lacks(asking) => {
                self.lacks.get_or_insert(asking);
                None
            }
            // the newer era has no words for these: whoever comes back finds out
            Said::Withdrawn(_) | Said::Ended(_) if !self.asked_while_running => None,
            said => Some(said),
        }
    }

    pub(crate) fn lacks(&self) -> Option<Asking> {
        self.lacks
    }

    /// Puts notes back, for when somebody listens again.
    pub(crate) fn keep(&mut self, notes: Vec<Said>) {
        self.earlier.extend(notes.into_iter().take(SAID_KEPT));
    }
}

/// A task that ends with whoever holds it.
struct CalledOff(JoinHandle<Outcome>);

impl Drop for CalledOff {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl OwnedCall {
    fn once<'a>(
        &'a self,
        inner: &'a Inner,
        caller: &'a Arc<Caller>,
        client: &Client,
        resumed: Option<Resumed>,
        wait: Duration,
    ) -> impl Future<Output = Outcome> + Send + use<'a> {
        let call = Call {
            kind: self.kind,
            name: &self.name,
            arguments: self.arguments.as_deref(),
            dry_run: self.dry_run,
            lang: self.lang,
            client: client.clone(),
            resumed,
            wait: (!wait.is_zero()).then_some(wait),
            approval: self.wish.approval.as_deref(),
            breadth: self.wish.breadth,
        };
        inner.spine.call(caller, call)
    }

    /// Where the operator allows it, a call that needs a yes gets it from whoever sits at its own client.
    async fn approved_by_client(
        &self,
        inner: &Inner,
        caller: &Arc<Caller>,
        client: &Client,
        resumed: Option<Resumed>,
    ) -> Outcome {
        // who sits at the client is asked at once: only a call that says so waits for somebody else first
        let asks_first =
            self.wish.waits_by_default && client.can(Asking::Elicitation) && inner.spine.trusts_client_of(caller);
        let wait = if asks_first { Duration::ZERO } else { self.wish.wait };
        let outcome = self.once(inner, caller, client, resumed.clone(), wait).await;
        if outcome.approval().is_none() {
            return outcome;
        }
        match Box::pin(self.asked_at_client(inner, caller, client, resumed.clone(), outcome)).await {
            AtClient::Asked(outcome) => outcome,
            AtClient::NotAsked(outcome) if !asks_first || self.wish.wait.is_zero() => outcome,
            AtClient::NotAsked(_) => Box::pin(self.once(inner, caller, client, resumed, self.wish.wait)).await,
        }
    }

    async fn asked_at_client(
        &self,
        inner: &Inner,
        caller: &Arc<Caller>,
        client: &Client,
        resumed: Option<Resumed>,
        outcome: Outcome,
    ) -> AtClient {
        let (Some(approval), Some(question)) = (outcome.approval(), at_client::question(&outcome)) else {
            return AtClient::NotAsked(outcome);
        };
        if !inner.spine.may_ask_client(caller, approval) || !client.can(Asking::Elicitation) {
            return AtClient::NotAsked(outcome);
        }
        let Ok(answer) = client.ask(Asking::Elicitation, question).await else { return AtClient::Asked(outcome) };
        let Some(say) = at_client::said(&answer) else { return AtClient::Asked(outcome) };
        let granted = matches!(say, Say::Yes { .. });
        AtClient::Asked(match inner.spine.answer_approval(caller, true, &approval.id, say, self.lang).await {
            Ok(_) if granted => self.once(inner, caller, client, resumed, self.wish.wait).await,
            Ok(denied) => outcome.denied_by(&denied),
            Err(problem) => {
                tracing::warn!(approval = approval.id, %problem, "a client's answer was not taken");
                outcome
            }
        })
    }
}

/// The outcome of a call that needs an approval, after its own client.
enum AtClient {
    /// The client was asked, whatever came of it.
    Asked(Outcome),
    /// The client can't be asked this, or its answer would not count.
    NotAsked(Outcome),
}

/// A source that wants input first gets it from the client and is called again, as often as it takes.
async fn until_complete(inner: &Inner, caller: &Arc<Caller>, call: &OwnedCall, client: Client) -> Outcome {
    let mut resumed = None;
    let mut rounds = 0;
    loop {
        let (tool, input) = match call.approved_by_client(inner, caller, &client, resumed).await {
            Outcome::InputRequired { tool, input } => (tool, input),
            outcome => return outcome,
        };
        rounds += 1;
        if rounds > ROUNDS {
            let message =
                format!("{} wanted more input {ROUNDS} times in a row, and was not asked again", tool.called());
            return Outcome::Unavailable { tool, message };
        }
        let responses = match &input.requests {
            Some(requests) => match answers(requests, &client).await {
                Ok(responses) => Some(responses),
                Err(fault) => return unanswered(tool, &fault),
            },
            None => {
                // it only wants to be called again: not at once
                tokio::time::sleep(AGAIN_AFTER * rounds).await;
                None
            }
        };
        resumed = Some(Resumed { responses, state: input.state });
    }
}

fn unanswered(tool: Arc<Tool>, fault: &ClientFault) -> Outcome {
    let message = format!("{} needs an answer of the client first, and got none: {fault}", tool.called());
    Outcome::Unavailable { tool, message }
}

/// One answer for each request, by the same keys.
async fn answers(requests: &str, client: &Client) -> Result<String, ClientFault> {
    let mut responses = Vec::new();
    for (key, asking, params) in asked(requests) {
        let Some(asking) = asking else {
            return Err(ClientFault { code: -32601, message: "it can't be asked this".to_owned(), data: None });
        };
        let answer = client.ask(asking, params).await?;
        responses.push(format!("{}:{}", serde_json::to_string(&key).unwrap_or_default(), answer.get()));
    }
    Ok(format!("{{{}}}", responses.join(",")))
}

/// What an object of input requests asks for: key, kind where it is a known one, parameters.
pub(crate) fn asked(requests: &str) -> Vec<(String, Option<Asking>, Box<RawValue>)> {
    #[derive(serde::Deserialize)]
    struct Request<'a> {
        #[serde(borrow)]
        method: Cow<'a, str>,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    type Requests<'a> = std::collections::BTreeMap<String, &'a RawValue>;
    let requests: Requests<'_> = serde_json::from_str(requests).unwrap_or_default();
    requests
        .into_iter()
        .map(|(key, raw)| match serde_json::from_str::<Request<'_>>(raw.get()) {
            Ok(request) => {
                let params = request.params.map_or_else(empty, RawValue::to_owned);
                (key, Asking::of_method(&request.method), params)
            }
            Err(_) => (key, None, empty()),
        })
        .collect()
}

pub(crate) fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The first thing wanted of a client that it did not declare.
pub(crate) fn missing(input: &InputRequired, capabilities: &RawValue) -> Option<&'static str> {
    let declared: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(capabilities.get()).unwrap_or_default();
    let asked = input.requests.as_deref().map(asked).unwrap_or_default();
    let lacking = |asking: Asking| !declared.get(asking.capability()).is_some_and(serde_json::Value::is_object);
    asked.into_iter().find_map(|(_, asking, _)| match asking {
        Some(asking) => lacking(asking).then_some(asking.capability()),
        None => Some("unknown"),
    })
}
