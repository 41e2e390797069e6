//! Runs what the house offers.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::sync::watch;
use toolgate_core::Kind;
use toolgate_spine::{
    Asking, Client, ClientFault, InputRequired, LogLevel, ProgressNote, Recorded, SourceFault, ToolAnswer, ToolOffer,
    ToolSource, Watch,
};

/// The one source.
#[derive(Default)]
pub struct Fixture {
    /// Calls that were dropped before their end.
    pub dropped: Arc<AtomicUsize>,
    pub runs: AtomicUsize,
    pub tools_alone: AtomicBool,
    /// By address.
    watched: Mutex<BTreeMap<String, watch::Sender<u64>>>,
    /// Of the last call that sent its client elsewhere.
    sent: Mutex<Client>,
    /// Watches that are over.
    pub unwatched: Arc<AtomicUsize>,
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Fixture {
    /// Changes a resource.
    pub fn bump(&self, uri: &str) {
        if let Some(changes) = self.watched.lock().unwrap().get(uri) {
            changes.send_modify(|count| *count += 1);
        }
    }

    /// The client that was sent elsewhere has been there. Whether it could be told.
    pub fn ended(&self, name: &str) -> bool {
        let params = RawValue::from_string(format!(r#"{{"elicitationId":"{name}","odd":1.50}}"#)).unwrap();
        self.sent.lock().unwrap().ended(&params)
    }

    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ToolSource for Fixture {
    fn name(&self) -> &str {
        "fixture"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    fn has_more(&self) -> bool {
        !self.tools_alone.load(Ordering::SeqCst)
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let name = call.tool().name.as_str();
        match call.tool().kind {
            Kind::Prompt if name == "wants" => wants(&call, &["elicitation/create"]),
            Kind::Prompt => Ok(ToolAnswer::raw(Bytes::from(format!(
                r#"{{"messages":[{{"odd":1.50}}],"unheardOf":{}}}"#,
                call.arguments().get()
            )))),
            Kind::Resource | Kind::Template | Kind::Address => {
                let kept = if name == "file:///kept" { r#","ttlMs":5,"cacheScope":"public""# } else { "" };
                let uri = call.asked();
                Ok(ToolAnswer::raw(Bytes::from(format!(r#"{{"contents":[{{"uri":"{uri}","odd":1.50}}]{kept}}}"#))))
            }
            Kind::Tool => self.run_tool(&call).await,
        }
    }

    async fn complete(&self, call: Recorded, params: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let of = call.tool().name.as_str();
        Ok(ToolAnswer::raw(Bytes::from(format!(r#"{{"completion":{{"values":["{of}"]}},"given":{}}}"#, params.get()))))
    }

    async fn watch(&self, call: Recorded) -> Result<Watch, SourceFault> {
        if call.asked() == "note://dull" {
            return Err(SourceFault::InputRequired(InputRequired { requests: None, state: None }));
        }
        let mut watched = self.watched.lock().unwrap();
        let changes = watched.entry(call.asked().to_owned()).or_insert_with(|| watch::channel(0).0);
        Ok(Watch { changes: changes.subscribe(), held: Box::new(OnDrop(self.unwatched.clone())) })
    }
}

impl Fixture {
    async fn run_tool(&self, call: &Recorded) -> Result<ToolAnswer, SourceFault> {
        let client = call.client();
        let step = |step: i32, total| client.report(ProgressNote { progress: f64::from(step), total, message: None });
        match call.tool().name.as_str() {
            "broken" => Err(SourceFault::Unavailable("the fixture is broken".to_owned())),
            "raw" => Ok(ToolAnswer::raw(Bytes::from_static(
                br#"{"content":[{"type":"hologram","odd":1.50}],"unheardOf":{"b":1,"a":2},"isError":false}"#,
            ))),
            "steps" => {
                for number in 1..=3 {
                    step(number, Some(3.0));
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Ok(ToolAnswer::text("done"))
            }
            "forever" => {
                let _dropped = OnDrop(self.dropped.clone());
                step(1, None);
                std::future::pending().await
            }
            "logs" => {
                for (number, (level, word)) in (1..).zip([
                    (LogLevel::Debug, "debug"),
                    (LogLevel::Info, "info"),
                    (LogLevel::Warning, "warning"),
                    (LogLevel::Emergency, "emergency"),
                ]) {
                    step(number, None);
                    let data = RawValue::from_string(format!(r#"{{"level":"{word}","data":[1.50]}}"#)).unwrap();
                    client.log(level, &data);
                }
                Ok(ToolAnswer::text("done"))
            }
            "rejected_lacking" => Err(SourceFault::Rejected {
                code: -32021,
                message: "lacks a thing".to_owned(),
                data: Some(r#"{"requiredCapabilities":{"thing":{}},"odd":1.50}"#.to_owned()),
            }),
            "elsewhere" => {
                *self.sent.lock().unwrap() = client.clone();
                let data = call.arguments().get().to_owned();
                Err(SourceFault::Rejected { code: -32042, message: "go there".to_owned(), data: Some(data) })
            }
            "elsewhere_first" => {
                *self.sent.lock().unwrap() = client.clone();
                let asked = client.ask(Asking::Elicitation, call.arguments().to_owned()).await;
                assert!(self.ended("e"));
                Ok(ToolAnswer::text(asked.unwrap().get()))
            }
            "wants_address" => match call.resumed() {
                None => again(Some(&format!(r#"{{"a":{{"method":"elicitation/create","params":{ADDRESS}}}}}"#)), None),
                Some(_) => came_back(call),
            },
            "rejected" => Err(SourceFault::Rejected { code: -7, message: "own \"words\"".to_owned(), data: None }),
            "wants" => wants(call, &["elicitation/create", "roots/list"]),
            "wants_sampling" => wants(call, &["sampling/createMessage"]),
            "wants_nonsense" => wants(call, &["no/such"]),
            "wants_state" if call.resumed().is_none() => again(None, Some("only")),
            "wants_state" => came_back(call),
            "wants_forever" => again(Some(&requests(&["elicitation/create"])), None),
            "wants_rounds" => match call.resumed().and_then(|resumed| resumed.state.as_deref()) {
                None => again(Some(&requests(&["elicitation/create"])), Some("one")),
                Some("one") => again(Some(&requests(&["sampling/createMessage"])), Some("two")),
                Some(_) => came_back(call),
            },
            name if name.starts_with("ask_") => self.ask(call, name).await,
            _ => Ok(ToolAnswer::text(call.arguments().get())),
        }
    }

    async fn ask(&self, call: &Recorded, name: &str) -> Result<ToolAnswer, SourceFault> {
        let _dropped = OnDrop(self.dropped.clone());
        let client = call.client();
        let ask = |asking: Asking| client.ask(asking, to_raw_value(&json!({"for": asking.capability()})).unwrap());
        let answers = match name {
            "ask_sampling" => vec![ask(Asking::Sampling).await],
            "ask_roots" => vec![ask(Asking::Roots).await],
            "ask_three" => {
                let (one, two, three) =
                    tokio::join!(ask(Asking::Elicitation), ask(Asking::Sampling), ask(Asking::Roots));
                vec![one, two, three]
            }
            "ask_soon" => {
                let later = async {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    ask(Asking::Roots).await
                };
                let (one, two) = tokio::join!(ask(Asking::Elicitation), later);
                vec![one, two]
            }
            "ask_briefly" => match tokio::time::timeout(Duration::from_secs(5), ask(Asking::Elicitation)).await {
                Ok(answer) => vec![answer],
                Err(_) => return Ok(ToolAnswer::text("went on without")),
            },
            "ask_twice" => {
                let first = ask(Asking::Elicitation).await;
                let note = RawValue::from_string(r#"{"level":"info","data":"between"}"#.to_owned()).unwrap();
                client.log(LogLevel::Info, &note);
                vec![first, ask(Asking::Elicitation).await]
            }
            "ask_anyway" => match ask(Asking::Elicitation).await {
                Ok(answer) => vec![Ok(answer)],
                Err(_) => return Ok(ToolAnswer::text("went on without")),
            },
            "ask_slowly" => {
                let answer = ask(Asking::Elicitation).await;
                tokio::time::sleep(Duration::from_secs(20)).await;
                vec![answer]
            }
            _ => vec![ask(Asking::Elicitation).await],
        };
        let answers: Result<Vec<_>, ClientFault> = answers.into_iter().collect();
        match answers {
            Ok(answers) => {
                let all: Vec<&str> = answers.iter().map(|answer| answer.get()).collect();
                Ok(ToolAnswer::text(&all.join(" ")))
            }
            Err(ClientFault { code, message, data }) => {
                let fault = json!({"code": code, "message": message, "data": data});
                Ok(ToolAnswer::failure(&fault, &message))
            }
        }
    }
}

/// One of each, under keys `a`, `b`…
fn requests(methods: &[&str]) -> String {
    let one = |(key, method): (char, &&str)| format!(r#""{key}":{{"method":"{method}","params":{{"odd":1.50}}}}"#);
    format!("{{{}}}", ('a'..).zip(methods).map(one).collect::<Vec<_>>().join(","))
}

fn again(requests: Option<&str>, state: Option<&str>) -> Result<ToolAnswer, SourceFault> {
    let own = |text: &str| text.to_owned();
    Err(SourceFault::InputRequired(InputRequired { requests: requests.map(own), state: state.map(own) }))
}

/// One round of questions.
fn wants(call: &Recorded, methods: &[&str]) -> Result<ToolAnswer, SourceFault> {
    match call.resumed() {
        None => again(Some(&requests(methods)), Some(STATE)),
        Some(_) => came_back(call),
    }
}

/// As the newer era has it: nothing names it.
pub const ADDRESS: &str = r#"{"url":"https://example.com", "mode":"url","message":"é"}"#;

/// Not easy to keep unchanged.
pub const STATE: &str = "its \"own\"\n状態 {}";

fn came_back(call: &Recorded) -> Result<ToolAnswer, SourceFault> {
    let resumed = call.resumed().unwrap();
    let back = json!({"responses": resumed.responses, "state": resumed.state});
    match call.tool().kind {
        Kind::Tool => Ok(ToolAnswer::structured(&back, false).unwrap()),
        _ => Ok(ToolAnswer::raw(Bytes::from(json!({"messages": [], "back": back}).to_string()))),
    }
}

/// What a call that came back saw.
pub fn seen(result: &Value) -> (Value, Value) {
    let back = result.get("structuredContent").unwrap_or(&result["back"]);
    let responses = back["responses"].as_str().map(|text| serde_json::from_str(text).unwrap());
    (responses.unwrap_or_default(), back["state"].clone())
}
