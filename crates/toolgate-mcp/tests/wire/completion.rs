//! Completion of arguments: of what the caller may use, and of nothing else.

use serde_json::{Value, json};

use crate::{
    house::Site,
    lines::Client,
    requests::{legacy, meta, modern},
};

fn of(reference: Value) -> Value {
    json!({"ref": reference, "argument": {"name": "a", "value": "x"}, "context": {"arguments": {"b": "y"}}})
}

#[tokio::test]
async fn arguments_of_prompts_and_templates_are_completed_by_their_source() {
    let site = Site::new();
    for (reference, name) in [
        (json!({"type": "ref/prompt", "name": "greeting"}), "greeting"),
        (json!({"type": "ref/resource", "uri": "note://{id}"}), "note://{id}"),
    ] {
        let expected = json!({"completion": {"values": [name]},
            "given": {"argument": {"name": "a", "value": "x"}, "context": {"arguments": {"b": "y"}}}});
        let old = legacy("completion/complete", of(reference.clone())).post(&site).await;
        assert_eq!(old.result(), expected);
        let new = modern("completion/complete", of(reference.clone())).post(&site).await.result();
        assert_eq!((&new["completion"], &new["given"]), (&expected["completion"], &expected["given"]));
        assert_eq!(new["resultType"], "complete");
        let mut client = Client::new(&site, None);
        let mut params = of(reference);
        params["_meta"] = meta();
        client.ask(1, "completion/complete", params).await;
        assert_eq!(client.hear().await.unwrap()["result"]["completion"], expected["completion"]);
    }
}

#[tokio::test]
async fn who_may_use_it_completes_what_others_do_not_see() {
    let site = Site::new();
    for reference in
        [json!({"type": "ref/prompt", "name": "Secret plan"}), json!({"type": "ref/resource", "uri": "secret://{id}"})]
    {
        for ask in [modern, legacy] {
            let ask = ask("completion/complete", of(reference.clone()));
            assert!(ask.post(&site).await.json().get("error").is_some());
            assert!(ask.bearer("user:alice").post(&site).await.result()["completion"].is_object());
        }
    }
}

#[tokio::test]
async fn a_reference_that_is_none_is_refused() {
    let site = Site::new();
    for params in [
        json!({"argument": {}}),
        json!({"ref": "greeting", "argument": {}}),
        json!({"ref": {"type": "ref/tool", "name": "echo"}, "argument": {}}),
        json!({"ref": {"type": "ref/prompt", "uri": "greeting"}, "argument": {}}),
        json!({"ref": {"type": "ref/resource", "name": "note://{id}"}, "argument": {}}),
        json!({"ref": {"type": "ref/prompt", "name": 7}, "argument": {}}),
        json!({"ref": {"type": "ref/prompt", "name": "greeting"}}),
        json!({"ref": {"type": "ref/prompt", "name": "greeting"}, "argument": "a"}),
    ] {
        for ask in [modern, legacy] {
            let got = ask("completion/complete", params.clone()).post(&site).await;
            assert_eq!(got.error(), (400, -32602), "{params}");
            assert!(got.message().starts_with("params."), "{}", got.message());
        }
    }
}
