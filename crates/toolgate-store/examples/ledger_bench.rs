//! What the ledger costs: `cargo run --release -p toolgate-store --example ledger_bench [DIRECTORY | postgres://…]`.
//!
//! Prints durable appends a second of 64 tasks against the syncs a second of the same disk in the same run, the CPU time of
//! an ordered append, and how fast a ledger is verified. Uses a directory of its own within DIRECTORY (by default the
//! system's temporary one), and removes it.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints, and stops at the first trouble")]

use std::{
    io::{Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use toolgate_store::{
    Location, Store,
    ledger::{Durability, Entry, Filter, Kind, Ledger, LedgerSettings, Outcome, ResultNote, Scope},
};

const WINDOW: Duration = Duration::from_secs(3);

fn main() {
    let place = std::env::args().nth(1);
    let database = place.clone().filter(|place| place.starts_with("postgres"));
    let parent = place.filter(|_| database.is_none()).map_or_else(std::env::temp_dir, Into::into);
    let directory = tempfile::tempdir_in(parent).unwrap();
    let location =
        database.map_or_else(|| Location::Sqlite(directory.path().join("toolgate.db")), |url| url.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(durable(&location, directory.path()));
    // One thread, as the server has on one CPU: what a call costs, not how fast a crowd is.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for tasks in [1, 16, 64] {
        runtime.block_on(ordered(&location, tasks));
    }
    runtime.block_on(verify(&location));
}

async fn open(location: &Location) -> (Store, Ledger) {
    let store = Store::open(location).await.unwrap();
    let ledger = store.ledger(LedgerSettings::default()).await.unwrap();
    (store, ledger)
}

async fn durable(location: &Location, directory: &Path) {
    let (store, ledger) = open(location).await;
    let before = syncs(directory);
    let (count, mut waits) = drive(&ledger, 64, Durability::Durable).await;
    let after = syncs(directory);
    let rate = per_second(count, WINDOW);
    let sync = f64::midpoint(before, after);
    waits.sort_unstable();
    let p99 = waits.get(waits.len() * 99 / 100).copied().unwrap_or_default();
    let most = Duration::from_secs_f64(10.0 / sync) + Duration::from_millis(20);
    println!("syncs/s of the disk     {sync:>10.0}   ({before:.0} before, {after:.0} after)");
    println!("durable appends/s, 64   {rate:>10.0}   {:.1} x the syncs", rate / sync);
    println!("  p99                   {p99:>10.2?}   at most {most:.2?}");
    ledger.close().await;
    store.close().await;
}

async fn ordered(location: &Location, tasks: usize) {
    let (store, ledger) = open(location).await;
    let cpu = cpu_time();
    let (count, _) = drive(&ledger, tasks, Durability::Ordered).await;
    let used = cpu_time() - cpu;
    let each = used.as_secs_f64() * 1e6 / f64::from(count);
    println!("ordered appends/s, {tasks:<4} {:>10.0}   {each:.1} us CPU each", per_second(count, WINDOW));
    ledger.close().await;
    store.close().await;
}

async fn verify(location: &Location) {
    let (store, ledger) = open(location).await;
    for round in ["first", "again"] {
        let (start, cpu) = (Instant::now(), cpu_time());
        let seen = ledger.verify(Scope::Whole).await.unwrap();
        let (took, used) = (start.elapsed(), cpu_time() - cpu);
        assert!(seen.is_sound(), "{seen:?}");
        let each = used.as_secs_f64() * 1e6 / per_second_of(seen.records, Duration::from_secs(1));
        println!(
            "verified records/s      {:>10.0}   {each:.2} us CPU each, {} records, {round}",
            per_second_of(seen.records, took),
            seen.records
        );
    }
    let start = Instant::now();
    let mut pages = ledger.pages(Filter::default());
    let mut count = 0;
    while let page = pages.next().await.unwrap()
        && !page.is_empty()
    {
        count += u64::try_from(page.len()).unwrap();
    }
    println!("exported records/s      {:>10.0}", per_second_of(count, start.elapsed()));
    ledger.close().await;
    store.close().await;
}

/// Tasks that append one record after another for the length of the window; how many, and how long each waited.
async fn drive(ledger: &Ledger, tasks: usize, durability: Durability) -> (u32, Vec<Duration>) {
    let until = Instant::now() + WINDOW;
    let workers: Vec<_> = (0..tasks)
        .map(|task| {
            let (ledger, facts) = (ledger.clone(), Facts::new());
            tokio::spawn(async move {
                let mut waits = Vec::new();
                while Instant::now() < until {
                    let entry = facts.entry(&format!("{task:04}-{:08}", waits.len()));
                    let start = Instant::now();
                    ledger.append(entry, durability).await.unwrap();
                    waits.push(start.elapsed());
                }
                waits
            })
        })
        .collect();
    let mut waits = Vec::new();
    for worker in workers {
        waits.extend(worker.await.unwrap());
    }
    (u32::try_from(waits.len()).unwrap(), waits)
}

/// What is shared between the records of one caller.
struct Facts {
    tool: Arc<str>,
    source: Arc<str>,
    principal: Arc<str>,
    actor: Arc<RawValue>,
    revision: Arc<str>,
}

impl Facts {
    fn new() -> Self {
        let actor = r#"{"user":"ann","tenant":"acme","session":"s-123","agent":"scribe","task":null,"flow":null}"#;
        Self {
            tool: "vault.move".into(),
            source: "vault".into(),
            principal: "user:ann agent:scribe".into(),
            actor: RawValue::from_string(actor.into()).unwrap().into(),
            revision: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef".into(),
        }
    }

    fn entry(&self, call: &str) -> Entry {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let now = i64::try_from(now.as_millis()).unwrap();
        let text = r#"{"text":"two hundred bytes of text, or near enough to that, since that is what the bench of the gate sends: it is neither short nor long, and it says nothing that anyone would want to keep, redact or read twice."}"#;
        Entry {
            kind: Kind::Read,
            time: now,
            call: format!("{now:012x}-{call}").into(),
            tool: self.tool.clone(),
            source: self.source.clone(),
            principal: self.principal.clone(),
            tenant: Some("acme".into()),
            flow: None,
            outcome: Outcome::Answered,
            asked: None,
            actor: self.actor.clone(),
            input: RawValue::from_string(text.into()).ok(),
            approval: None,
            plan: None,
            rule: None,
            code: None,
            result: Some(ResultNote { summary: "moved".into(), digest: [7; 32] }),
            revision: self.revision.clone(),
            duration_us: Some(123),
        }
    }
}

/// How often a second this disk syncs a written page.
fn syncs(directory: &Path) -> f64 {
    let mut file = std::fs::File::create(directory.join("syncs")).unwrap();
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < Duration::from_secs(1) {
        file.seek(SeekFrom::Start(u64::from(count % 1024) * 4096)).unwrap();
        file.write_all(&[7; 4096]).unwrap();
        file.sync_all().unwrap();
        count += 1;
    }
    per_second(count, start.elapsed())
}

fn per_second(count: u32, time: Duration) -> f64 {
    f64::from(count) / time.as_secs_f64()
}

fn per_second_of(count: u64, time: Duration) -> f64 {
    per_second(u32::try_from(count).unwrap(), time)
}

/// User and system time of this process, all threads, from the kernel's ticks of 10 ms.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}
