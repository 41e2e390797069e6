//! A result that is larger than its tool may give, where the tool's facts say that it is cut: the beginning, a note, and a link
//! to the whole, which only its caller can read.

use serde_json::{Value, json};

use super::bed::{
    database::Database,
    home::Home,
    http::Answer,
    message::{ERAS, Era, Message},
    served::Served,
};

const CONFIG: &str = r#"
[packs.spine]
[packs.echo]
definitions = "tools.json"
[tools.say]
limits = { result_bytes = 1500, result = "cut" }
[tools.shout]
limits = { result_bytes = 1500 }
"#;

fn home() -> Home {
    let home = Home::with(CONFIG);
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    home.write("tools.json", &json!(["say", "shout"].map(tool)).to_string());
    home
}

fn say(gate: &Served, era: Era, token: &str, text: &str) -> Answer {
    gate.ask(&Message::call(era, "say", json!({ "text": text })).bearer(token))
}

fn read(gate: &Served, era: Era, token: Option<&str>, address: &str) -> Answer {
    let mut message = Message::new(era, "resources/read").param("uri", json!(address));
    if let Some(token) = token {
        message = message.bearer(token);
    }
    if era == Era::Modern {
        message = message.header("Mcp-Name", address);
    }
    gate.ask(&message)
}

fn link(answer: &Value) -> String {
    let blocks = answer["content"].as_array().unwrap();
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap_or_else(|| panic!("{answer:#}"));
    link["uri"].as_str().unwrap().to_owned()
}

#[test]
fn it_is_cut_with_a_link_to_the_whole_in_every_era() {
    let home = home();
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let long = "0123456789".repeat(500);
    for era in ERAS {
        let small = say(&gate, era, &alice, "short").result();
        assert_eq!(small["_meta"].get("toolgate/cut"), None, "what fits goes out as it is");
        let answer = say(&gate, era, &alice, &long);
        assert!(answer.body.len() < 1700, "{}", answer.text());
        let answer = answer.result();
        assert_ne!(answer["isError"], true);
        assert_eq!(answer.get("structuredContent"), None);
        assert!(answer["content"][0]["text"].as_str().unwrap().contains("0123456789"));
        let note = answer["content"][1]["text"].as_str().unwrap();
        assert!(note.contains("1500 are let through") && note.contains(&link(&answer)), "{note}");
        let whole = read(&gate, era, Some(&alice), &link(&answer)).result();
        let whole: Value = serde_json::from_str(whole["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert!(whole["content"][0]["text"].as_str().unwrap().contains(&long));
    }
    let refused = gate.ask(&Message::call(Era::Late, "shout", json!({ "text": long })).bearer(&alice));
    assert_eq!(refused.verdict(), "result_too_large", "only where the facts say so");
}

#[test]
fn nobody_else_can_read_it_or_learn_that_it_is_there() {
    let home = home();
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let elsewhere = home.mint("--user alice --tenant acme");
    let address = link(&say(&gate, Era::Late, &alice, &"x".repeat(5000)).result());
    let never = format!("toolgate://results/{}", "0".repeat(32));
    for era in ERAS {
        for token in [Some(&bob), Some(&elsewhere), None] {
            let token = token.map(String::as_str);
            let (there, not) = (read(&gate, era, token, &address), read(&gate, era, token, &never));
            assert_eq!(there.text(), not.text().replace(&never, &address));
            assert_eq!(there.status, not.status);
            assert!(there.words().starts_with("Resource not found"), "{}", there.words());
        }
    }
    assert_eq!(read(&gate, Era::Late, Some(&alice), &address).status, 200);
    let records = home.run(&["ledger", "tail", "--tool", "toolgate://results/*", "--principal", "user:bob"]).out;
    assert!(records.contains("failed") && records.contains("by user:bob"), "{records}");
}

#[test]
fn another_replica_has_it_too_for_its_caller_alone_also_when_the_one_that_cut_it_is_gone() {
    let database = Database::create();
    let homes = [home().on(&database.url()), home().on(&database.url())];
    let (first, second) = (homes[0].serve(), homes[1].serve());
    let (alice, bob) = (homes[0].mint("--user alice"), homes[0].mint("--user bob"));
    let address = link(&say(&first, Era::Late, &alice, &"x".repeat(5000)).result());
    for era in ERAS {
        assert!(read(&second, era, Some(&alice), &address).text().contains(&"x".repeat(5000)));
        for token in [Some(bob.as_str()), None] {
            let refused = read(&second, era, token, &address);
            assert!(refused.words().starts_with("Resource not found"), "{}", refused.text());
        }
    }
    drop(first);
    assert!(read(&second, Era::Late, Some(&alice), &address).text().contains(&"x".repeat(5000)));
}

#[test]
fn the_gate_decides_about_the_whole_too() {
    let home = home();
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let address = link(&say(&gate, Era::Late, &alice, &"x".repeat(5000)).result());
    let narrow = home.mint("--user alice --flow f --allow say");
    let denied = read(&gate, Era::Late, Some(&narrow), &address);
    assert!(denied.message().get("error").is_some(), "{}", denied.text());
    assert!(!denied.text().contains("xxxx"));
    let wide = home.mint("--user alice --flow f --allow say --allow resource:toolgate://results/*");
    assert!(read(&gate, Era::Late, Some(&wide), &address).text().contains("xxxx"));
}

#[test]
fn where_no_tool_cuts_there_are_no_resources_and_what_can_not_be_cut_is_refused_at_load() {
    let home = home();
    home.write("toolgate.toml", &CONFIG.replace("\"cut\"", "\"refuse\""));
    let gate = home.serve();
    assert!(read(&gate, Era::Late, None, "toolgate://results/1").words().contains("Method not found"));
    drop(gate);
    home.write("toolgate.toml", &CONFIG.replace("\"cut\"", "\"shorten\""));
    let ran = home.run(&["check"]);
    assert_ne!(ran.code, Some(0));
    assert!(format!("{}{}", ran.out, ran.err).contains("result 'shorten' is not one of: refuse cut"), "{ran:?}");
    let cut =
        "[resources.\"notes://*\"]\nlimits = { result = \"cut\" }\n[[upstreams]]\nname = \"n\"\ncommand = \"true\"\n";
    home.write("toolgate.toml", &format!("{CONFIG}{cut}"));
    let ran = home.run(&["check"]);
    assert!(format!("{}{}", ran.out, ran.err).contains("which is for tools alone"), "{ran:?}");
}
