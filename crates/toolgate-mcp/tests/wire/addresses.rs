//! Addresses in another spelling than the normal one, and names that no record could show.

use serde_json::json;

use crate::{
    house::Site,
    requests::{legacy, modern},
};

/// Each is `note://private/x` to some server.
const SPELLINGS: [&str; 10] = [
    "note://%70rivate/x",
    "NOTE://private/x",
    "note://private/./x",
    "note://private/y/../x",
    "note://private//x",
    "note://private/%78",
    "note:\\\\private\\x",
    "note://private/x#y",
    "note://a@private/x",
    "note://private:0/x",
];

#[tokio::test]
async fn another_spelling_of_an_address_leads_nowhere_and_is_told_the_normal_one() {
    let site = Site::new();
    for uri in SPELLINGS {
        for ask in [modern, legacy] {
            for asked in [
                ask("resources/read", json!({ "uri": uri })),
                ask("resources/read", json!({ "uri": uri })).bearer("user:ann"),
            ] {
                let got = asked.post(&site).await;
                assert!(
                    got.message().contains("not in its normal form") && got.message().contains("note://private"),
                    "{}",
                    got.body
                );
            }
        }
    }
    assert_eq!(site.fixture.runs(), 0);
    let read = legacy("resources/read", json!({"uri": "note://private/x"}));
    assert!(read.post(&site).await.message().contains("not found"), "a stranger may not");
    assert!(
        legacy("resources/read", json!({"uri": "note://public"})).post(&site).await.result()["contents"].is_array()
    );
}

#[tokio::test]
async fn an_escaped_slash_leads_nowhere_and_no_other_address_is_advised() {
    let site = Site::new();
    for uri in ["note://private%2Fx", "note://private%5cx"] {
        let got = legacy("resources/read", json!({ "uri": uri })).bearer("user:ann").post(&site).await;
        assert!(got.message().contains("escaped slash") && !got.message().contains("send"), "{}", got.body);
    }
    assert_eq!(site.fixture.runs(), 0);
}

#[tokio::test]
async fn control_characters_in_a_name_or_an_address_are_refused_at_once() {
    let site = Site::new();
    for (method, params) in [
        ("tools/call", json!({"name": "ec\u{0}ho"})),
        ("tools/call", json!({"name": "\u{0}"})),
        ("prompts/get", json!({"name": "greeting\n"})),
        ("resources/read", json!({"uri": "file:///op\u{0}en"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "\u{0}"}, "argument": {"name": "a", "value": "b"}}),
        ),
    ] {
        let got = legacy(method, params).post(&site).await;
        assert_eq!(got.error(), (400, -32602), "{method}: {}", got.body);
        assert!(got.message().contains("control characters"), "{}", got.body);
    }
}
