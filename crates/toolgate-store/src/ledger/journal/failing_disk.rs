//! The ledger on a disk that fails: what is refused, what is never tried again, and what verifying says afterwards.

use std::{fs, path::Path, time::Duration};

use super::*;
use crate::ledger::{Place, Scan, Verification, Wrong, tests::entry};

const DAY: i64 = 86_400_000;
const NOON: i64 = 1_794_830_400_000;

struct Fixture {
    folder: tempfile::TempDir,
    disk: Disk,
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().unwrap(), disk: Disk::default() };
        fixture.disk.faults.set_day(NOON);
        fixture
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    fn open(&self) -> Journal {
        self.open_with(&LedgerSettings::default())
    }

    fn open_with(&self, settings: &LedgerSettings) -> Journal {
        Journal::open_on(self.disk.clone(), &self.path(), settings, &[]).unwrap()
    }

    async fn verify(&self) -> Verification {
        let scans = vec![Scan::After(i64::MIN)];
        JournalReader::new(self.path()).scan(scans, Checker::default()).await.ok().unwrap().finish()
    }

    fn segments(&self) -> Vec<String> {
        line_reader::segments(&self.path()).unwrap().into_iter().map(Segment::file_name).collect()
    }

    fn text(&self) -> String {
        self.segments().iter().map(|name| fs::read_to_string(self.path().join(name)).unwrap()).collect()
    }
}

async fn append(journal: &Journal, call: &str, durable: bool) -> Result<Place, LedgerUnavailable> {
    journal.append(Draft::new(entry(call)).unwrap(), durable).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_sync_failed_is_never_synced_again_and_a_new_chain_goes_on_in_a_new_file() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    let before = append(&journal, "before", true).await.unwrap();
    fixture.disk.faults.fail_next([true]);
    let refused = append(&journal, "lost", true).await.unwrap_err();
    assert_eq!(
        (refused.cause, refused.reason.as_str()),
        (LedgerFailure::Disk, "its file can't be synced: the disk is broken")
    );
    let after = append(&journal, "after", true).await.unwrap();
    assert_ne!(after.writer, before.writer, "a new chain");
    let synced = fixture.disk.faults.synced();
    let (failed, _) = *synced.iter().find(|(_, failed)| *failed).unwrap();
    let since = synced.iter().skip_while(|(_, failed)| !failed).skip(1);
    assert!(since.clone().count() > 0 && since.clone().all(|(file, _)| *file != failed), "{synced:?}");
    assert_eq!(fixture.segments().len(), 2, "{:?}", fixture.segments());
    journal.close().await;
    let verified = fixture.verify().await;
    assert!(verified.is_sound() && verified.recoveries == 1, "{verified:?}");
    assert!(
        fixture.text().contains(&format!("\"unsynced\":{{\"writer\":\"{}\",\"after\":{}", before.writer, before.seq))
    );
    // what the failed file lost is on record, and nothing else may be lost
    let first = fixture.path().join(&fixture.segments()[0]);
    let text = fs::read_to_string(&first).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"lost\"")).collect();
    fs::write(&first, kept.iter().map(|line| format!("{line}\n")).collect::<String>() + "\0\0\0\0\n").unwrap();
    assert!(fixture.verify().await.is_sound());
    fs::write(&first, kept[..kept.len() - 1].iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let verified = fixture.verify().await;
    let found: Vec<_> = verified.findings.iter().map(|finding| (finding.seq, finding.wrong.clone())).collect();
    assert_eq!(found, [(before.seq, Wrong::Lost { known_from: format!("writer {}", after.writer) })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_every_sync_fails_nothing_is_answered_reads_neither_and_health_says_why() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "before", true).await.unwrap();
    journal.health().await.unwrap();
    fixture.disk.faults.fail_all(true);
    append(&journal, "lost", true).await.unwrap_err();
    for number in 0..10 {
        let refused = append(&journal, &format!("read {number}"), false).await.unwrap_err();
        assert_eq!(refused.cause, LedgerFailure::Disk);
    }
    assert_eq!(journal.health().await.unwrap_err().cause, LedgerFailure::Disk);
    assert!(fixture.segments().len() <= 3, "a disk that fails is not filled: {:?}", fixture.segments());
    // nobody calls, and the disk works again
    fixture.disk.faults.fail_all(false);
    journal.health().await.unwrap();
    append(&journal, "after", false).await.unwrap();
    journal.close().await;
    let verified = fixture.verify().await;
    assert!(verified.is_sound(), "{verified:?}");
    assert!(!fixture.text().contains("read 0"), "what was refused is not there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_while_a_sync_fails_is_refused_with_it() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "first", true).await.unwrap();
    fixture.disk.faults.fail_next([true]);
    let many: Vec<_> = (0..32).map(|n| journal.append(Draft::new(entry(&format!("c{n}"))).unwrap(), true)).collect();
    let mut told = Vec::new();
    for (number, pending) in many.into_iter().enumerate() {
        if pending.await.is_ok() {
            told.push(number);
        }
    }
    append(&journal, "last", true).await.unwrap();
    journal.close().await;
    let synced = fixture.disk.faults.synced();
    let at = synced.iter().position(|(_, failed)| *failed).unwrap();
    assert!(synced[at + 1..].iter().all(|(file, failed)| *file != synced[at].0 && !failed), "{synced:?}");
    // whoever was told has its record in a file that was synced after it
    let newest = fs::read_to_string(fixture.path().join(fixture.segments().last().unwrap())).unwrap();
    assert!(told.iter().all(|number| newest.contains(&format!("\"c{number}\""))), "{told:?}");
    assert!(fixture.verify().await.is_sound());
}

/// A disk that takes no more in the middle of a batch.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_batch_that_is_cut_off_the_whole_records_stand_and_the_chain_goes_on_from_them() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "first", true).await.unwrap();
    fixture.disk.faults.take_only(1_500);
    let many: Vec<_> = (0..8).map(|n| journal.append(Draft::new(entry(&format!("c{n}"))).unwrap(), false)).collect();
    let mut seqs = Vec::new();
    for pending in many {
        seqs.push(pending.await.ok().map(|place| place.seq));
    }
    let stored = seqs.iter().flatten().count();
    assert!((1..8).contains(&stored) && seqs[..stored].iter().flatten().copied().eq((2..).take(stored)), "{seqs:?}");
    assert!(seqs[stored..].iter().all(Option::is_none), "{seqs:?}");
    let next = append(&journal, "next", true).await.unwrap();
    assert_eq!(Some(next.seq), seqs[stored - 1].map(|seq| seq + 1));
    journal.close().await;
    let verified = fixture.verify().await;
    assert!(verified.is_sound() && verified.recoveries == 0, "{verified:?}");
    assert!(fixture.text().ends_with("}\n") && fixture.text().lines().all(|line| line.starts_with("{\"previous\"")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_is_set_back_over_midnight_leads_to_no_older_file() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    let mut positions = Vec::new();
    for (day, call) in [(0, "a"), (1, "b"), (0, "c"), (2, "d"), (-5, "e")] {
        fixture.disk.faults.set_day(NOON + day * DAY);
        append(&journal, call, true).await.unwrap();
        let newest = JournalReader::new(fixture.path()).latest(Default::default(), 1).await.ok().unwrap();
        assert_eq!(newest[0].call, call);
        positions.push(newest[0].position);
    }
    assert!(positions.is_sorted(), "{positions:?}");
    assert_eq!(fixture.segments().len(), 3, "{:?}", fixture.segments());
    journal.close().await;
    assert!(fixture.verify().await.is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_segment_has_a_size_and_another_process_goes_on_in_the_newest() {
    let fixture = Fixture::new();
    let settings = LedgerSettings { segment_bytes: Some(2_000), ..LedgerSettings::default() };
    let (one, other) = (fixture.open_with(&settings), fixture.open_with(&settings));
    for number in 0..20 {
        append(if number % 2 == 0 { &one } else { &other }, &format!("c{number:02}"), true).await.unwrap();
    }
    assert!(fixture.segments().len() > 3, "{:?}", fixture.segments());
    let page = JournalReader::new(fixture.path()).page(Default::default(), i64::MIN, 100).await.ok().unwrap();
    let calls: Vec<_> =
        page.iter().filter(|record| record.kind == "intent").map(|record| record.call.clone()).collect();
    assert!(calls.is_sorted() && calls.len() == 20, "in the order of arrival: {calls:?}");
    one.close().await;
    other.close().await;
    assert!(fixture.verify().await.is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_folder_that_is_made_is_on_the_disk() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path().join("a").join("b");
    let journal = Journal::open_on(fixture.disk.clone(), &folder, &LedgerSettings::default(), &[]).unwrap();
    append(&journal, "c", true).await.unwrap();
    journal.close().await;
    let synced = fixture.disk.faults.folders();
    let parent = fixture.folder.path();
    for wanted in [parent, &parent.join("a"), &folder] {
        assert!(synced.iter().any(|path| path == wanted), "{}: {synced:?}", wanted.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_power_cut_left_is_cut_off_kept_aside_and_on_record() {
    for damage in [&b"{\"previous\":\"00"[..], b"\0\0\0\0\0\0", b"{\"prev\0\0\0\0\n\0\0", b"\0\0\n"] {
        let fixture = Fixture::new();
        let journal = fixture.open();
        append(&journal, "before", true).await.unwrap();
        journal.close().await;
        let path = fixture.path().join(&fixture.segments()[0]);
        let good = fs::read(&path).unwrap();
        fs::write(&path, [&good, damage].concat()).unwrap();
        drop(journal);
        let journal = fixture.open();
        append(&journal, "after", true).await.unwrap();
        journal.close().await;
        let verified = fixture.verify().await;
        assert!(verified.is_sound() && verified.recoveries == 1, "{verified:?}");
        let kept = fixture.path().join(format!("{}.{}.damaged", fixture.segments()[0], good.len()));
        assert_eq!(fs::read(&kept).unwrap(), damage);
        assert!(fixture.text().lines().all(|line| line.starts_with("{\"previous\"") && line.ends_with("}}")));
        assert!(fixture.text().contains(&format!("\"offset\":{},", good.len())));
    }
}

/// A process that is killed while another has the ledger open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_a_record_of_another_process_is_cut_off_before_the_next() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "before", true).await.unwrap();
    let path = fixture.path().join(&fixture.segments()[0]);
    let good = fs::read(&path).unwrap();
    fs::write(&path, [&good, &b"{\"previous\":\"00"[..]].concat()).unwrap();
    append(&journal, "after", true).await.unwrap();
    journal.close().await;
    let verified = fixture.verify().await;
    assert!(verified.is_sound() && verified.recoveries == 1, "{verified:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn room_for_an_outcome_is_kept_with_its_intent() {
    let fixture = Fixture::new();
    let settings = LedgerSettings { max_bytes: Some(40_000), ..LedgerSettings::default() };
    let journal = fixture.open_with(&settings);
    let outcome = |call: &str| {
        let mut outcome = entry(call);
        outcome.kind = crate::ledger::Kind::Outcome;
        outcome.result = Some(crate::ledger::ResultNote { summary: "x".repeat(3_000), digest: [0; 32] });
        Draft::new(outcome).unwrap()
    };
    let mut begun = Vec::new();
    let refused = loop {
        let call = format!("c{}", begun.len());
        match append(&journal, &call, true).await {
            Ok(_) => begun.push(call),
            Err(refused) => break refused,
        }
        assert!(begun.len() < 100);
    };
    assert_eq!(refused.cause, LedgerFailure::Full);
    assert_eq!(journal.health().await.unwrap_err().cause, LedgerFailure::Full);
    assert!(begun.len() >= 4);
    for call in &begun {
        journal.append(outcome(call), true).await.unwrap();
    }
    journal.close().await;
    assert!(fixture.verify().await.is_sound());
}

/// The thread of the caller does not wait for the disk: a lock that another holds does not stop it.
#[tokio::test]
async fn who_records_does_not_wait_in_its_own_thread() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "first", true).await.unwrap();
    let held = WriteLock::open(&fixture.path()).unwrap().hold().unwrap();
    let pending = tokio::spawn(journal.append(Draft::new(entry("second")).unwrap(), false));
    // the only worker of this runtime is free for others meanwhile
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(!pending.is_finished());
    }
    drop(held);
    pending.await.unwrap().unwrap();
    journal.close().await;
    assert!(Path::exists(&fixture.path()));
}

/// Waits until something is so.
async fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..20_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it never is");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_thread_alone_syncs_a_file_while_the_disk_recovers() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "before", true).await.unwrap();
    fixture.disk.faults.fail_next([true]);
    append(&journal, "lost", true).await.unwrap_err();
    // the new file takes its first records, and the disk takes its time with them
    fixture.disk.faults.hold_syncs(true);
    let first = tokio::spawn(journal.append(Draft::new(entry("first")).unwrap(), true));
    let newest = || fixture.path().join(fixture.segments().last().unwrap());
    let length = || fs::metadata(newest()).map_or(0, |metadata| metadata.len());
    until(|| fixture.segments().len() == 2 && length() > 0).await;
    let before = length();
    let second = tokio::spawn(journal.append(Draft::new(entry("second")).unwrap(), true));
    // another thread that syncs the same file would take its error away from the one that answers
    until(|| length() > before || fixture.disk.faults.overlapped()).await;
    fixture.disk.faults.hold_syncs(false);
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    assert!(!fixture.disk.faults.overlapped() && !fixture.disk.faults.is_syncing());
    journal.close().await;
    assert!(fixture.verify().await.is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn room_of_intents_that_failed_is_given_back() {
    let fixture = Fixture::new();
    let settings = LedgerSettings { max_bytes: Some(40_000), ..LedgerSettings::default() };
    let journal = fixture.open_with(&settings);
    append(&journal, "begun", true).await.unwrap();
    for number in 0..20 {
        fixture.disk.faults.fail_next([true]);
        append(&journal, &format!("lost {number}"), true).await.unwrap_err();
        // until the disk works again
        journal.health().await.unwrap();
    }
    append(&journal, "after", true).await.unwrap();
    journal.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_takes_no_writes_is_no_healthy_ledger() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "before", true).await.unwrap();
    fixture.disk.faults.set_full(true);
    append(&journal, "lost", true).await.unwrap_err();
    for _ in 0..3 {
        assert_eq!(journal.health().await.unwrap_err().cause, LedgerFailure::Disk);
    }
    fixture.disk.faults.set_full(false);
    journal.health().await.unwrap();
    append(&journal, "after", true).await.unwrap();
    journal.close().await;
    assert!(fixture.verify().await.is_sound());
}

/// The disk takes the genesis record of the new chain, and not what was lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recovery_is_recorded_although_its_first_write_was_cut_off() {
    let fixture = Fixture::new();
    let journal = fixture.open();
    append(&journal, "before", true).await.unwrap();
    fixture.disk.faults.fail_next([true]);
    append(&journal, "lost", true).await.unwrap_err();
    let genesis = fixture.text().lines().next().unwrap().len() + 200;
    fixture.disk.faults.take_only(genesis);
    append(&journal, "cut off", true).await.unwrap_err();
    append(&journal, "after", true).await.unwrap();
    journal.close().await;
    let recoveries = fixture.text().lines().filter(|line| line.contains("\"unsynced\"")).count();
    assert_eq!(recoveries, 1, "{}", fixture.text());
    assert!(fixture.verify().await.is_sound());
}
