//! Asked to stop, it finishes what is under way, cuts nothing, and ends well.

use std::{
    collections::BTreeSet,
    io::{BufReader, Write},
    net::Shutdown,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::json;

use super::bed::{
    home::Home,
    http::{self, read_answer, read_head},
    message::{Era, Message},
    wait::until,
};

fn add(token: &str, title: &str) -> Message {
    Message::call(Era::Modern, "add_task", json!({"title": title})).bearer(token)
}

fn titles(home: &Home, token: &str) -> BTreeSet<String> {
    let listed = home.serve().ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(token)).result();
    let tasks = listed["structuredContent"]["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_request_that_had_begun_is_answered_after_the_signal() {
    let home = Home::bare();
    let gate = home.serve();
    let token = home.mint("--user alice");
    let request = add(&token, "late").request().header("Expect", "100-continue");
    let mut stream = gate.connect();
    stream.write_all(request.head(gate.address).as_bytes()).unwrap();
    // told to go on: the server has the head and waits for the body
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    assert_eq!(read_head(&mut reader).unwrap().0, 100);
    gate.terminate();
    gate.logs("stopping");
    stream.write_all(&request.body).unwrap();
    let answer = read_answer(&mut reader).unwrap();
    assert_eq!((answer.status, answer.verdict()), (200, "ok".to_owned()));
    let ended = gate.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(titles(&home, &token), ["late".to_owned()].into());
}

#[test]
fn under_load_every_answer_is_whole_and_everything_answered_is_kept() {
    let home = Home::bare();
    let gate = home.serve();
    let token = home.mint("--user alice");
    let (address, answered) = (gate.address, AtomicUsize::new(0));
    let kept: BTreeSet<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..16)
            .map(|client| {
                let (token, answered) = (&token, &answered);
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for number in 0.. {
                        let title = format!("{client}-{number}");
                        match http::exchange(address, &add(token, &title).request()) {
                            Ok(answer) => {
                                assert_eq!((answer.status, answer.verdict()), (200, "ok".to_owned()));
                                kept.push(title);
                                answered.fetch_add(1, Ordering::Relaxed);
                            }
                            // not taken at all; an answer that breaks off is another error
                            Err(fault) => {
                                use std::io::ErrorKind;
                                let kinds = [
                                    ErrorKind::ConnectionRefused,
                                    ErrorKind::ConnectionReset,
                                    ErrorKind::BrokenPipe,
                                    ErrorKind::UnexpectedEof,
                                ];
                                assert!(kinds.contains(&fault.kind()), "{fault}");
                                break;
                            }
                        }
                    }
                    kept
                })
            })
            .collect();
        until("calls are under way", || (answered.load(Ordering::Relaxed) >= 50).then_some(()));
        gate.terminate();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let ended = gate.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!ended.err.contains("cut off"), "{}", ended.err);
    let stored = titles(&home, &token);
    let lost: Vec<_> = kept.difference(&stored).collect();
    assert!(lost.is_empty(), "answered and lost: {lost:?}");
}

#[test]
fn idle_connections_do_not_hold_it_up() {
    let home = Home::bare();
    let gate = home.serve();
    let mut stream = gate.connect();
    let request = Message::list(Era::Late).request();
    stream.write_all(request.head(gate.address).as_bytes()).unwrap();
    stream.write_all(&request.body).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    assert_eq!(read_answer(&mut reader).unwrap().status, 200);
    gate.terminate();
    assert_eq!(gate.ended().code, Some(0));
    let _ = stream.shutdown(Shutdown::Both);
}

#[test]
fn stdio_ends_when_its_client_goes_with_every_answer_delivered() {
    let home = Home::bare();
    let token = home.mint("--user alice");
    let mut pipe = home.stdio(Some(&token));
    for number in 0..200 {
        let title = json!({"title": format!("task {number}")});
        pipe.write(&Message::call(Era::Late, "add_task", title).id(json!(number)).body());
    }
    let (messages, ran) = pipe.ended();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let answered: BTreeSet<i64> = messages.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(answered, (0..200).collect());
    assert!(messages.iter().all(|message| message["result"]["isError"] == false));
    assert_eq!(titles(&home, &token).len(), 200);
}
