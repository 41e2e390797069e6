//! What is too large, too deep or not well formed is refused with its own words, each limit with its own.

use serde_json::json;

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{ERAS, Era, Message},
    served::Served,
};

const CONFIG: &str = r#"
[packs.echo]
definitions = "tools.json"
[limits]
body_bytes = 20000
depth = 10
number_chars = 20
string_bytes = 5000
keys = 50
argument_bytes = 2000
result_bytes = 1000
[tools.often]
limits = { per_minute = 2 }
[tools.small]
limits = { argument_bytes = 30 }
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    home.write("tools.json", &json!(["say", "often", "small"].map(tool)).to_string());
    home
}

type Headers = Vec<(String, String)>;

/// A request whose `params` has one more member, written as it is.
fn with_member(gate: &Served, member: &str) -> Answer {
    gate.send(&Request::json(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"x":{member}}}}}"#)))
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: i64, words: &str) {
    let message = answer.message();
    assert_eq!((answer.status, &message["error"]["code"]), (status, &json!(code)), "{message}");
    assert!(answer.words().contains(words), "{}", answer.words());
}

#[test]
fn each_limit_of_a_message_has_its_own_words() {
    let home = home();
    let gate = home.serve();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let object = |keys: usize| {
        let members: Vec<String> = (0..keys).map(|key| format!("\"k{key}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    // within each limit it is taken
    for member in [nested(8), "1".repeat(20), format!("\"{}\"", "a".repeat(4900)), object(40)] {
        assert_eq!(with_member(&gate, &member).status, 200, "{member}");
    }
    refused(&with_member(&gate, &nested(9)), 400, -32600, "nested deeper than 10 levels");
    refused(&with_member(&gate, &"1".repeat(21)), 400, -32600, "is longer than 20 characters");
    refused(&with_member(&gate, &format!("\"{}\"", "a".repeat(5001))), 400, -32600, "is longer than 5000 bytes");
    refused(&with_member(&gate, &object(51)), 400, -32600, "more than 50 object keys");
    let large = format!("[{}]", vec!["\"aaaaaaaaaa\""; 3000].join(","));
    refused(&with_member(&gate, &large), 413, -32600, "larger than 20000 bytes");
}

#[test]
fn a_refusal_of_a_message_names_its_request_where_it_can() {
    let home = home();
    let gate = home.serve();
    assert_eq!(with_member(&gate, &"1".repeat(30)).message()["id"], 7);
    let unreadable = gate.send(&Request::json("{\"id\":7,"));
    refused(&unreadable, 400, -32700, "not valid JSON at line 1");
    assert!(unreadable.message().get("id").is_none_or(serde_json::Value::is_null));
}

#[test]
fn what_is_no_single_message_is_refused() {
    let home = home();
    let gate = home.serve();
    let send = |body: &str| gate.send(&Request::json(body));
    refused(&send("nonsense"), 400, -32700, "not valid JSON");
    refused(&send(""), 400, -32700, "not valid JSON");
    refused(&send("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"), 400, -32600, "batches are not supported");
    refused(&send("[]"), 400, -32600, "batches are not supported");
    refused(&send(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#), 400, -32600, "the key 'id' twice");
    let deep = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"a":{"b":1,"\u0062":2}}}}"#;
    refused(&send(deep), 400, -32600, "the key 'b' twice");
    refused(&send(r#"{"jsonrpc":"2.0","id":1,"Method":"ping","method":"ping"}"#), 400, -32600, "proper case");
    refused(&send(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#), 400, -32600, "\"2.0\"");
    refused(&send(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), 400, -32600, "id must be");
    refused(&send(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#), 400, -32602, "params must be an object");
}

#[test]
fn what_is_not_sent_as_json_or_can_not_be_answered_is_refused() {
    let home = home();
    let gate = home.serve();
    let body = Message::list(Era::Late).body();
    let mut request = Request { body: body.into_bytes(), ..Request::new("POST", "/mcp") };
    refused(&gate.send(&request), 415, -32600, "Content-Type: application/json");
    request = request.header("Content-Type", "text/plain");
    refused(&gate.send(&request), 415, -32600, "Content-Type: application/json");
    request.headers = vec![("Content-Type".into(), "application/json".into()), ("Accept".into(), "text/html".into())];
    refused(&gate.send(&request), 406, -32600, "Accept: application/json, text/event-stream");
}

#[test]
fn headers_of_the_modern_era_must_say_what_the_body_says() {
    let home = home();
    let gate = home.serve();
    let message = Message::call(Era::Modern, "say", json!({}));
    let with = |change: &dyn Fn(&mut Headers)| {
        let mut request = message.request();
        change(&mut request.headers);
        gate.send(&request)
    };
    let without = |name: &'static str| with(&move |headers| headers.retain(|(known, _)| known != name));
    for name in ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"] {
        refused(&without(name), 400, -32020, "is missing");
    }
    refused(&with(&|headers| headers.push(("Mcp-Name".into(), "say".into()))), 400, -32020, "more than once");
    let say_other = |headers: &mut Headers| {
        headers.retain(|(known, _)| known != "Mcp-Name");
        headers.push(("Mcp-Name".into(), "often".into()));
    };
    refused(&with(&say_other), 400, -32020, "does not match");
    let old = Message::list(Era::Late).request();
    let mut unknown = old.clone();
    unknown.headers.retain(|(name, _)| name != "MCP-Protocol-Version");
    refused(
        &gate.send(&unknown.header("MCP-Protocol-Version", "2024-01-01")),
        400,
        -32022,
        "unsupported protocol version",
    );
    let mut bare = Message::list(Era::Modern);
    bare.params["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    refused(&gate.ask(&bare), 400, -32602, "clientCapabilities");
    let missing = gate.ask(&Message::new(Era::Modern, "prompts/list"));
    refused(&missing, 404, -32601, "Method not found: prompts/list");
    refused(&gate.ask(&Message::new(Era::Late, "prompts/list")), 200, -32601, "Method not found");
}

#[test]
fn each_limit_of_a_call_has_its_own_code() {
    let home = home();
    let gate = home.serve();
    let token = home.mint("--user alice");
    for era in ERAS {
        let call = |tool: &str, text: usize| {
            gate.ask(&Message::call(era, tool, json!({"text": "x".repeat(text)})).bearer(&token))
        };
        assert_eq!(call("say", 500).verdict(), "ok");
        let large = call("say", 2500);
        assert_eq!(large.verdict(), "argument_too_large");
        assert_eq!(large.words(), "The arguments of tool 'say' are larger than 2000 bytes.");
        let result = call("say", 1500);
        assert_eq!(result.verdict(), "result_too_large");
        assert_eq!(result.words(), "The result of tool 'say' is larger than 1000 bytes.");
        assert_eq!(call("small", 40).verdict(), "argument_too_large");
    }
}

#[test]
fn a_rate_is_each_callers_own() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let call = |token: &str| gate.ask(&Message::call(Era::Late, "often", json!({})).bearer(token));
    assert_eq!([call(&alice).verdict(), call(&alice).verdict()], ["ok", "ok"]);
    let third = call(&alice);
    assert_eq!(third.verdict(), "rate_limited");
    assert!(third.words().starts_with("Tool 'often' was called too often. Try again in "), "{}", third.words());
    assert_eq!(call(&bob).verdict(), "ok");
    assert_eq!(gate.ask(&Message::call(Era::Late, "say", json!({})).bearer(&alice)).verdict(), "ok");
}
