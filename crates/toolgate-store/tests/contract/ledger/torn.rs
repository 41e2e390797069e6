//! Files of the embedded store: what a killed process left half written, what is no record, and what was put away.

use std::{fs, io::Write, path::Path};

use toolgate_store::ledger::{Durability, Filter, Kind, Wrong};

use super::{entry, fill, open, tamper, whole, wrongs};
use crate::bed::Bed;

fn add(path: &Path, text: &[u8]) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_that_was_begun_and_not_ended_is_no_record_and_spoils_none() {
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 3).await;
    let today = tamper::files(&bed).pop().unwrap();
    let line = fs::read_to_string(&today).unwrap().lines().last().unwrap().to_owned();
    // every way in which another process can be stopped in the middle of a record
    for length in [1, 2, 14, 77, 80, 155, 170, 180, 230, line.len() - 2, line.len() - 1, line.len()] {
        add(&today, &line.as_bytes()[..length]);
        assert_eq!(ledger.latest(&Filter::default(), 1).await.unwrap().len(), 1);
        assert!(whole(&ledger).await.is_sound(), "also before anybody cuts it off");
        fill(&ledger, 1).await;
    }
    let verified = whole(&ledger).await;
    assert!(verified.is_sound(), "{verified:?}");
    // each was cut off, and is on record as that
    assert_eq!((verified.records, verified.recoveries), (4 + 12 * 2, 12));
    let all = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
    assert_eq!(all.iter().map(|record| record.seq).collect::<Vec<_>>(), (0..28).collect::<Vec<_>>());
    assert_eq!(ledger.latest(&Filter::default(), 4).await.unwrap(), all[24..]);
    assert_eq!(ledger.page(&Filter::default(), all[4].position, 3).await.unwrap(), all[5..8]);
    assert!(fs::read_to_string(&today).unwrap().lines().all(|line| line.starts_with('{') && line.ends_with("}}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_record_is_found_and_read_past() {
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 2).await;
    let today = tamper::files(&bed).pop().unwrap();
    for odd in ["nothing of ours\n", "{\"previous\":1}\n", "\u{0}\n", "[]\n"] {
        add(&today, odd.as_bytes());
    }
    add(&today, &[0xff, 0xfe, b'\n']);
    add(&today, &[&vec![b'x'; 9 << 20], &b"\n"[..]].concat());
    fill(&ledger, 2).await;
    let found = wrongs(&whole(&ledger).await);
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found.iter().all(|(_, wrong)| matches!(wrong, Wrong::Unreadable { .. })), "{found:?}");
    assert_eq!(ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap().len(), 5, "and the records are there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn days_follow_each_other_and_what_was_put_away_is_missed() {
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 4).await;
    // yesterday's and today's, made out of one
    let today = tamper::files(&bed).pop().unwrap();
    let text = fs::read_to_string(&today).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let of = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let earlier = bed.ledger_folder().join("2001-02-03-00000000.jsonl");
    fs::write(&earlier, of(&lines[..3])).unwrap();
    fs::write(&today, of(&lines[3..])).unwrap();
    fs::write(bed.ledger_folder().join("notes.txt"), "not the ledger's").unwrap();
    let all = ledger.page(&Filter::default(), i64::MIN, 100).await.unwrap();
    assert_eq!(all.iter().map(|record| record.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(all.is_sorted_by_key(|record| record.position));
    assert_eq!(ledger.page(&Filter::default(), all[1].position, 2).await.unwrap(), all[2..4]);
    assert_eq!(ledger.latest(&Filter::default(), 4).await.unwrap(), all[1..]);
    assert!(whole(&ledger).await.is_sound());
    // a time that the file of an earlier day can't hold is not looked for there
    let late = Filter { since: Some(1_500_000_000_000), ..Filter::default() };
    ledger.append(entry(Kind::Read, "late", 1_600_000_000_000), Durability::Durable).await.unwrap();
    assert_eq!(ledger.page(&late, i64::MIN, 10).await.unwrap().len(), 1);
    fs::remove_file(&earlier).unwrap();
    assert_eq!(wrongs(&whole(&ledger).await), [(0, Wrong::Missing { until: 2 })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(unix)]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let bed = Bed::sqlite();
    let (_store, ledger) = open(&bed).await;
    fill(&ledger, 1).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&bed.ledger_folder()), 0o700);
    assert_eq!(mode(&tamper::files(&bed)[0]), 0o600);
}
