//! No ledger, no calls: where nothing more can be recorded nothing more runs, callers are told so, and room lets them go on.

use serde_json::json;

use super::bed::{
    home::Home,
    http::Request,
    message::{Era, Message},
};

const PACKS: &str = "[packs.gate]\n[packs.todo]\n";

#[test]
fn a_full_ledger_stops_calls_and_not_lists_and_room_lets_them_go_on() {
    let home = Home::with(&format!("{PACKS}[ledger]\nmax_bytes = 200000\n"));
    let gate = home.serve();
    let token = home.mint("--user alice");
    let add = |title: &str| Message::call(Era::Modern, "add_task", json!({"title": title})).bearer(&token);
    let ready = || gate.send(&Request::new("GET", "/readyz"));
    assert_eq!(ready().status, 200);
    // room for what comes of a call is kept with its intent: none runs that can't be put on record
    let mut ran = 0;
    let refused = (0..5000).find_map(|n| {
        let answer = gate.ask(&add(&format!("task {n}")));
        assert!(!answer.text().contains("the call ran"), "{}", answer.text());
        ran += usize::from(answer.status == 200);
        (answer.status != 200).then_some(answer)
    });
    let answer = refused.expect("a ledger of 200 kB is full by then");
    assert!(ran > 10, "it took some: {ran}");
    assert_eq!((answer.status, answer.verdict()), (503, "-32603".to_owned()));
    assert!(answer.text().contains("can't be recorded now"), "{}", answer.text());
    assert!(answer.text().contains("the ledger is full"), "the caller hears why: {}", answer.text());
    // an answer counts for a second
    let unready = (0..500).find_map(|_| {
        let answer = ready();
        if answer.status == 200 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        (answer.status != 200).then_some(answer)
    });
    let unready = unready.expect("readiness follows the ledger");
    assert_eq!((unready.status, unready.text()), (503, "the ledger is full\n".into()));
    assert!(!gate.ask(&Message::list(Era::Modern).bearer(&token)).tools().is_empty(), "lists are no calls");
    drop(gate);

    home.write("toolgate.toml", PACKS);
    let gate = home.serve();
    assert_eq!(gate.ask(&add("after")).verdict(), "ok");
    let listed = gate.ask(&Message::call(Era::Modern, "list_tasks", json!({})).bearer(&token));
    let tasks = listed.result()["structuredContent"]["tasks"].as_array().unwrap().len();
    assert_eq!(tasks, ran + 1, "what was refused was not done");
    drop(gate);
    assert_eq!(home.run(&["ledger", "verify"]).code, Some(0), "and the chain is whole");
}
