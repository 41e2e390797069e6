//! An agent waits for something to do, over HTTP, while others write from elsewhere.

use std::thread;

use serde_json::{Value, json};

use super::{
    bed::{
        home::Home,
        message::{ERAS, Era, Message},
        served::Served,
    },
    team::{sign_in, staffed},
};

fn ask(gate: &Served, era: Era, token: &str, tool: &str, arguments: Value) -> Value {
    let answer = gate.ask(&Message::call(era, tool, arguments).bearer(token)).result();
    assert_eq!(answer["isError"], false, "{answer}");
    answer["structuredContent"].clone()
}

#[test]
fn who_waits_hears_what_a_person_writes_with_the_command_in_every_era() {
    let home = staffed(Home::with("[packs.gate]\n[packs.team]\n"));
    assert_eq!(home.run(&["agent", "add", "hana", "--type", "human", "--project", "p"]).code, Some(0));
    let gate = home.serve();
    let token = sign_in(&gate, "ann");
    ask(&gate, Era::Modern, &token, "report_model", json!({"provider": "acme", "model_id": "m1"}));
    for era in ERAS {
        ask(&gate, era, &token, "get_pending_messages", json!({}));
        let told = thread::scope(|scope| {
            let wait = json!({"timeout_seconds": 60});
            let poll = scope.spawn(|| ask(&gate, era, &token, "get_next_action", wait));
            let written = home.run(&["project", "tell", "p", "ann", "hello", "--from", "hana"]);
            assert_eq!(written.code, Some(0), "{written:?}");
            poll.join().unwrap()
        });
        assert_eq!(told["action"], "get_pending_messages", "{era:?}");
    }
}
