//! The client a call runs for: what may be said to it while the call runs, and what may be asked of it.

use std::{
    net::IpAddr,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use toolgate_core::Caller;

use crate::{
    CallPlace, CallerIdentity, Post,
    said::{Asking, ClientFault, LogLevel, ProgressNote, Question, Said},
};

/// The client's side of a call. The default one hears nothing and answers nothing.
#[derive(Debug, Clone, Default)]
pub struct Client {
    inner: Option<Arc<Inner>>,
    place: Option<Arc<CallPlace>>,
}

#[derive(Debug)]
struct Inner {
    line: Line,
    post: Option<Arc<dyn Post>>,
    identity: Option<Arc<dyn CallerIdentity>>,
    /// True once the call has waited for a person or its client.
    has_waited: AtomicBool,
    thinking: Mutex<Thinking>,
}

/// How long the client has been thinking.
#[derive(Debug, Default)]
struct Thinking {
    asked: u64,
    /// Questions nobody has answered yet.
    open: usize,
    /// Since when there was always one open.
    since: Option<Instant>,
    before: Duration,
}

impl Thinking {
    fn total(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Inner {
    fn thinking(&self) -> MutexGuard<'_, Thinking> {
        self.thinking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client can do and wants to hear.
#[derive(Debug)]
pub struct Line {
    pub said: mpsc::Sender<Said>,
    pub wants_progress: bool,
    /// The least urgent log message it wants; none at all where absent.
    pub log: Option<LogLevel>,
    /// The client's capabilities as it declared them: a JSON object.
    pub capabilities: Box<RawValue>,
    /// Where it calls from; not known of a client on standard input.
    pub address: Option<IpAddr>,
}

impl Client {
    pub fn on(line: Line) -> Self {
        Self::with_post(line, None)
    }

    /// A client that also hears of what ends after its call.
    pub fn with_post(line: Line, post: Option<Arc<dyn Post>>) -> Self {
        Self::with_place(line, post, None)
    }

    /// A client whose call has a place among those that run.
    pub fn with_place(line: Line, post: Option<Arc<dyn Post>>, place: Option<Arc<CallPlace>>) -> Self {
        Self::with_identity(line, post, place, None)
    }

    /// A client whose caller is identified again once the call has waited.
    pub fn with_identity(
        line: Line,
        post: Option<Arc<dyn Post>>,
        place: Option<Arc<CallPlace>>,
        identity: Option<Arc<dyn CallerIdentity>>,
    ) -> Self {
        let (has_waited, thinking) = (AtomicBool::new(false), Mutex::default());
        Self { inner: Some(Arc::new(Inner { line, post, identity, has_waited, thinking })), place }
    }

    /// The identity of a call that has waited: what was known of its caller before may not hold any more.
    pub(crate) fn identity_after_wait(&self) -> Option<&dyn CallerIdentity> {
        let inner = self.inner.as_ref().filter(|inner| inner.has_waited.load(Ordering::Relaxed))?;
        inner.identity.as_deref()
    }

    /// The same client for who remembers it beyond its call: the place of the call is not held with it.
    #[must_use]
    pub fn without_place(&self) -> Self {
        Self { inner: self.inner.clone(), place: None }
    }

    /// Waits without a place among the calls that run. `None`, at once, where too many calls of the caller wait.
    pub async fn while_waiting<T>(&self, caller: &Caller, wait: impl Future<Output = T>) -> Option<T> {
        if let Some(inner) = &self.inner {
            inner.has_waited.store(true, Ordering::Relaxed);
        }
        let Some(place) = self.place.as_deref() else { return Some(wait.await) };
        let waiting = place.leave(caller.principal())?;
        let waited = wait.await;
        waiting.go_on().await;
        Some(waited)
    }

    /// Whether both are one client, though perhaps of two calls.
    pub fn is(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (&self.inner, &other.inner) else { return false };
        let whose = |inner: &Inner| inner.post.as_ref().map(|post| post.whose());
        Arc::ptr_eq(one, other) || whose(one).is_some_and(|whose_one| whose(other) == Some(whose_one))
    }

    pub fn wants_progress(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.line.wants_progress)
    }

    /// Never waits: a client that does not read its progress misses some of it.
    pub fn report(&self, note: ProgressNote) {
        if let Some(inner) = self.inner.as_ref().filter(|inner| inner.line.wants_progress) {
            let _ = inner.line.said.try_send(Said::Progress(note));
        }
    }

    pub fn log_level(&self) -> Option<LogLevel> {
        self.inner.as_ref().and_then(|inner| inner.line.log)
    }

    /// Passes a log message on if the client wants ones as urgent as this. Never waits.
    pub fn log(&self, level: LogLevel, params: &RawValue) {
        if let Some(inner) = self.inner.as_ref().filter(|inner| inner.line.log.is_some_and(|least| level >= least)) {
            let _ = inner.line.said.try_send(Said::Log(params.to_owned()));
        }
    }

    /// Tells that an interaction to which the client was sent has ended: with its call while that runs, else by its post. False
    /// where neither is there. Never waits.
    pub fn ended(&self, params: &RawValue) -> bool {
        let Some(inner) = &self.inner else { return false };
        // who can't be asked has no stream to hear it on
        let place = inner.line.said.try_reserve().ok().filter(|_| self.can(Asking::Elicitation));
        match (place, &inner.post) {
            (Some(place), _) => place.send(Said::Ended(params.to_owned())),
            (None, Some(post)) => post.leave(params.to_owned()),
            (None, None) => return false,
        }
        true
    }

    /// Where it calls from, as far as that is known.
    pub fn address(&self) -> Option<IpAddr> {
        self.inner.as_ref().and_then(|inner| inner.line.address)
    }

    /// As the client declared them: a JSON object.
    pub fn capabilities(&self) -> &str {
        self.inner.as_ref().map_or("{}", |inner| inner.line.capabilities.get())
    }

    pub fn can(&self, asking: Asking) -> bool {
        self.inner.as_ref().is_some_and(|inner| declares(&inner.line.capabilities, asking))
    }

    /// The call wanted to ask what the client did not declare, or not in this way.
    pub fn lacks(&self, asking: Asking) {
        if let Some(inner) = &self.inner {
            let _ = inner.line.said.try_send(Said::Lacks(asking));
        }
    }

    /// Asks, and waits for the answer.
    pub async fn ask(&self, asking: Asking, params: Box<RawValue>) -> Result<Box<RawValue>, ClientFault> {
        let Some(inner) = self.inner.as_ref().filter(|_| self.can(asking)) else {
            self.lacks(asking);
            let message = format!("the client of this call does not offer {}", asking.capability());
            return Err(ClientFault { code: -32601, message, data: None });
        };
        let gone = || ClientFault { code: -32603, message: "the client did not answer".to_owned(), data: None };
        let (answer, answered) = oneshot::channel();
        let mut open = Open::new(inner);
        let number = open.number;
        inner.line.said.send(Said::Question(Question { number, asking, params, answer })).await.map_err(|_| gone())?;
        open.put = true;
        inner.has_waited.store(true, Ordering::Relaxed);
        let waiting = self.place.as_deref().map(CallPlace::leave_to_ask);
        let answer = answered.await;
        open.put = answer.is_err();
        drop(open);
        // also where nobody answered: the call goes on all the same
        if let Some(waiting) = waiting {
            waiting.go_on().await;
        }
        answer.map_err(|_| gone())?
    }

    /// Runs `work` for at most `timeout`, not counting the time in which the client is thinking.
    pub async fn within<T>(&self, timeout: Duration, work: impl Future<Output = T>) -> Option<T> {
        let Some(inner) = &self.inner else { return tokio::time::timeout(timeout, work).await.ok() };
        let mut work = pin!(work);
        let begun = Instant::now();
        let before = inner.thinking().total();
        let mut deadline = begun + timeout;
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = sleep_until(deadline) => {
                    let now = Instant::now();
                    let (thought, thinks) = {
                        let thinking = inner.thinking();
                        (thinking.total().saturating_sub(before), thinking.open > 0)
                    };
                    deadline = begun + timeout + thought;
                    if thinks {
                        // it moves on with the clock, so that nothing is won by looking often
                        deadline = deadline.max(now + LOOK_EVERY);
                    } else if deadline <= now {
                        return None;
                    }
                }
            }
        }
    }
}

/// A question under way, answered or given up.
struct Open<'a> {
    inner: &'a Inner,
    number: u64,
    /// The client knows it, and has not answered.
    put: bool,
}

/// How often the time of a call is looked at while its client thinks.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl<'a> Open<'a> {
    fn new(inner: &'a Inner) -> Self {
        let mut thinking = inner.thinking();
        thinking.asked += 1;
        thinking.open += 1;
        thinking.since.get_or_insert_with(Instant::now);
        Self { inner, number: thinking.asked, put: false }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.put {
            let _ = self.inner.line.said.try_send(Said::Withdrawn(self.number));
        }
        let mut thinking = self.inner.thinking();
        thinking.open = thinking.open.saturating_sub(1);
        if thinking.open == 0 {
            thinking.before = thinking.total();
            thinking.since = None;
        }
    }
}

fn declares(capabilities: &RawValue, asking: Asking) -> bool {
    type Members<'a> = std::collections::HashMap<std::borrow::Cow<'a, str>, &'a RawValue>;
    serde_json::from_str::<Members<'_>>(capabilities.get())
        .is_ok_and(|members| members.get(asking.capability()).is_some_and(|value| value.get().starts_with('{')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallPlaces;

    fn client(capabilities: &str) -> (Client, mpsc::Receiver<Said>) {
        let (said, heard) = mpsc::channel(4);
        let capabilities = RawValue::from_string(capabilities.to_owned()).unwrap();
        (
            Client::on(Line { said, wants_progress: false, log: Some(LogLevel::Warning), capabilities, address: None }),
            heard,
        )
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[tokio::test]
    async fn only_what_the_client_declared_is_asked_of_it() {
        let (client, mut heard) = client(r#"{"elicitation":{},"sampling":null,"x":{"roots":{}}}"#);
        assert!(client.can(Asking::Elicitation) && !client.can(Asking::Sampling) && !client.can(Asking::Roots));
        assert_eq!(client.ask(Asking::Roots, raw("{}")).await.unwrap_err().code, -32601);
        assert!(matches!(heard.try_recv(), Ok(Said::Lacks(Asking::Roots))));
        assert_eq!(Client::default().ask(Asking::Elicitation, raw("{}")).await.unwrap_err().code, -32601);
        let (answer, ()) = tokio::join!(client.ask(Asking::Elicitation, raw(r#"{"message":"who?"}"#)), async {
            let Some(Said::Question(question)) = heard.recv().await else { panic!("no question") };
            assert_eq!(question.params.get(), r#"{"message":"who?"}"#);
            question.answer.send(Ok(raw(r#"{"action":"accept"}"#))).unwrap();
        });
        assert_eq!(answer.unwrap().get(), r#"{"action":"accept"}"#);
        drop(heard);
        assert!(client.ask(Asking::Elicitation, raw("{}")).await.unwrap_err().message.contains("did not answer"));
    }

    #[tokio::test]
    async fn a_call_takes_its_place_again_also_where_its_client_left_without_an_answer() {
        let places = CallPlaces::new(1, 1, 1);
        let (said, mut heard) = mpsc::channel(4);
        let capabilities = raw(r#"{"elicitation":{}}"#);
        let line = Line { said, wants_progress: false, log: None, capabilities, address: None };
        let client = Client::with_place(line, None, places.enter(None));
        let (answer, ()) = tokio::join!(client.ask(Asking::Elicitation, raw("{}")), async {
            let Some(Said::Question(question)) = heard.recv().await else { panic!("no question") };
            drop(question);
        });
        assert!(answer.is_err() && places.is_full());
    }

    #[tokio::test]
    async fn log_messages_less_urgent_than_wanted_are_not_passed_on() {
        let (client, mut heard) = client("{}");
        client.log(LogLevel::Info, &raw(r#"{"level":"info"}"#));
        client.log(LogLevel::Error, &raw(r#"{"level":"error"}"#));
        client.report(ProgressNote { progress: 1.0, total: None, message: None });
        assert!(matches!(heard.try_recv(), Ok(Said::Log(params)) if params.get().contains("error")));
        assert!(heard.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_a_client_takes_to_answer_is_not_the_calls() {
        let (client, mut heard) = client(r#"{"elicitation":{}}"#);
        let second = Duration::from_secs(1);
        let asks = client.clone();
        let work = async move {
            asks.ask(Asking::Elicitation, raw("{}")).await.unwrap();
            tokio::time::sleep(second / 2).await;
        };
        let answers = async {
            let Some(Said::Question(question)) = heard.recv().await else { panic!("no question") };
            tokio::time::sleep(second * 60).await;
            question.answer.send(Ok(raw("{}"))).unwrap();
        };
        let (done, ()) = tokio::join!(client.within(second, work), answers);
        assert!(done.is_some());
        assert!(client.within(second, tokio::time::sleep(second * 2)).await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_has_the_rest_of_its_time_after_an_answer_whenever_that_comes() {
        let second = Duration::from_secs(1);
        for (thinks, works, in_time) in [(0.9, 0.8, true), (1.9, 0.8, true), (7.45, 0.85, false), (0.1, 0.85, false)] {
            let (client, mut heard) = client(r#"{"elicitation":{}}"#);
            let asks = client.clone();
            let work = async move {
                tokio::time::sleep(second.mul_f64(0.17)).await;
                asks.ask(Asking::Elicitation, raw("{}")).await.unwrap();
                tokio::time::sleep(second.mul_f64(works)).await;
            };
            let answers = async {
                let Some(Said::Question(question)) = heard.recv().await else { panic!("no question") };
                tokio::time::sleep(second.mul_f64(thinks)).await;
                question.answer.send(Ok(raw("{}"))).unwrap();
            };
            let (done, ()) = tokio::join!(client.within(second, work), answers);
            assert_eq!(done.is_some(), in_time, "{thinks} {works}");
        }
    }
}
