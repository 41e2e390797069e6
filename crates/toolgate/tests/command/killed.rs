//! `kill -9` in the middle of calls: what was answered is on record, what was done was recorded first, and the next start needs
//! nobody's help.

#![allow(clippy::print_stdout, reason = "the harness keeps it for runs that fail, and they can be had again by it")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpStream},
    os::unix::process::CommandExt,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::bed::{
    database::Database,
    home::Home,
    http::{self, Answer},
    message::{Era, Message},
    served::Served,
    wait::{DEADLINE, until},
};

const PACKS: &str = "[packs.gate]\n[packs.todo]\n";
const CLIENTS: usize = 6;
/// The most answers before the end comes.
const MOST: u64 = 40;

#[test]
fn sqlite_after_a_hundred_kills() {
    kills(&Home::with(PACKS), 100);
}

#[test]
fn sqlite_after_a_hundred_more() {
    kills(&Home::with(PACKS), 100);
}

#[test]
fn postgres_after_fifty_kills() {
    let database = Database::create();
    kills(&Home::with(PACKS).on(&database.url()), 50);
}

/// What a client was answered, by the mark it put into its call.
#[derive(Debug, Default)]
struct Told {
    /// With the receipt.
    writes: BTreeMap<String, String>,
    reads: BTreeSet<String>,
}

enum Answered {
    Write(String, String),
    Read(String),
}

fn kills(home: &Home, count: u64) {
    let mut chance = Chance::new();
    let (mut told, mut token) = (Told::default(), None);
    for cycle in 0..count {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.process_group(0);
        let gate = Served::start(command);
        let token = token.get_or_insert_with(|| home.mint("--user alice"));
        let (answers, heard) = mpsc::channel();
        let address = gate.address;
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let (answers, token) = (answers.clone(), token.clone());
                scope.spawn(move || call_on(address, &token, &format!("{cycle}-{client}"), &answers));
            }
            drop(answers);
            told.hear(&heard, 1 + chance.below(MOST));
            let moment = Instant::now() + Duration::from_micros(chance.below(5_000));
            while Instant::now() < moment {
                std::hint::spin_loop();
            }
            gate.kill_group();
            // what was on its way counts as answered too
            told.hear(&heard, u64::MAX);
        });
    }
    check(home, &token.unwrap(), &told);
}

impl Told {
    fn hear(&mut self, heard: &Receiver<Answered>, most: u64) {
        for _ in 0..most {
            match heard.recv() {
                Ok(Answered::Write(mark, receipt)) => drop(self.writes.insert(mark, receipt)),
                Ok(Answered::Read(mark)) => drop(self.reads.insert(mark)),
                Err(_) => return,
            }
        }
    }
}

/// A write and a read in turn on one connection, until it breaks.
fn call_on(address: SocketAddr, token: &str, name: &str, answers: &Sender<Answered>) {
    let Ok(stream) = TcpStream::connect(address) else { return };
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut stream = BufReader::new(stream);
    for number in 0.. {
        let mark = format!("mark-{name}-{number}");
        let write = Message::call(Era::Late, "add_task", json!({"title": mark})).bearer(token);
        let Ok(answer) = exchange(&mut stream, address, &write) else { return };
        assert_eq!((answer.status, answer.verdict()), (200, "ok".to_owned()), "{}", answer.text());
        let receipt = answer.result()["_meta"]["toolgate/receipt"].as_str().unwrap().to_owned();
        answers.send(Answered::Write(mark.clone(), receipt)).unwrap();
        let read = Message::call(Era::Late, "help", json!({"tool_name": mark})).bearer(token);
        let Ok(answer) = exchange(&mut stream, address, &read) else { return };
        assert_eq!(answer.status, 200, "{}", answer.text());
        answers.send(Answered::Read(mark)).unwrap();
    }
}

fn exchange(stream: &mut BufReader<TcpStream>, address: SocketAddr, message: &Message) -> io::Result<Answer> {
    let request = message.request();
    stream.get_mut().write_all(&[request.head(address).as_bytes(), &request.body].concat())?;
    http::read_answer(stream)
}

fn check(home: &Home, token: &str, told: &Told) {
    assert_eq!(home.run(&["ledger", "verify"]).code, Some(0));
    let gate = home.serve();
    let listed = gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(token)).result();
    drop(gate);
    let tasks = listed["structuredContent"]["tasks"].as_array().unwrap();
    let done: BTreeSet<String> = tasks.iter().map(|task| text(&task["title"])).collect();
    assert_eq!(done.len(), tasks.len(), "nothing was done twice");

    let book = Book::of(home);
    for mark in told.writes.keys() {
        let call = book.intents.get(mark).unwrap_or_else(|| panic!("{mark} was answered and has no intent"));
        assert_eq!(book.outcomes.get(call).map(String::as_str), Some("answered"), "{mark} was answered");
        assert!(done.contains(mark), "{mark} was answered and not done");
    }
    let unread: Vec<_> = told.reads.difference(&book.reads).collect();
    assert!(unread.is_empty(), "answered and not on record: {unread:?}");
    let unrecorded: Vec<_> = done.iter().filter(|mark| !book.intents.contains_key(*mark)).collect();
    assert!(unrecorded.is_empty(), "done without an intent: {unrecorded:?}");

    let receipts = home.json(&["receipts", "list", "--limit", "100000"]);
    let receipts: BTreeSet<String> = receipts.as_array().unwrap().iter().map(|receipt| text(&receipt["id"])).collect();
    let lost: Vec<_> = told.writes.values().filter(|receipt| !receipts.contains(*receipt)).collect();
    assert!(lost.is_empty(), "receipts that were handed out and are not there: {lost:?}");

    assert!(!book.open().is_empty(), "the kills came in the middle of calls");
    until("what has no outcome is shown as unknown", || (unknown(home) == Book::of(home).open()).then_some(()));
    println!("{} writes and {} reads answered, {} unknown", told.writes.len(), told.reads.len(), book.open().len());
}

/// The ledger by what marks its calls.
#[derive(Default)]
struct Book {
    /// Calls by mark.
    intents: BTreeMap<String, String>,
    /// What came of each call.
    outcomes: BTreeMap<String, String>,
    reads: BTreeSet<String>,
}

impl Book {
    fn of(home: &Home) -> Self {
        let ran = home.run(&["ledger", "export"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut book = Self::default();
        for line in ran.out.lines() {
            let record = serde_json::from_str::<Value>(line).unwrap()["record"].take();
            let call = text(&record["call"]);
            match record["kind"].as_str().unwrap() {
                "intent" => drop(book.intents.insert(text(&record["input"]["title"]), call)),
                "outcome" => drop(book.outcomes.insert(call, text(&record["outcome"]))),
                "read" => drop(book.reads.insert(record["input"]["tool_name"].as_str().unwrap_or("").to_owned())),
                _ => {}
            }
        }
        let strays: Vec<_> =
            book.outcomes.keys().filter(|call| !book.intents.values().any(|known| known == *call)).collect();
        assert!(strays.is_empty(), "outcomes of nothing: {strays:?}");
        book
    }

    /// Calls whose end nobody knows.
    fn open(&self) -> BTreeSet<String> {
        self.intents.values().filter(|call| !self.outcomes.contains_key(*call)).cloned().collect()
    }
}

/// Calls that are shown as unknown, to people.
fn unknown(home: &Home) -> BTreeSet<String> {
    let ran = home.run(&["ledger", "tail", "--outcome", "unknown", "--limit", "100000"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let call = |line: &str| {
        assert_eq!(line.split_whitespace().nth(2), Some("unknown"), "{line}");
        line.rsplit_once("call=").unwrap().1.to_owned()
    };
    ran.out.lines().map(call).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Moments that can be had again: with `TOOLGATE_TEST_SEED`, the seed that a failed run printed.
struct Chance(u64);

impl Chance {
    fn new() -> Self {
        let clock = || u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos());
        let seed = std::env::var("TOOLGATE_TEST_SEED").map_or_else(|_| clock(), |seed| seed.parse().unwrap());
        println!("TOOLGATE_TEST_SEED={seed}");
        Self(seed)
    }

    /// An xorshift step.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.max(1);
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
