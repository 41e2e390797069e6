//! What the lock says of what an upstream offers, and what accepting does to it.

use serde_json::value::RawValue;
use toolgate_core::pin::{Canonical, Choice, Judged, Lock, State};

use super::{accepted, raw};

const READ: &str = r#"{"name":"read","description":"Reads a file.","inputSchema":{"type":"object"}}"#;
const READ_AGAIN: &str = r#"{ "inputSchema": {"type": "object"}, "description": "Reads a file.", "name": "read" }"#;
const READ_CHANGED: &str = r#"{"name":"read","description":"Reads a file. ","inputSchema":{"type":"object"}}"#;
const WRITE: &str = r#"{"name":"write","inputSchema":{"type":"object"}}"#;

/// The state of each tool, in order.
fn states(lock: &Lock, upstream: &str, offered: &[(&str, &str)]) -> Vec<(String, State)> {
    with(offered, |offered| lock.judge(upstream, offered))
        .into_iter()
        .map(|one: Judged| (one.name, one.state))
        .collect()
}

fn with<T>(offered: &[(&str, &str)], run: impl FnOnce(&[(&str, &RawValue)]) -> T) -> T {
    let offered: Vec<_> = offered.iter().map(|(name, json)| (*name, raw(json))).collect();
    run(&offered.iter().map(|(name, raw)| (*name, &**raw)).collect::<Vec<_>>())
}

fn state(name: &str, state: State) -> (String, State) {
    (name.to_owned(), state)
}

fn before(json: &str) -> State {
    State::Changed { before: Canonical::of(json).unwrap().as_str().to_owned() }
}

#[test]
fn every_tool_of_an_upstream_nobody_accepted_is_new() {
    let lock = Lock::new();
    assert!(!lock.knows("files"));
    let found = states(&lock, "files", &[("write", WRITE), ("read", READ)]);
    assert_eq!(found, [state("write", State::New), state("read", State::New)]);
}

#[test]
fn key_order_and_white_space_alone_do_not_quarantine() {
    let lock = accepted(&[("read", READ)]);
    assert_eq!(states(&lock, "files", &[("read", READ_AGAIN)]), [state("read", State::Accepted)]);
}

#[test]
fn one_space_more_quarantines_and_the_accepted_text_is_there_to_compare() {
    let lock = accepted(&[("read", READ)]);
    assert_eq!(states(&lock, "files", &[("read", READ_CHANGED)]), [state("read", before(READ))]);
}

#[test]
fn a_tool_that_is_no_longer_offered_is_gone() {
    let lock = accepted(&[("read", READ), ("write", WRITE)]);
    assert_eq!(states(&lock, "files", &[]), [state("read", State::Gone), state("write", State::Gone)]);
}

#[test]
fn an_upstream_is_judged_by_its_own_pins_alone() {
    let lock = accepted(&[("read", READ)]);
    assert_eq!(states(&lock, "other", &[("read", READ)]), [state("read", State::New)]);
}

#[test]
fn a_renamed_tool_is_new_even_with_an_accepted_definition() {
    let lock = accepted(&[("read", READ)]);
    let found = states(&lock, "files", &[("read2", READ)]);
    assert_eq!(found, [state("read2", State::New), state("read", State::Gone)]);
}

#[test]
fn a_name_offered_twice_is_never_accepted() {
    let mut lock = accepted(&[("read", READ)]);
    let offered = [("read", READ), ("read", READ_CHANGED), ("read", READ)];
    let found = states(&lock, "files", &offered);
    assert!(found.iter().all(|(_, state)| matches!(state, State::Unusable { .. })), "{found:?}");
    let kept = lock.clone();
    let acceptance = with(&offered, |offered| lock.accept("files", Choice::All, offered));
    assert_eq!(acceptance.refused.len(), 1);
    assert_eq!(lock, kept);
}

#[test]
fn a_definition_with_a_key_twice_is_never_accepted() {
    let mut lock = Lock::new();
    let offered = [("read", r#"{"name":"read","description":"a","description":"b"}"#), ("write", WRITE)];
    let found = states(&lock, "files", &offered);
    assert!(matches!(&found[0].1, State::Unusable { reason } if reason.contains("'description'")), "{found:?}");
    let acceptance = with(&offered, |offered| lock.accept("files", Choice::All, offered));
    assert_eq!((acceptance.added, acceptance.refused.len()), (vec!["write".to_owned()], 1));
    let refused = acceptance.refused[0].to_string();
    assert_eq!(
        refused,
        "tool 'read' was not accepted: it has the key 'description' twice in one object, which readers take differently"
    );
}

#[test]
fn accepting_all_makes_the_lock_what_is_offered() {
    let mut lock = accepted(&[("read", READ), ("old", WRITE)]);
    let offered = [("read", READ_CHANGED), ("write", WRITE)];
    let acceptance = with(&offered, |offered| lock.accept("files", Choice::All, offered));
    let names = |names: &[String]| names.join(" ");
    assert_eq!(names(&acceptance.added), "write");
    assert_eq!(names(&acceptance.changed), "read");
    assert_eq!(names(&acceptance.removed), "old");
    assert_eq!(lock, accepted(&offered));
}

#[test]
fn accepting_by_name_leaves_the_others_in_quarantine() {
    let mut lock = accepted(&[("read", READ), ("old", WRITE)]);
    let offered = [("read", READ_CHANGED), ("write", WRITE)];
    let acceptance = with(&offered, |offered| lock.accept("files", Choice::Named(&["write", "old", "wriet"]), offered));
    assert_eq!((acceptance.added, acceptance.changed), (vec!["write".to_owned()], vec![]));
    assert_eq!(acceptance.removed, ["old"]);
    assert_eq!(acceptance.refused[0].name, "wriet");
    let found = states(&lock, "files", &offered);
    assert_eq!(found, [state("read", before(READ)), state("write", State::Accepted)]);
}

#[test]
fn a_definition_that_changed_after_someone_looked_is_not_accepted() {
    let mut lock = Lock::new();
    let seen = with(&[("read", READ)], |offered| lock.judge("files", offered))[0].digest.unwrap();
    let reviewed = [("read", seen)];
    let later =
        |json| with(&[("read", json)], |offered| lock.clone().accept("files", Choice::Reviewed(&reviewed), offered));
    assert_eq!(later(READ_AGAIN).added, ["read"]);
    assert_eq!(later(READ_CHANGED).refused.len(), 1);
    let gone = lock.accept("files", Choice::Reviewed(&reviewed), &[]);
    assert_eq!((gone.refused.len(), lock), (1, Lock::new()));
}

#[test]
fn what_is_forgotten_is_new_again() {
    let mut lock = accepted(&[("read", READ), ("write", WRITE)]);
    assert_eq!(lock.forget("files", Choice::Named(&["read", "nothing"])), 1);
    let found = states(&lock, "files", &[("read", READ), ("write", WRITE)]);
    assert_eq!(found, [state("read", State::New), state("write", State::Accepted)]);
    assert_eq!(lock.forget("other", Choice::All), 0);
    assert_eq!(lock.forget("files", Choice::All), 1);
    assert_eq!(lock, Lock::new());
    assert!(!lock.knows("files"));
}
