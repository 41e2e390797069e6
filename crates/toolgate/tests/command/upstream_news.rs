//! What an upstream says by itself reaches the streams of those it concerns, through the whole gate.

use serde_json::{Value, json};

use super::bed::{
    events::Events,
    home::Home,
    http::Request,
    message::{Era, Message},
    served::Served,
};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../toolgate-upstream/tests/fixture/server.py");
const PROMPTS: &str = "notifications/prompts/list_changed";

/// A gate over a server of the older era, its tools accepted.
fn raised() -> (Home, Served) {
    let args = json!([FIXTURE, "stdio", "legacy"]);
    let home = Home::with(&format!("[[upstreams]]\nname = \"fix\"\ncommand = \"python3\"\nargs = {args}\n"));
    let accepted = home.run(&["upstream", "accept", "fix", "--all"]);
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    let gate = home.serve();
    gate.logs("an upstream's tools changed");
    (home, gate)
}

/// A client of the older era that can be sent to an address: its session, and its stream.
fn client(gate: &Served, token: &str) -> (String, Events) {
    let initialize =
        Message::initialize(Era::Late).bearer(token).param("capabilities", json!({"elicitation": {"url": {}}}));
    let session = gate.ask(&initialize).header("mcp-session-id").unwrap().to_owned();
    let request = Request::new("GET", "/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", &session);
    let events = gate.open(&request.bearer(token));
    assert_eq!(events.status, 200);
    (session, events)
}

fn call(gate: &Served, (token, session): (&str, &str), tool: &str, arguments: Value) -> Value {
    let call = Message::call(Era::Late, tool, arguments).bearer(token).header("Mcp-Session-Id", session);
    gate.ask(&call).message()
}

#[test]
fn a_changed_list_of_an_upstream_reaches_those_who_see_it_and_nobody_else() {
    let (home, gate) = raised();
    let alice = home.mint("--user alice");
    let (session, mut stream) = client(&gate, &alice);
    let listen =
        Message::new(Era::Modern, "subscriptions/listen").param("notifications", json!({"promptsListChanged": true}));
    let mut newer = gate.open(&listen.clone().bearer(&alice).request());
    let mut stranger = gate.open(&listen.request());
    assert_eq!(newer.method(), "notifications/subscriptions/acknowledged");
    assert_eq!(stranger.method(), "notifications/subscriptions/acknowledged");
    let prompts = || {
        let list = gate.ask(&Message::new(Era::Late, "prompts/list").bearer(&alice)).message();
        list["result"]["prompts"].as_array().unwrap().iter().filter(|prompt| prompt["name"] == "extra 0").count()
    };
    assert_eq!(prompts(), 0);
    call(&gate, (&alice, &session), "change", json!({"list": "prompts"}));
    assert_eq!(stream.method(), PROMPTS);
    assert_eq!(newer.method(), PROMPTS);
    assert_eq!(prompts(), 1, "whoever is told finds it");
    gate.terminate();
    assert_eq!(stranger.rest(), ["notifications/cancelled", "result"], "a stranger sees none of the prompts");
    assert_eq!(gate.ended().code, Some(0));
}

#[test]
fn who_was_sent_to_an_address_hears_that_it_has_been_there_and_nobody_else_does() {
    let (home, gate) = raised();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let (alices, mut alice_hears) = client(&gate, &alice);
    let (bobs, mut bob_hears) = client(&gate, &bob);
    let address =
        |name: &str| json!({"mode": "url", "elicitationId": name, "url": "https://x.example", "message": "go"});
    let sent = |who: (&str, &str), name: &str| call(&gate, who, "address", json!({"elicitations": [address(name)]}));
    let refused = sent((&alice, &alices), "alice's");
    assert_eq!((&refused["error"]["code"], &refused["error"]["message"]), (&json!(-32042), &json!("go there first")));
    assert_eq!(refused["error"]["data"]["elicitations"], json!([address("alice's")]));
    sent((&bob, &bobs), "bob's");
    // somebody else's call is only when the server says it
    call(&gate, (&bob, &bobs), "been", json!({"names": ["alice's", "unheard of", "bob's"]}));
    for (hears, name) in [(&mut alice_hears, "alice's"), (&mut bob_hears, "bob's")] {
        let ended = hears.next().unwrap();
        assert_eq!(ended["method"], "notifications/elicitation/complete");
        assert_eq!(ended["params"], json!({"elicitationId": name, "n": 1.5}));
    }
    gate.terminate();
    assert_eq!((alice_hears.rest(), bob_hears.rest()), (Vec::<String>::new(), Vec::new()));
    assert_eq!(gate.ended().code, Some(0));
}
