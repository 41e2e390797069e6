//! What a server asks of a client while a call runs. The answers are sent by tasks that end with the call.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio_util::task::AbortOnDropHandle;
use toolgate_spine::{Asking, Client, ClientFault};

use crate::{
    marks::params_without_marks,
    message::{self, Request},
    scan,
};

/// Questions of one call that may wait for their answers at once.
const OPEN: usize = 16;
/// A server numbers or names its questions; nobody needs longer names.
const ID_BYTES: usize = 256;

/// A call under way, and the client it is for.
pub(crate) struct Turn {
    pub(crate) id: u64,
    pub(crate) client: Client,
    allowed: Vec<Asking>,
    /// By the server's own ids; `None` once the call is over.
    open: Mutex<Option<HashMap<String, AbortOnDropHandle<()>>>>,
}

impl Turn {
    pub(crate) fn new(id: u64, client: Client, allowed: Vec<Asking>) -> Self {
        Self { id, client, allowed, open: Mutex::new(Some(HashMap::new())) }
    }

    /// Puts a question to the client, and sends its answer whenever it comes. Does not wait.
    pub(crate) fn put<F>(
        self: &Arc<Self>,
        request: &Request<'_>,
        asking: Asking,
        send: impl FnOnce(Bytes) -> F + Send + 'static,
    ) -> Result<(), ClientFault>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let params = request.params.map_or_else(nothing, |params| params_without_marks(params).into_owned());
        if let Err(fault) = admitted(&self.client, &self.allowed, asking, params.get()) {
            if self.allowed.contains(&asking) {
                self.client.lacks(asking);
            }
            return Err(fault);
        }
        let mut open = self.open();
        let Some(questions) = open.as_mut() else { return Err(refusal(-32600, "the call it belongs to is over")) };
        if request.id.len() > ID_BYTES || questions.contains_key(request.id) {
            return Err(refusal(-32600, "its id is too long, or another open question has it"));
        }
        if questions.len() >= OPEN {
            return Err(refusal(-32603, &format!("{OPEN} questions of this call wait for answers already")));
        }
        let (id, client, turn) = (request.id.to_owned(), self.client.clone(), Arc::downgrade(self));
        let key = id.clone();
        let task = tokio::spawn(async move {
            let reply = match client.ask(asking, params).await {
                Ok(result) => message::answer(&id, result.get()),
                Err(fault) => message::error(&id, &fault),
            };
            send(reply).await;
            if let Some(turn) = turn.upgrade() {
                turn.withdraw(&id);
            }
        });
        questions.insert(key, AbortOnDropHandle::new(task));
        Ok(())
    }

    /// The server no longer wants to know, or has been told.
    pub(crate) fn withdraw(&self, id: &str) {
        let gone = self.open().as_mut().and_then(|questions| questions.remove(id));
        drop(gone);
    }

    /// INVARIANT: from here on no answer of this call's client goes to the server.
    pub(crate) fn close(&self) {
        let gone = self.open().take();
        drop(gone);
    }

    fn open(&self) -> MutexGuard<'_, Option<HashMap<String, AbortOnDropHandle<()>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an upstream that may ask for `allowed` may ask this of this client, in the way it does.
pub(crate) fn admitted(client: &Client, allowed: &[Asking], asking: Asking, params: &str) -> Result<(), ClientFault> {
    let what = asking.capability();
    if !allowed.contains(&asking) {
        return Err(refusal(-32601, &format!("this client does not let the server ask for {what}")));
    }
    if !client.can(asking) {
        return Err(refusal(-32601, &format!("the client of this call does not offer {what}")));
    }
    let declared = scan::member(client.capabilities(), what).unwrap_or("{}");
    let has = |part: &str| scan::member(declared, part).is_some();
    let (fits, way) = match asking {
        Asking::Elicitation if scan::member(params, "mode") == Some("\"url\"") => (has("url"), "by address"),
        // without any mode, forms are meant
        Asking::Elicitation => (has("form") || !has("url"), "by form"),
        Asking::Sampling if scan::member(params, "tools").is_some() => (has("tools"), "with tools"),
        Asking::Sampling | Asking::Roots => (true, ""),
    };
    if fits { Ok(()) } else { Err(refusal(-32602, &format!("the client of this call does not offer {what} {way}"))) }
}

const NONE: &str = "{}";

/// What the client said it can be asked, as far as the upstream may ask it. Nothing else a client says of itself goes on.
pub(crate) fn passed_on(client: &Client, allowed: &[Asking]) -> Cow<'static, str> {
    if allowed.is_empty() || client.capabilities() == NONE {
        return NONE.into();
    }
    let member = |asking: &Asking| {
        let name = asking.capability();
        let value = scan::member(client.capabilities(), name).filter(|value| value.starts_with('{'))?;
        Some(format!("\"{name}\":{value}"))
    };
    format!("{{{}}}", allowed.iter().filter_map(member).collect::<Vec<_>>().join(",")).into()
}

/// What is declared where no client is known yet: everything some client might offer.
pub(crate) fn declared(allowed: &[Asking]) -> String {
    let member = |asking: &Asking| match asking {
        Asking::Elicitation => "\"elicitation\":{\"form\":{},\"url\":{}}",
        Asking::Sampling => "\"sampling\":{\"tools\":{}}",
        Asking::Roots => "\"roots\":{}",
    };
    format!("{{{}}}", allowed.iter().map(member).collect::<Vec<_>>().join(","))
}

pub(crate) fn refusal(code: i64, message: &str) -> ClientFault {
    ClientFault { code, message: message.to_owned(), data: None }
}

fn nothing() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use toolgate_spine::Line;

    use super::*;

    fn client(capabilities: &str) -> Client {
        let capabilities = RawValue::from_string(capabilities.to_owned()).unwrap();
        Client::on(Line { said: mpsc::channel(1).0, wants_progress: false, log: None, capabilities, address: None })
    }

    #[test]
    fn only_what_both_the_client_and_the_operator_allow_is_asked() {
        let allows = |capabilities: &str, asking: Asking, params: &str| {
            admitted(&client(capabilities), &[Asking::Elicitation, Asking::Sampling], asking, params)
                .map_err(|fault| fault.code)
        };
        assert_eq!(allows(r#"{"elicitation":{}}"#, Asking::Elicitation, "{}"), Ok(()));
        assert_eq!(allows(r#"{"elicitation":{}}"#, Asking::Elicitation, r#"{"mode":"url"}"#), Err(-32602));
        assert_eq!(allows(r#"{"elicitation":{"url":{}}}"#, Asking::Elicitation, r#"{"mode":"url"}"#), Ok(()));
        assert_eq!(allows(r#"{"elicitation":{"url":{}}}"#, Asking::Elicitation, r#"{"mode":"form"}"#), Err(-32602));
        assert_eq!(allows(r#"{"sampling":{}}"#, Asking::Sampling, r#"{"tools":[]}"#), Err(-32602));
        assert_eq!(allows(r#"{"sampling":{"tools":{}}}"#, Asking::Sampling, r#"{"tools":[]}"#), Ok(()));
        assert_eq!(allows(r#"{"roots":{}}"#, Asking::Roots, "{}"), Err(-32601));
        assert_eq!(allows("{}", Asking::Elicitation, "{}"), Err(-32601));
    }

    #[test]
    fn capabilities_pass_as_they_came_and_no_others_do() {
        let client = client(r#"{"roots":{"listChanged":true},"elicitation":{ "form":{}},"sampling":null,"x":{}}"#);
        let all = passed_on(&client, &Asking::ALL);
        assert_eq!(all, r#"{"elicitation":{ "form":{}},"roots":{"listChanged":true}}"#);
        assert_eq!(passed_on(&client, &[Asking::Roots]), r#"{"roots":{"listChanged":true}}"#);
        assert_eq!(passed_on(&Client::default(), &Asking::ALL), "{}");
    }
}
