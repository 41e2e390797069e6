//! The state a client brings back with its answers: good for its own caller and call, once, for a while.

use serde_json::{Value, json};

use crate::{
    house::Site,
    requests::{Ask, Got, able, modern},
};

struct Waiting {
    state: String,
    key: String,
}

const ARGUMENTS: &str = r#"{"a":1}"#;

fn params(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments, "_meta": able()})
}

/// A call of Alice's that waits.
async fn waiting(site: &Site, tool: &str) -> Waiting {
    let arguments = serde_json::from_str(ARGUMENTS).unwrap();
    let result = modern("tools/call", params(tool, &arguments)).bearer("user:alice").post(site).await.result();
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    Waiting { state: result["requestState"].as_str().unwrap().to_owned(), key }
}

impl Waiting {
    fn with(&self, method: &str, mut params: Value, state: Value) -> Ask {
        params["requestState"] = state;
        params["inputResponses"] = json!({&self.key: "answer"});
        modern(method, params)
    }

    fn again(&self, tool: &str, arguments: Value) -> Ask {
        self.with("tools/call", params(tool, &arguments), json!(self.state))
    }
}

fn assert_refused(got: &Got, what: &str) {
    assert_eq!(got.error(), (200, -32602), "{what}");
    assert!(got.message().contains("call again without"), "{what}: {}", got.message());
}

#[tokio::test(start_paused = true)]
async fn a_state_of_another_caller_call_or_making_runs_nothing() {
    for tool in ["ask_elicitation", "wants"] {
        let site = Site::new();
        let waiting = waiting(&site, tool).await;
        let runs = site.fixture.runs();
        let alice = |ask: Ask| ask.bearer("user:alice");
        let same = json!({"a": 1});
        let mut tampered = Vec::new();
        for at in [0, 20, waiting.state.len() - 1] {
            let mut state = waiting.state.clone();
            let other = if &state[at..=at] == "A" { "B" } else { "A" };
            state.replace_range(at..=at, other);
            tampered.push(json!(state));
        }
        tampered.extend([json!(""), json!("made-up"), json!(7), json!({}), json!(format!("{}A", waiting.state))]);
        for state in tampered {
            let got = alice(waiting.with("tools/call", params(tool, &same), state.clone())).post(&site).await;
            assert_refused(&got, &state.to_string());
        }
        for (ask, what) in [
            (waiting.again(tool, same.clone()), "nobody"),
            (waiting.again(tool, same.clone()).bearer("user:bob"), "another caller"),
            (alice(waiting.again(tool, json!({"a": 2}))), "other arguments"),
            (alice(waiting.again(tool, json!({}))), "no arguments"),
            (alice(waiting.again("ask_roots", same.clone())), "another tool"),
            (alice(waiting.again("no_such", same.clone())), "no tool"),
            (alice(waiting.again("hidden", same.clone())), "a hidden tool"),
            (alice(waiting.with("prompts/get", params(tool, &same), json!(waiting.state))), "a prompt of that name"),
        ] {
            assert_refused(&ask.post(&site).await, what);
        }
        let foreign = Site::with(|config| config.seal_key = b"another key".to_vec());
        assert_refused(&alice(waiting.again(tool, same.clone())).post(&foreign).await, "another key");
        assert_eq!((site.fixture.runs(), foreign.fixture.runs()), (runs, 0), "{tool}");
        let got = alice(waiting.again(tool, same)).post(&site).await;
        assert_eq!(got.result()["resultType"], "complete", "none of it used it up");
    }
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_is_gone_on_with_once() {
    let site = Site::new();
    let waiting = waiting(&site, "ask_elicitation").await;
    let ask = waiting.again("ask_elicitation", json!({"a": 1})).bearer("user:alice");
    assert_eq!(ask.post(&site).await.result()["content"][0]["text"], r#""answer""#);
    assert_refused(&ask.post(&site).await, "second use");
    assert_eq!(site.fixture.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn of_two_that_come_back_at_once_one_goes_on() {
    let site = Site::new();
    let waiting = waiting(&site, "ask_elicitation").await;
    let ask = waiting.again("ask_elicitation", json!({"a": 1})).bearer("user:alice");
    let (one, other) = tokio::join!(ask.post(&site), ask.post(&site));
    let mut codes = [one.error().1, other.error().1];
    codes.sort_unstable();
    assert_eq!(codes, [-32602, 0]);
}

#[tokio::test(start_paused = true)]
async fn another_replica_does_not_know_a_waiting_call_and_says_so() {
    let (site, other) = (Site::new(), Site::new());
    let waiting = waiting(&site, "ask_elicitation").await;
    let got = waiting.again("ask_elicitation", json!({"a": 1})).bearer("user:alice").post(&other).await;
    assert_refused(&got, "elsewhere");
    assert!(got.message().contains("waits elsewhere"), "{}", got.message());
    assert_eq!(other.fixture.runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_source_of_the_newer_era_gets_its_state_back_at_any_replica() {
    let (site, other) = (Site::new(), Site::new());
    let waiting = waiting(&site, "wants").await;
    let got = waiting.again("wants", json!({"a": 1})).bearer("user:alice").post(&other).await;
    assert_eq!(crate::source::seen(&got.result()).1, crate::source::STATE);
}

#[tokio::test(start_paused = true)]
async fn a_state_for_what_is_hidden_is_answered_as_for_what_is_unknown() {
    let site = Site::new();
    let ask = |name: &str, state: Value| {
        modern("tools/call", json!({"name": name, "requestState": state, "inputResponses": {}}))
    };
    for state in [json!("made-up"), json!(null)] {
        let hidden = ask("hidden", state.clone()).post(&site).await;
        let unknown = ask("hiddem", state).post(&site).await;
        assert_eq!((hidden.status, hidden.body.replace("hidden", "hiddem")), (unknown.status, unknown.body));
    }
}
