//! One client on standard input and output: messages and nothing else, and no line that ends the session.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
    pipe::Pipe,
};

fn add(title: &str) -> Message {
    Message::call(Era::Late, "add_task", json!({"title": title}))
}

fn is_good(answer: &Value) -> bool {
    answer["result"]["isError"] == false
}

fn code(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["code"].as_str().unwrap_or("none")
}

#[test]
fn nothing_but_messages_goes_to_standard_output_however_much_is_logged() {
    let home = Home::with("[packs.gate]\n[packs.todo]\n[log]\nlevel = \"trace\"\n");
    let token = home.mint("--user alice");
    let mut pipe = home.stdio(Some(&token));
    for era in ERAS {
        assert!(pipe.ask(&Message::list(era)).get("result").is_some());
        assert!(is_good(&pipe.ask(&Message::call(era, "add_task", json!({"title": "x"})))));
    }
    assert!(pipe.ask(&Message::call(Era::Late, "nothing", json!({}))).get("error").is_some());
    // reading fails the test on a line that is no JSON
    let (messages, ran) = pipe.ended();
    assert_eq!((messages.len(), ran.code), (0, Some(0)));
    assert!(ran.out.lines().all(|line| serde_json::from_str::<Value>(line).unwrap()["jsonrpc"] == "2.0"));
    assert!(!ran.err.is_empty(), "at this level something is logged");
}

#[test]
fn the_token_is_an_option_a_variable_or_in_the_message() {
    let home = Home::bare();
    let token = home.mint("--user alice");
    assert!(is_good(&home.stdio(Some(&token)).ask(&add("by option"))));
    let mut command = home.command(&["stdio"]);
    command.env("TOOLGATE_TOKEN", &token);
    assert!(is_good(&Pipe::start(command).ask(&add("by variable"))));
    let mut pipe = home.stdio(None);
    assert_eq!(code(&pipe.ask(&add("by nobody"))), "authentication_required");
    assert!(is_good(&pipe.ask(&add("by message").meta("toolgate/token", json!(token)))));
    assert!(is_good(&pipe.ask(&add("by parameter").param("token", json!(token)))));
    assert_eq!(code(&pipe.ask(&add("by nobody again"))), "authentication_required");
}

#[test]
fn the_option_wins_over_the_message() {
    let home = Home::bare();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let mut pipe = home.stdio(Some(&alice));
    pipe.ask(&add("whose").meta("toolgate/token", json!(bob)));
    let listed = pipe.ask(&Message::call(Era::Late, "list_tasks", json!({})));
    assert_eq!(listed["result"]["structuredContent"]["tasks"][0]["title"], "whose");
}

#[test]
fn a_line_that_is_no_message_is_refused_and_the_session_goes_on() {
    let home = Home::with("[packs.todo]\n[limits]\nbody_bytes = 2000\n");
    let mut pipe = home.stdio(None);
    let mut refused = |line: &str| {
        pipe.write(line);
        pipe.read().unwrap()["error"]["code"].as_i64().unwrap()
    };
    assert_eq!(refused("{"), -32700);
    assert_eq!(refused("nonsense"), -32700);
    assert_eq!(refused("\u{0}"), -32700);
    assert_eq!(refused("[]"), -32600);
    assert_eq!(refused("{}"), -32600);
    assert_eq!(refused(&"x".repeat(100_000)), -32600);
    pipe.write("");
    let list = pipe.ask(&Message::list(Era::Modern).id(json!("after")));
    assert_eq!(list["id"], "after");
    assert_eq!(list["result"]["tools"], json!([]));
}

#[test]
fn both_eras_are_spoken_on_one_channel() {
    let home = Home::bare();
    let mut pipe = home.stdio(None);
    let agreed = pipe.ask(&Message::initialize(Era::Early));
    assert_eq!(agreed["result"]["protocolVersion"], "2025-06-18");
    pipe.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(pipe.ask(&Message::new(Era::Early, "ping"))["result"], json!({}));
    assert!(pipe.ask(&Message::list(Era::Early))["result"].get("resultType").is_none());
    assert_eq!(pipe.ask(&Message::list(Era::Modern))["result"]["resultType"], "complete");
    assert_eq!(pipe.ask(&Message::new(Era::Modern, "ping"))["error"]["code"], -32601);
    let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":
        {"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}"#;
    pipe.write(&wrong.replace('\n', " "));
    assert_eq!(pipe.read().unwrap()["error"]["code"], -32022);
}

#[test]
fn a_cancelled_subscription_says_nothing_more_and_its_neighbour_does() {
    let home = Home::with("[packs.gate]\n");
    let mut pipe = home.stdio(None);
    let listen =
        Message::new(Era::Modern, "subscriptions/listen").param("notifications", json!({"toolsListChanged": true}));
    for id in ["ended", "open"] {
        let acknowledged = pipe.ask(&listen.clone().id(json!(id)));
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    }
    for id in [json!("ended"), json!("never begun"), json!(7)] {
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        pipe.write(&cancelled.to_string());
    }
    assert!(pipe.ask(&Message::list(Era::Modern).id(json!("barrier")))["result"].is_object());
    for change in ["disabled_tools = [\"help\"]\n[packs.gate]\n", "[packs.gate]\n"] {
        home.write("toolgate.toml", change);
        let heard = pipe.read().unwrap();
        assert_eq!(heard["method"], "notifications/tools/list_changed");
        assert_eq!(heard["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "open");
    }
    let (rest, ran) = pipe.ended();
    assert_eq!((rest, ran.code), (vec![], Some(0)));
}

#[test]
fn progress_comes_before_the_answer() {
    let home = Home::with("[packs.echo]\ndefinitions = \"tools.json\"\n");
    home.write("tools.json", r#"[{"name": "say", "inputSchema": {"type": "object"}}]"#);
    let token = home.mint("--user alice");
    let mut pipe = home.stdio(Some(&token));
    let call = Message::call(Era::Modern, "say", json!({"text": "hello"})).meta("progressToken", json!("p1"));
    let note = pipe.ask(&call);
    assert_eq!((&note["method"], &note["params"]["progressToken"]), (&json!("notifications/progress"), &json!("p1")));
    assert_eq!(pipe.read().unwrap()["result"]["content"][0]["text"], "hello");
}
