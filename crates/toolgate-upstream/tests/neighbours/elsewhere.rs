//! Servers that send a client to an address, and say when it has been there.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json, value::RawValue};
use tokio::sync::mpsc;
use toolgate_spine::{Asking, Client, Line, Outcome, Post, Said};

use crate::site::{Site, Way, ask, client, raw, said, within};

const BY_ADDRESS: &str = r#"{"elicitation":{"url":{}}}"#;
const EVERY_WAY: [(Way, &str); 3] = [(Way::Stdio, "pipe"), (Way::Http, "stream"), (Way::Http, "listening")];

/// What is left for a client between its calls.
#[derive(Debug)]
struct Letters {
    whose: [u8; 16],
    left: Mutex<Vec<Value>>,
}

impl Letters {
    fn of(whose: u8) -> Arc<Self> {
        Arc::new(Self { whose: [whose; 16], left: Mutex::default() })
    }

    /// A client that takes them; its calls are over at once.
    fn client(self: &Arc<Self>) -> Client {
        let said = mpsc::channel(1).0;
        let line = Line { said, wants_progress: false, log: None, capabilities: raw(BY_ADDRESS), address: None };
        Client::with_post(line, Some(self.clone()))
    }

    fn names(&self) -> Vec<String> {
        let left = self.left.lock().unwrap();
        assert!(left.iter().all(|params| params["n"] == 1.5), "they come as they are: {left:?}");
        left.iter().map(|params| params["elicitationId"].as_str().unwrap().to_owned()).collect()
    }
}

impl Post for Letters {
    fn whose(&self) -> [u8; 16] {
        self.whose
    }

    fn leave(&self, note: Box<RawValue>) {
        self.left.lock().unwrap().push(serde_json::from_str(note.get()).unwrap());
    }
}

fn address(name: &str) -> Value {
    json!({"mode": "url", "elicitationId": name, "url": "https://example.com/é", "message": "go"})
}

async fn sent(site: &Site, names: &[&str], client: Client) -> Outcome {
    let all: Vec<Value> = names.iter().map(|name| address(name)).collect();
    site.outcome("address", &json!({ "elicitations": all }).to_string(), client).await
}

async fn end(site: &Site, names: &[&str]) {
    site.outcome("been", &json!({ "names": names }).to_string(), Client::default()).await;
}

async fn heard_next(heard: &mut mpsc::Receiver<Said>) -> Said {
    tokio::time::timeout(std::time::Duration::from_secs(10), heard.recv()).await.expect("nothing heard").unwrap()
}

#[tokio::test]
async fn an_end_while_the_call_runs_comes_with_the_call() {
    for (way, via) in EVERY_WAY {
        let site = Site::new(way, "legacy", &[]).await;
        let (who, mut heard) = client(BY_ADDRESS, None);
        let arguments = json!({"params": address("é 1"), "via": via, "then": "end"}).to_string();
        let (_, ()) = tokio::join!(ask(&site.spine, "question", &arguments, who), async {
            let Said::Question(question) = heard_next(&mut heard).await else { panic!("no question") };
            let params: Value = serde_json::from_str(question.params.get()).unwrap();
            let named = |key: &str| params[key].clone();
            assert_eq!([named("mode"), named("elicitationId"), named("url")], ["url", "é 1", "https://example.com/é"]);
            question.answer.send(Ok(raw(r#"{"action":"accept"}"#))).unwrap();
            let Said::Ended(params) = heard_next(&mut heard).await else { panic!("no end") };
            let params: Value = serde_json::from_str(params.get()).unwrap();
            assert_eq!(params, json!({"elicitationId": "é 1", "n": 1.5}), "{way:?} {via}");
        });
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_end_after_the_call_is_left_for_its_own_client_and_for_nobody_else() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "legacy", &[]).await;
        let (one, other) = (Letters::of(1), Letters::of(2));
        let outcome = sent(&site, &["one's", "second"], one.client()).await;
        let Outcome::Rejected { code, message, data, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!((code, &*message), (-32042, "go there first"));
        let data: Value = serde_json::from_str(&data.unwrap()).unwrap();
        assert_eq!(data, json!({"elicitations": [address("one's"), address("second")], "n": 1.5}), "{way:?}");
        sent(&site, &["other's"], other.client()).await;
        // sent to the same place by its next call
        sent(&site, &["one's"], one.client()).await;
        end(&site, &["unheard of", "other's", "one's", "one's"]).await;
        within(5, "both are told", async || one.names() == ["one's"] && other.names() == ["other's"]).await;
        // what is two clients' is neither's
        sent(&site, &["second"], other.client()).await;
        end(&site, &["second"]).await;
        sent(&site, &["last"], other.client()).await;
        end(&site, &["last"]).await;
        within(5, "the last is told", async || other.names().len() == 2).await;
        assert_eq!((one.names(), other.names()), (vec!["one's".to_owned()], vec!["other's".into(), "last".into()]));
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_may_not_ask_sends_nobody_anywhere() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::with(way, "legacy", &[], |config| config.ask = vec![Asking::Sampling]).await;
        let text = said(sent(&site, &["e"], Letters::of(1).client()).await);
        assert!(text.contains("wants to ask the client for elicitation, and may not"), "{text}");
        assert!(!text.contains("example.com"), "{text}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn the_newer_era_sends_in_its_answers_and_has_no_word_for_an_end() {
    for way in [Way::Stdio, Way::Http] {
        let site = Site::new(way, "modern", &[]).await;
        let asked =
            json!({"method": "elicitation/create", "params": {"mode": "url", "url": "https://x", "message": ""}});
        let requests = json!({ "a": asked }).to_string();
        let arguments = json!({ "requests": requests }).to_string();
        let outcome = site.outcome("input", &arguments, client(BY_ADDRESS, None).0).await;
        let Outcome::InputRequired { input, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(input.requests, Some(requests));
        let text = said(site.outcome("input", &arguments, client(r#"{"elicitation":{}}"#, None).0).await);
        assert!(text.contains("does not offer elicitation by address"), "{text}");
        // nobody is sent under a name, so that nobody is told
        let (who, mut heard) = client(BY_ADDRESS, None);
        let ended = json!({"names": ["a"]}).to_string();
        let streams = async || way == Way::Stdio || site.fixture.log().contains("subscriptions/listen");
        within(5, "somebody listens", streams).await;
        site.outcome("been", &ended, who).await;
        assert!(site.works().await);
        assert!(heard.try_recv().is_err(), "{way:?}");
        site.upstream.stop().await;
    }
}
