//! A source with a few keys and values, which counts its runs and can be held in the middle of one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::sync::Semaphore;
use toolgate_core::{
    Facts,
    tool::{Approval, Counterpart, Effect, Permission, Undoing, WhenDenied},
};
use toolgate_spine::{Previewed, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};

/// Where an undo goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoFault {
    /// Nothing was done, and the source says so.
    Before,
    /// It was done, and the tool says that it failed.
    Failed,
    /// It was done, and the protocol says that it failed.
    Rejected,
    /// It was done, and the answer is lost.
    Lost,
    /// It goes on for longer than it may, until it is let through.
    Slow,
}

pub struct Stage {
    /// The fault of every undo from now on.
    pub undo_fault: Mutex<Option<UndoFault>>,
    values: Mutex<BTreeMap<String, Value>>,
    /// Every run, in order: the tool and its arguments.
    runs: Mutex<Vec<(String, Value)>>,
    /// Runs of `stage.wait` that may go on.
    pub let_through: Semaphore,
    /// Runs of `stage.wait` that have begun.
    pub begun: Semaphore,
}

impl Stage {
    pub fn new() -> Arc<Self> {
        let closed = || Semaphore::new(0);
        Arc::new(Self {
            undo_fault: Mutex::default(),
            values: Mutex::default(),
            runs: Mutex::default(),
            let_through: closed(),
            begun: closed(),
        })
    }

    pub fn values(&self) -> Value {
        json!(*self.values.lock().unwrap())
    }

    pub fn runs(&self) -> Vec<(String, Value)> {
        self.runs.lock().unwrap().clone()
    }

    pub fn forget_runs(&self) {
        self.runs.lock().unwrap().clear();
    }

    async fn hold(&self, fault: Option<UndoFault>) {
        if fault == Some(UndoFault::Slow) {
            self.begun.add_permits(1);
            self.let_through.acquire().await.unwrap().forget();
        }
    }

    /// How an undo ends that has just been done, or not even tried.
    fn undo_ending(&self, fault: Option<UndoFault>, key: &str) -> Result<ToolAnswer, SourceFault> {
        match fault {
            Some(UndoFault::Failed) => Ok(answer(&json!({"error": "it broke"}), true)),
            Some(UndoFault::Rejected) => {
                Err(SourceFault::Rejected { code: -32603, message: "it broke".to_owned(), data: None })
            }
            Some(UndoFault::Lost) => Err(SourceFault::unavailable("the line went dead")),
            _ => Ok(answer(&json!({ "key": key }), false)),
        }
    }

    fn set(&self, key: &str, value: Option<Value>) -> Option<Value> {
        let mut values = self.values.lock().unwrap();
        match value {
            Some(value) => values.insert(key.to_owned(), value),
            None => values.remove(key),
        }
    }
}

const PUT: &str = r#"{"type":"object","properties":{"key":{"type":"string"},"value":{},"pin":{"type":"string"}},"required":["key","value"],"additionalProperties":false}"#;
const ANY: &str = r#"{"type":"object","properties":{"key":{"type":"string"}}}"#;
const EITHER: &str = r#"{"type":"object","properties":{"kind":{"enum":["plain","full"]},"text":{"type":"string"}},"required":["kind"],"if":{"properties":{"kind":{"const":"full"}}},"then":{"required":["text"]}}"#;
const PAY: &str = r#"{"type":"object","properties":{"cents":{"type":"integer","minimum":1}},"required":["cents"]}"#;

fn offer(name: &str, schema: &str, facts: Facts) -> ToolOffer {
    let definition = format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
    ToolOffer { name: name.to_owned(), definition: RawValue::from_string(definition).unwrap(), facts }
}

pub fn offered() -> Vec<ToolOffer> {
    let open = Facts { when_denied: WhenDenied::Explained, ..Facts::default() };
    let read = Facts { effect: Effect::Read, ..open.clone() };
    let asks = Facts { approval: Approval::Required, redact: ["/pin".to_owned()].into(), ..open.clone() };
    let dropped = Counterpart { tool: "stage.drop".to_owned(), arguments: "{key: input.key}".to_owned() };
    let admin = Facts { permission: Permission::AdminOnly, ..open.clone() };
    vec![
        offer("stage.put", PUT, open.clone()),
        offer("stage.sign", PUT, asks.clone()),
        offer("stage.seal", PUT, Facts { four_eyes: true, ..asks }),
        offer("stage.set", PUT, Facts { undo: Some(Undoing::By(dropped)), ..open.clone() }),
        offer("stage.drop", ANY, open.clone()),
        offer("stage.log", ANY, Facts { effect: Effect::Log, ..open.clone() }),
        offer("stage.get", ANY, read),
        offer("stage.pay", PAY, open.clone()),
        offer("stage.either", EITHER, open.clone()),
        offer("stage.fail", ANY, open.clone()),
        offer("stage.lost", ANY, open.clone()),
        offer("stage.panic", ANY, open.clone()),
        offer("stage.reject", ANY, open.clone()),
        offer("stage.final", ANY, open.clone()),
        offer("stage.wait", ANY, open.clone()),
        offer("stage.admin", ANY, admin.clone()),
        offer("stage.secret", ANY, Facts { when_denied: WhenDenied::Hidden, ..admin }),
    ]
}

fn answer(value: &Value, is_error: bool) -> ToolAnswer {
    ToolAnswer::structured(value, is_error).unwrap()
}

#[async_trait]
impl ToolSource for Stage {
    fn name(&self) -> &str {
        "stage"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        offered()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let tool = call.tool().name.to_string();
        let arguments: Value = serde_json::from_str(call.arguments().get()).unwrap();
        self.runs.lock().unwrap().push((tool.clone(), arguments.clone()));
        let key = arguments["key"].as_str().unwrap_or("key").to_owned();
        Ok(match tool.as_str() {
            "stage.put" | "stage.sign" | "stage.seal" => {
                let before = self.set(&key, Some(arguments["value"].clone()));
                let undo = to_raw_value(&json!({"key": key, "now": arguments["value"], "before": before})).unwrap();
                answer(&json!({"key": key, "items": [{"id": format!("id-of-{key}")}]}), false).undone_by(undo)
            }
            "stage.set" => {
                self.set(&key, Some(arguments["value"].clone()));
                answer(&json!({ "key": key }), false)
            }
            "stage.drop" => {
                let fault = *self.undo_fault.lock().unwrap();
                if fault == Some(UndoFault::Before) {
                    return Err(SourceFault::Rejected { code: -32602, message: "no such key".to_owned(), data: None });
                }
                self.hold(fault).await;
                self.set(&key, None);
                return self.undo_ending(fault, &key);
            }
            "stage.get" => answer(&json!({"value": self.values()[&key]}), false),
            "stage.wait" => {
                self.begun.add_permits(1);
                self.let_through.acquire().await.unwrap().forget();
                self.set(&key, Some(json!("waited")));
                let undo = to_raw_value(&json!({"key": key, "now": "waited", "before": null})).unwrap();
                answer(&json!({"key": key}), false).undone_by(undo)
            }
            "stage.final" => answer(&json!({"key": key}), false).never_undone("what is said is said"),
            "stage.panic" => {
                self.set(&key, Some(json!("half done")));
                panic!("a bug of the tool");
            }
            "stage.reject" => {
                self.set(&key, Some(json!("done")));
                return Err(SourceFault::Rejected { code: -32603, message: "it broke".to_owned(), data: None });
            }
            "stage.lost" => return Err(SourceFault::unavailable("the line went dead")),
            "stage.fail" => ToolAnswer::failure(&json!({"error": "no such thing"}), "no such thing"),
            _ => answer(&json!({}), false),
        })
    }

    async fn preview(&self, call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        let arguments: Value = serde_json::from_str(call.arguments().get()).unwrap();
        if call.tool().name.as_str() == "stage.sign" && !self.values()["locked"].is_null() {
            return Ok(Some(answer(&json!({"error": "it is locked"}), true)));
        }
        let native = call.tool().name.as_str() == "stage.put";
        Ok(native.then(|| answer(&json!({"would_put": arguments["key"]}), false)))
    }

    async fn undo(&self, _call: Recorded, undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let undo: Value = serde_json::from_str(undo.get()).unwrap();
        let key = undo["key"].as_str().unwrap();
        if self.values()[key] != undo["now"] {
            return Err(SourceFault::Conflict(format!("'{key}' was changed since")));
        }
        let fault = *self.undo_fault.lock().unwrap();
        if fault == Some(UndoFault::Before) {
            return Err(SourceFault::Conflict("not now".to_owned()));
        }
        self.hold(fault).await;
        let before = undo["before"].clone();
        self.runs.lock().unwrap().push(("undo".to_owned(), json!({ "key": key })));
        self.set(key, (!before.is_null()).then_some(before));
        self.undo_ending(fault, key)
    }
}
