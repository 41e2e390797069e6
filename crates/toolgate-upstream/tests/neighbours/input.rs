//! What a server of the newer era asks in its answer, and how the answers come back to it.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Caller, Kind};
use toolgate_spine::{Asking, Call, Client, InputRequired, LogLevel, Outcome, Resumed};

use crate::site::{Site, Way, client, raw, said};

async fn input(site: &Site, kind: Kind, arguments: &str, client: Client, resumed: Option<Resumed>) -> Outcome {
    let name = if kind == Kind::Resource { "test://input" } else { "input" };
    let arguments = raw(arguments);
    let call = Call { client, resumed, ..Call::of(kind, name, Some(&arguments), site.spine.gate().lang()) };
    site.spine.call(&Arc::new(Caller::anonymous()), call).await
}

#[tokio::test]
async fn a_question_comes_back_as_it_is_and_its_answers_go_as_they_are() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "modern", &[]).await;
        for kind in [Kind::Tool, Kind::Prompt, Kind::Resource] {
            let (asked, _heard) = client(r#"{"elicitation":{}}"#, None);
            let outcome = input(&site, kind, "{}", asked.clone(), None).await;
            let Outcome::InputRequired { input: wanted, .. } = outcome else { panic!("{outcome:?}") };
            let requests = r#"{"who" : {"method":"elicitation/create","params":{"message":"é"}}}"#.to_owned();
            assert_eq!(wanted, InputRequired { requests: Some(requests), state: Some("sé \"1\"".to_owned()) });
            let responses = r#"{"who":{"action":"accept", "content":{"n":1.50}}}"#.to_owned();
            let resumed = Resumed { responses: Some(responses.clone()), state: wanted.state };
            let result = said(input(&site, kind, "{}", asked, Some(resumed)).await);
            assert!(result.contains("accept"), "{result}");
            let sent = site.fixture.log().replace(r#"\""#, r#"""#);
            assert!(sent.contains(&format!("\"inputResponses\":{responses}")), "{sent}");
            let method = match kind {
                Kind::Tool => "tools/call",
                Kind::Prompt => "prompts/get",
                _ => "resources/read",
            };
            assert_eq!(site.fixture.messages(method)[1]["params"]["requestState"], "sé \"1\"");
        }
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_question_that_the_client_or_the_operator_does_not_allow_is_an_error() {
    let site = Site::with(Way::Http, "modern", &[], |config| config.ask = vec![Asking::Elicitation]).await;
    let wants = |requests: &str| json!({ "requests": requests }).to_string();
    let (can, _heard) = client(r#"{"elicitation":{},"sampling":{}}"#, None);
    let (can_not, _heard) = client("{}", None);
    let sampling = wants(r#"{"a":{"method":"sampling/createMessage","params":{}}}"#);
    let text = said(input(&site, Kind::Tool, &sampling, can.clone(), None).await);
    assert!(text.contains("upstream 'fix' wants to ask the client for sampling, and may not"), "{text}");
    let text = said(input(&site, Kind::Tool, "{}", can_not, None).await);
    assert!(text.contains("does not offer elicitation"), "{text}");
    for wrong in [r#"{"a":{"method":"tools/call"}}"#, r#"{"a":1}"#, "[]", "null"] {
        let text = said(input(&site, Kind::Tool, &wants(wrong), can.clone(), None).await);
        assert!(text.contains("does not speak the protocol: it asks for input with"), "{wrong}: {text}");
    }
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_request_says_what_its_client_can_be_asked_and_wants_to_hear_and_nothing_else_of_it() {
    for way in [Way::Stdio, Way::Http] {
        let allowed = vec![Asking::Roots, Asking::Elicitation];
        let site = Site::with(way, "modern", &[], |config| config.ask = allowed).await;
        let capabilities = r#"{"elicitation":{"url":{}},"sampling":{},"extensions":{"a/b":{}},"roots":{}}"#;
        let (told, _heard) = client(capabilities, Some(LogLevel::Notice));
        site.outcome("echo", "{}", told).await;
        site.call("echo").await;
        let calls = site.fixture.messages("tools/call");
        let prefix = "io.modelcontextprotocol";
        let meta = |call: &Value, key: &str| call["params"]["_meta"][format!("{prefix}/{key}")].clone();
        assert_eq!(meta(&calls[0], "clientCapabilities"), json!({"elicitation": {"url": {}}, "roots": {}}));
        assert_eq!(meta(&calls[0], "logLevel"), "notice");
        assert_eq!((meta(&calls[1], "clientCapabilities"), meta(&calls[1], "logLevel")), (json!({}), Value::Null));
        assert!(calls.iter().all(|call| call["params"]["_meta"]["progressToken"].is_null()));
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn answers_for_a_server_that_has_become_an_older_one_are_not_sent() {
    let site = Site::new(Way::Stdio, "legacy", &[]).await;
    let resumed = Resumed { responses: None, state: Some("x".to_owned()) };
    let text = said(input(&site, Kind::Tool, "{}", Client::default(), Some(resumed)).await);
    assert!(text.contains("upstream 'fix' no longer waits for these answers"), "{text}");
    assert_eq!(site.fixture.calls("input"), 0);
    // and it has no way to ask in its answer
    let text = said(input(&site, Kind::Tool, "{}", Client::default(), None).await);
    assert!(text.contains(r#"it answered a call with a "input_required""#), "{text}");
    site.upstream.stop().await;
}
