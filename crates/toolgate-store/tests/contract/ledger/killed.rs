//! A process that is killed in the middle of appending: what it was told is stored is stored.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use toolgate_store::{
    Store,
    ledger::{Durability, Filter, Kind, LedgerSettings, Scope},
};

use super::{entry, open};
use crate::bed::Bed;

const ON_SQLITE: usize = 200;
const ON_POSTGRES: usize = 50;
const DATABASE: &str = "TOOLGATE_TEST_LEDGER";
const CYCLE: &str = "TOOLGATE_TEST_CYCLE";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_what_a_killed_process_was_told() {
    let bed = Bed::sqlite();
    cycles(&bed, ON_SQLITE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_keeps_what_a_killed_process_was_told() {
    Bed::postgres().await.run(async |bed: Bed| cycles(&bed, ON_POSTGRES).await).await;
}

async fn cycles(bed: &Bed, count: usize) {
    let mut checkpoints = Vec::new();
    for cycle in 0..count {
        // A different moment each time: early, in the first groups, in the thick of it.
        let told = kill_after(&bed.url(), cycle, 1 + cycle * 7 % 60);
        bed.until_alone().await;
        let (store, ledger) = open(bed).await;
        let filter = Filter { principal: Some(format!("cycle:{cycle}")), ..Filter::default() };
        let (mut stored, mut pages) = (BTreeSet::new(), ledger.pages(filter));
        while let page = pages.next().await.unwrap()
            && !page.is_empty()
        {
            stored.extend(page.into_iter().map(|record| format!("{} {}", record.kind, record.call)));
        }
        let lost: Vec<_> = told.difference(&stored).collect();
        assert!(lost.is_empty(), "cycle {cycle}: acknowledged and not there: {lost:?}");

        // An intent whose outcome is not stored is unfinished, and nothing else is.
        let calls = |kind: &str| {
            let prefix = format!("{kind} ");
            stored.iter().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let open_calls: BTreeSet<_> = calls("intent").difference(&calls("outcome")).cloned().collect();
        let since = i64::try_from(cycle).unwrap();
        let unfinished = ledger.unfinished(Some(since)).await.unwrap();
        assert_eq!(unfinished.into_iter().map(|record| record.call).collect::<BTreeSet<_>>(), open_calls);

        let scope = checkpoints.last().cloned().map_or(Scope::Whole, Scope::Since);
        let verified = ledger.verify(scope).await.unwrap();
        assert!(verified.is_sound(), "cycle {cycle}: {verified:?}");
        let key = store.ledger_key().await.unwrap();
        let made = ledger.checkpoint(&key, since).await.unwrap();
        checkpoints.push(made.trusted(&key.public()).unwrap());
        ledger.close().await;
        store.close().await;
    }
    let (_store, ledger) = open(bed).await;
    let verified = ledger.verify(Scope::Against(checkpoints)).await.unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    assert!(verified.writers > 0 && verified.records > u64::try_from(count).unwrap());
}

/// Starts a process that appends, kills it once it has told of so many records, and returns all that it told of.
fn kill_after(url: &str, cycle: usize, lines: usize) -> BTreeSet<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ledger::killed::a_process_that_appends_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DATABASE, url)
        .env(CYCLE, cycle.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BTreeSet::new();
    let mut killed = false;
    // What was told between the last line read and the kill counts as well, but for a line that was cut.
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        if let Some(record) = line.strip_prefix("told ").and_then(|record| record.strip_suffix(" .\n")) {
            told.insert(record.to_owned());
        }
        if told.len() >= lines && !killed {
            child.kill().unwrap();
            killed = true;
        }
        line.clear();
    }
    assert!(killed, "the process ended by itself: {:?}", child.wait());
    child.wait().unwrap();
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run as a process of its own by the tests above, which kill it"]
async fn a_process_that_appends_until_it_is_killed() {
    let (Ok(url), Ok(cycle)) = (std::env::var(DATABASE), std::env::var(CYCLE)) else {
        return;
    };
    let store = Store::open(&url.parse().unwrap()).await.unwrap();
    let ledger = store.ledger(LedgerSettings::default()).await.unwrap();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let (ledger, cycle) = (ledger.clone(), cycle.clone());
            tokio::spawn(async move {
                for number in 0.. {
                    let call = format!("{cycle}-{task}-{number}");
                    for (kind, durability) in [
                        (Kind::Intent, Durability::Durable),
                        (Kind::Outcome, Durability::Durable),
                        (Kind::Read, Durability::Ordered),
                    ] {
                        let mut entry = entry(kind, &call, cycle.parse().unwrap());
                        entry.principal = format!("cycle:{cycle}").into();
                        ledger.append(entry, durability).await.unwrap();
                        let line = format!("told {kind} {call} .\n");
                        // A pipe nobody reads any more means that the end is near.
                        let _ = std::io::stdout().lock().write_all(line.as_bytes());
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
