//! What a server of the older era asks while it runs a call: put to the client of that call, or to nobody.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolgate_spine::{Asking, Client, ClientFault, Outcome, Question, Said};

use toolgate_upstream::State;

use crate::site::{Site, Way, ask, client, raw, said, within};

const ALL: &str = r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}"#;

async fn next(heard: &mut mpsc::Receiver<Said>) -> Question {
    let said = tokio::time::timeout(Duration::from_secs(10), heard.recv()).await.expect("no question").unwrap();
    let Said::Question(question) = said else { panic!("{said:?}") };
    question
}

/// What the server was answered, as its tool reports it.
fn answers(outcome: Outcome) -> Vec<Value> {
    let text = said(outcome);
    let result: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

fn message(question: &Question) -> String {
    serde_json::from_str::<Value>(question.params.get()).unwrap()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_question_reaches_the_client_and_its_answer_the_server() {
    for (way, via) in [(Way::Stdio, "pipe"), (Way::Http, "stream"), (Way::Http, "listening")] {
        let site = Site::new(way, "legacy", &[]).await;
        for asking in Asking::ALL {
            let (who, mut heard) = client(ALL, None);
            let arguments = json!({"method": asking.method(), "via": via}).to_string();
            let call = site.outcome("question", &arguments, who);
            let (outcome, ()) = tokio::join!(call, async {
                let question = next(&mut heard).await;
                assert_eq!(question.asking, asking);
                question.answer.send(Ok(raw(r#"{"z":1.50, "a":"é"}"#))).unwrap();
            });
            assert_eq!(answers(outcome)[0]["result"], json!({"z": 1.5, "a": "é"}), "{way:?} {via}");
            assert!(site.fixture.log().replace('\\', "").contains(r#""result":{"z":1.50, "a":""#));
        }
        let (who, mut heard) = client(ALL, None);
        let (outcome, ()) = tokio::join!(site.outcome("question", "{}", who), async {
            let data = Some(r#"{"n":1}"#.to_owned());
            let fault = ClientFault { code: -1, message: "no \"thanks\"".to_owned(), data };
            next(&mut heard).await.answer.send(Err(fault)).unwrap();
        });
        let expected = json!({"code": -1, "message": "no \"thanks\"", "data": {"n": 1}});
        assert_eq!(answers(outcome)[0]["error"], expected);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_may_be_asked_is_declared_and_the_rest_is_refused() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::with(way, "legacy", &[], |config| config.ask = vec![Asking::Elicitation]).await;
        let declared = &site.fixture.messages("initialize")[0]["params"]["capabilities"];
        assert_eq!(*declared, json!({"elicitation": {"form": {}, "url": {}}}));
        let (who, mut heard) = client(ALL, None);
        let code = async |arguments: Value, who: Client| {
            answers(site.outcome("question", &arguments.to_string(), who).await)[0]["error"]["code"].clone()
        };
        assert_eq!(code(json!({"method": "sampling/createMessage"}), who).await, -32601);
        let by_address = json!({"params": {"mode": "url"}});
        assert_eq!(code(by_address, client(r#"{"elicitation":{}}"#, None).0).await, -32602);
        assert_eq!(code(json!({}), Client::default()).await, -32601);
        assert!(heard.try_recv().is_err());
        site.upstream.stop().await;
    }
    let site = Site::new(Way::Stdio, "legacy", &[]).await;
    let declared = &site.fixture.messages("initialize")[0]["params"]["capabilities"];
    let all = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}});
    assert_eq!(*declared, all);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_question_that_may_be_another_callers_reaches_nobody() {
    for (way, via) in [(Way::Stdio, "pipe"), (Way::Http, "listening")] {
        let site = Site::new(way, "legacy", &[]).await;
        let (one, mut one_heard) = client(ALL, None);
        let (other, mut other_heard) = client(ALL, None);
        let held = ask(&site.spine, "hold", r#"{"key":"a"}"#, one);
        let meanwhile = async {
            within(5, "the call is held", async || site.fixture.log().contains(r#""holding": "a""#)).await;
            let arguments = json!({"via": via, "text": "the secret of the other"}).to_string();
            let answer = answers(site.outcome("question", &arguments, other).await).remove(0);
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("not certain which call"), "{answer}");
            site.outcome("release", r#"{"key":"a"}"#, Client::default()).await;
        };
        tokio::join!(held, meanwhile);
        assert!(one_heard.try_recv().is_err() && other_heard.try_recv().is_err(), "{way:?}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn over_http_two_callers_are_asked_at_once_each_in_its_own_call() {
    let site = Site::new(Way::Http, "legacy", &[]).await;
    let answering = async |name: &'static str| {
        let (who, mut heard) = client(ALL, None);
        let arguments = json!({ "text": name }).to_string();
        let (outcome, ()) = tokio::join!(ask(&site.spine, "question", &arguments, who), async {
            let question = next(&mut heard).await;
            assert!(message(&question).starts_with(name), "{}", message(&question));
            question.answer.send(Ok(raw(&json!({ "from": name }).to_string()))).unwrap();
        });
        assert_eq!(answers(outcome)[0]["result"]["from"], name);
        assert!(heard.try_recv().is_err());
    };
    tokio::join!(answering("one"), answering("two"), answering("three"));
    site.upstream.stop().await;
}

#[tokio::test]
async fn the_question_of_a_call_that_was_given_up_is_not_put_to_the_next_caller() {
    for (way, via) in [(Way::Stdio, "pipe"), (Way::Http, "listening")] {
        let site = Site::new(way, "legacy", &[]).await;
        let (gone, mut gone_heard) = client(ALL, None);
        let (next_one, mut next_heard) = client(ALL, None);
        let arguments = json!({"after": "called off", "via": via, "text": "mine"}).to_string();
        let given_up = ask(&site.spine, "question", &arguments, gone);
        let reached = within(5, "it runs", async || site.fixture.calls("question") == 1);
        tokio::select! {
            _ = given_up => panic!("it waits to be called off"),
            () = reached => {}
        }
        let held = ask(&site.spine, "hold", r#"{"key":"a"}"#, next_one);
        let meanwhile = async {
            within(5, "its question was answered", async || site.fixture.log().contains(r#""asked""#)).await;
            site.outcome("release", r#"{"key":"a"}"#, Client::default()).await;
        };
        tokio::join!(held, meanwhile);
        assert!(gone_heard.try_recv().is_err() && next_heard.try_recv().is_err(), "{way:?}");
        let log = site.fixture.log().replace('\\', "");
        assert!(log.contains(r#""error":{"code":-32600"#), "{way:?} {log}");
        // it is connected anew once nobody is at work there, and then questions are certain again
        let anew = async || site.upstream.status().connections == 2 && site.upstream.status().state == State::Up;
        within(10, "it is connected anew", anew).await;
        let (again, mut again_heard) = client(ALL, None);
        let arguments = json!({"via": via, "text": "again"}).to_string();
        let (outcome, ()) = tokio::join!(site.outcome("question", &arguments, again), async {
            // over HTTP the fixture itself goes on, and takes the older answer of that number for this one
            if way == Way::Stdio {
                next(&mut again_heard).await.answer.send(Ok(raw("{}"))).unwrap();
            }
        });
        assert_eq!(answers(outcome).len(), 1, "{way:?}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_flood_of_questions_is_put_as_far_as_the_limit_and_the_call_goes_on() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        let (who, mut heard) = client(ALL, None);
        let (outcome, ()) = tokio::join!(site.outcome("question", r#"{"count":100}"#, who), async {
            let mut open = Vec::new();
            for _ in 0..16 {
                open.push(next(&mut heard).await);
            }
            // the rest has been refused by the time the last of them was read
            let refused = async || site.fixture.log().matches("wait for answers already").count() == 84;
            within(10, "the rest is refused", refused).await;
            assert!(heard.try_recv().is_err());
            open.into_iter().for_each(|question| question.answer.send(Ok(raw("{}"))).unwrap());
        });
        let answers = answers(outcome);
        assert_eq!(answers.iter().filter(|answer| answer.get("result").is_some()).count(), 16, "{way:?}");
        assert!(site.works().await);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_question_ends_with_its_call_and_a_later_answer_goes_nowhere() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        // the call is answered before the question
        let (who, mut heard) = client(ALL, None);
        site.outcome("question", r#"{"then":"go"}"#, who).await;
        while let Ok(Said::Question(mut question)) = heard.try_recv() {
            question.answer.closed().await;
            assert!(question.answer.send(Ok(raw(r#"{"came":"belated"}"#))).is_err());
        }
        // the caller goes
        let (who, mut heard) = client(ALL, None);
        let call = ask(&site.spine, "question", "{}", who);
        let mut question = tokio::select! {
            _ = call => panic!("it waits for an answer"),
            question = next(&mut heard) => question,
        };
        question.answer.closed().await;
        let called_off = async || !site.fixture.messages("notifications/cancelled").is_empty();
        within(5, "the call is called off", called_off).await;
        assert!(site.works().await);
        assert!(!site.fixture.log().contains("belated"));
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_question_that_the_server_withdraws_is_dropped() {
    for (way, via) in [(Way::Stdio, "pipe"), (Way::Http, "stream"), (Way::Http, "listening")] {
        let site = Site::new(way, "legacy", &[]).await;
        let (who, mut heard) = client(ALL, None);
        let arguments = json!({"then": "withdraw", "via": via}).to_string();
        let release = async |key: &str| {
            site.outcome("release", &json!({ "key": key }).to_string(), Client::default()).await;
        };
        tokio::join!(ask(&site.spine, "question", &arguments, who), async {
            let mut question = next(&mut heard).await;
            release("seen").await;
            // while the call still runs
            question.answer.closed().await;
            let over = heard.recv().await.unwrap();
            assert!(matches!(over, Said::Withdrawn(number) if number == question.number), "{over:?}");
            release("withdrawn").await;
        });
        assert!(site.works().await);
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn the_time_a_client_thinks_is_not_the_servers() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::with(way, "legacy", &[], |config| config.timeout_ms = 1000).await;
        let (who, mut heard) = client(ALL, None);
        let (outcome, ()) = tokio::join!(site.outcome("question", "{}", who), async {
            let question = next(&mut heard).await;
            tokio::time::sleep(Duration::from_millis(2500)).await;
            assert_eq!(site.upstream.status().calls_under_way, 1, "its slot is held");
            question.answer.send(Ok(raw("{}"))).unwrap();
        });
        assert_eq!(answers(outcome)[0]["result"], json!({}), "{way:?}");
        site.upstream.stop().await;
    }
}
