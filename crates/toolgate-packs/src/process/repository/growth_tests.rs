//! How work grows with a repository that its task wrote: in proportion.

use std::{
    fs,
    io::Write,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{
    Repository, WorkBudget,
    delta::apply_delta,
    object::{Commit, tree_entries},
    object_id::{HashLength, ObjectId},
};
use crate::linear::assert_linear;

#[test]
fn objects_are_read_in_linear_time() {
    let entry = [&b"100644 a\0"[..], &[7; 20]].concat();
    let parent = format!("parent {}\n", "a".repeat(40)).into_bytes();
    let parts: [&[u8]; 9] =
        [&entry, &parent, b"\n", b"\n\n", b"tree ", b" ", b"\0", b"committer a <b> 1 +0000\n", b"\xff"];
    for part in parts {
        assert_linear(&String::from_utf8_lossy(part), 256, |times| {
            let data = part.repeat(times);
            let _ = tree_entries(&data, HashLength::Sha1);
            let _ = Commit::parse(&data);
            let head = format!("tree {}\n", "b".repeat(40));
            let _ = Commit::parse(&[head.as_bytes(), &data].concat());
            let _ = Commit::parse(&[head.as_bytes(), b"\n", &data].concat());
            super::object::tag_target(&data);
        });
    }
}

#[test]
fn deltas_are_applied_in_time_of_what_they_make() {
    let size = |mut size: usize| {
        let mut bytes = Vec::new();
        while size >= 0x80 {
            bytes.push(u8::try_from(size & 0x7f).unwrap() | 0x80);
            size >>= 7;
        }
        bytes.push(u8::try_from(size).unwrap());
        bytes
    };
    let base = [1; 64];
    // copies of one byte, insertions of one byte, and copies that the size does not allow
    for (command, made) in [(&[0x90, 1][..], 1), (&[1, b'x'], 1), (&[0x90, 64], 64), (&[0x90, 64], 0)] {
        assert_linear(&format!("{command:?}"), 256, |times| {
            let delta = [size(base.len()), size(made * times), command.repeat(times)].concat();
            let _ = apply_delta(&base, &delta, u64::MAX);
        });
    }
}

/// A repository of loose objects, each under the name that it is asked for by.
struct Loose(tempfile::TempDir);

impl Loose {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git/objects")).unwrap();
        fs::create_dir_all(folder.path().join(".git/refs")).unwrap();
        Self(folder)
    }

    fn write(&self, kind: &str, data: &[u8]) -> String {
        let whole = [format!("{kind} {}\0", data.len()).as_bytes(), data].concat();
        let id: String = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, &whole)
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let (folder, name) = id.split_at(2);
        let folder = self.0.path().join(".git/objects").join(folder);
        fs::create_dir_all(&folder).unwrap();
        let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&whole).unwrap();
        fs::write(folder.join(name), packed.finish().unwrap()).unwrap();
        id
    }

    fn commit(&self, tree: &str, parents: &[&str], time: usize) -> String {
        let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
        self.write("commit", format!("tree {tree}\n{parents}committer a <b> {time} +0000\n\nsubject").as_bytes())
    }

    fn open(&self, head: &str) -> Repository {
        fs::write(self.0.path().join(".git/HEAD"), head).unwrap();
        let budget = WorkBudget::new(Duration::from_secs(600), Arc::new(AtomicBool::new(false)));
        Repository::open(&self.0.path().canonicalize().unwrap(), None, budget).unwrap()
    }
}

fn entry(mode: &str, name: &str, id: &str) -> Vec<u8> {
    let id = ObjectId::from_hex(id.as_bytes()).unwrap();
    [format!("{mode} {name}\0").as_bytes(), id.bytes()].concat()
}

#[test]
fn a_log_of_many_joined_commits_reads_each_once() {
    let spent = |commits: usize| {
        let loose = Loose::new();
        let tree = loose.write("tree", b"");
        let root = loose.commit(&tree, &[], 0);
        let (mut one, mut other) = (root.clone(), root.clone());
        for time in 1..commits {
            // two ways from each commit to each before it: 2^n ways in all
            let next = loose.commit(&tree, &[&one, &other], 2 * time);
            (one, other) = (next, loose.commit(&tree, &[&one, &other], 2 * time + 1));
        }
        let repository = loose.open(&loose.commit(&tree, &[&one, &other], 3 * commits));
        let since = ObjectId::from_hex(root.as_bytes()).unwrap();
        assert_eq!(repository.log(&since).unwrap().len(), 2 * commits - 1);
        repository.objects.budget().spent()
    };
    assert!(spent(160) <= 9 * spent(20));
}

#[test]
fn a_difference_of_trees_within_one_another_is_bounded_by_the_changes_looked_for() {
    let spent = |depth: usize| {
        let loose = Loose::new();
        let empty = loose.write("tree", b"");
        let blob = loose.write("blob", b"x\n");
        let mut tree = loose.write("tree", &entry("100644", "f", &blob));
        for _ in 0..depth {
            // each tree twice in the next: 2^depth files
            tree = loose.write("tree", &[entry("40000", "a", &tree), entry("40000", "b", &tree)].concat());
        }
        let before = loose.commit(&empty, &[], 0);
        let repository = loose.open(&loose.commit(&tree, &[&before], 1));
        repository.diff(&ObjectId::from_hex(before.as_bytes()).unwrap(), 1_000).unwrap();
        repository.objects.budget().spent()
    };
    assert!(spent(40) <= 3 * spent(20));
}
