//! A client that goes in the middle of its call: what the call began is ended, receipted and on record.

use std::{io::Write, net::Shutdown};

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{Era, Message},
    wait::until,
};

#[test]
fn what_a_client_began_and_did_not_wait_for_is_on_record_with_its_receipt() {
    let home = Home::with("[packs.todo]\n");
    let gate = home.serve();
    let token = home.mint("--user alice");
    let list = || {
        let listed = gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&token)).result();
        listed["structuredContent"]["tasks"].as_array().unwrap().len()
    };
    until("calls of clients that went have run", || {
        for _ in 0..10 {
            let request = Message::call(Era::Late, "add_task", json!({"title": "left"})).bearer(&token).request();
            let mut stream = gate.connect();
            stream.write_all(&[request.head(gate.address).as_bytes(), &request.body].concat()).unwrap();
            stream.shutdown(Shutdown::Both).unwrap();
        }
        (list() > 10).then_some(())
    });
    gate.terminate();
    assert_eq!(gate.ended().code, Some(0));

    let gate = home.serve();
    let listed = gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&token)).result();
    let done = listed["structuredContent"]["tasks"].as_array().unwrap().len();
    drop(gate);
    let unknown = home.run(&["ledger", "tail", "--outcome", "unknown"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (Some(0), ""), "every intent has its outcome");
    let receipts = home.json(&["receipts", "list", "--limit", "10000"]);
    let known = |receipt: &&Value| receipt["state"] == "done";
    assert_eq!(receipts.as_array().unwrap().iter().filter(known).count(), done, "a receipt for each that ran");
}
