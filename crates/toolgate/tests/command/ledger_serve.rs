//! The ledger while it is served: a disk that fails, failures that are on record, and checkpoints that nobody has to ask for.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::symlink,
    thread,
};

use serde_json::json;

use super::bed::{
    home::Home,
    http::Request,
    message::{Era, Message},
    wait::until,
};

const PACKS: &str = "[packs.gate]\n[packs.todo]\n";

/// What stands for the first file takes everything and can't be synced: the system says so of `/dev/null`.
#[test]
fn a_call_whose_intent_can_not_be_synced_does_not_run_and_the_next_goes_on_in_a_new_file() {
    let home = Home::with(PACKS);
    let token = home.mint("--user alice");
    let add = |title: &str| Message::call(Era::Modern, "add_task", json!({"title": title})).bearer(&token);
    {
        let gate = home.serve();
        assert_eq!(gate.ask(&add("first")).verdict(), "ok");
    }
    let folder = home.path(".toolgate/toolgate-ledger");
    let names = || {
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(".jsonl")).collect();
        names.sort();
        names
    };
    let name = names().remove(0).replace("-00000001", "-00000002");
    symlink("/dev/null", folder.join(name)).unwrap();
    let gate = home.serve();
    let refused = gate.ask(&add("lost"));
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.text().contains("the ledger's disk fails"), "{}", refused.text());
    assert_eq!(gate.ask(&add("second")).verdict(), "ok");
    assert_eq!(gate.send(&Request::new("GET", "/readyz")).status, 200);
    let listed = gate.ask(&Message::call(Era::Modern, "list_tasks", json!({})).bearer(&token)).text();
    assert!(listed.contains("first") && listed.contains("second") && !listed.contains("lost"), "{listed}");
    drop(gate);
    assert_eq!(names().len(), 3, "{:?}", names());
    let verified = home.run(&["ledger", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.out.contains("on record"), "{verified:?}");
}

#[test]
fn a_tool_that_failed_is_on_record_as_failed_with_its_code() {
    let home = Home::with(PACKS);
    let gate = home.serve();
    let token = home.mint("--user alice");
    let failing = Message::call(Era::Modern, "complete_task", json!({"task_id": 4711})).bearer(&token);
    assert_eq!(gate.ask(&failing).result()["isError"], true);
    let fine = Message::call(Era::Modern, "add_task", json!({"title": "isError"})).bearer(&token);
    assert_eq!(gate.ask(&fine).result()["isError"], false);
    drop(gate);
    let failed = home.run(&["ledger", "tail", "--outcome", "failed", "--json"]).out;
    assert_eq!(failed.lines().count(), 1, "{failed}");
    let record: serde_json::Value = serde_json::from_str(&failed).unwrap();
    let record = &record["record"];
    assert_eq!((&record["tool"], &record["kind"]), (&json!("complete_task"), &json!("outcome")), "{record}");
    assert!(record["code"].is_string(), "{record}");
}

#[test]
fn serve_signs_checkpoints_by_itself_into_a_file_and_to_an_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // the first try is turned away, and made again
    let received = thread::spawn(move || {
        ["503 Service Unavailable", "200 OK"].map(|status| {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut text, mut chunk) = (String::new(), [0; 4096]);
            while !text.ends_with('}') {
                let read = stream.read(&mut chunk).unwrap();
                text.push_str(std::str::from_utf8(&chunk[..read]).unwrap());
            }
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
            text
        })
    });
    let settings = format!(
        "{PACKS}[ledger]\ncheckpoint_every = \"1s\"\ncheckpoint_file = \"kept\"\ncheckpoint_url = \"http://{address}/x\"\n"
    );
    let home = Home::with(&settings);
    let gate = home.serve();
    let token = home.mint("--user alice");
    gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(&token));
    let [first, second] = received.join().unwrap();
    assert!(
        first.starts_with("POST /x ") && first.split("\r\n\r\n").nth(1) == second.split("\r\n\r\n").nth(1),
        "{first}"
    );
    let kept = until("a checkpoint is in the file", || {
        fs::read_to_string(home.path("kept")).ok().filter(|text| text.ends_with('\n'))
    });
    assert!(kept.lines().all(|line| line.contains("\"signature\"")), "{kept}");
    drop(gate);
    let verified = home.run(&["ledger", "verify", "--checkpoints", "kept"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert_eq!(home.run(&["ledger", "verify", "--checkpoints", "kept", "--since-last"]).code, Some(0));
}

#[test]
fn the_example_in_the_docs_has_the_members_of_a_record() {
    let docs = include_str!("../../../../docs/ledger.md");
    let example = docs.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    let home = Home::with(PACKS);
    let gate = home.serve();
    let token = home.mint("--user ann");
    gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(&token));
    drop(gate);
    let newest = home.run(&["ledger", "tail", "--limit", "1", "--json"]).out;
    let newest: serde_json::Value = serde_json::from_str(&newest).unwrap();
    let members = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&example), members(&newest["record"]), "{newest}");
    assert_eq!(members(&example["result"]), members(&newest["record"]["result"]));
}
