//! Repositories made to cost the reader more than their own size: memory, time or open files.

use std::{io::Write, path::Path};

use super::{
    tests::{git, open, write},
    *,
};

/// Puts an object under any name, as a task may: nothing checks that a name is the hash of its content.
fn put_object(folder: &Path, name: &str, kind: &str, data: &[u8]) {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(format!("{kind} {}\0", data.len()).as_bytes()).unwrap();
    packed.write_all(data).unwrap();
    write(folder, &format!(".git/objects/{}/{}", &name[..2], &name[2..]), packed.finish().unwrap());
}

fn hostile_repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    put_object(folder.path(), &object_name("00", 0), "tree", b"");
    folder
}

fn object_name(kind: &str, number: usize) -> String {
    format!("{kind}{number:038x}")
}

/// A chain of commits, the first of which is `c0…0`. Each has the same parent as often as it is told.
fn put_commits(folder: &Path, count: usize, parents: usize, message: &[u8]) {
    for number in 0..count {
        let parent = number.checked_sub(1).map(|before| format!("parent {}\n", object_name("c0", before)));
        let head = format!(
            "tree {}\n{}author t <t@example.org> {number} +0000\ncommitter t <t@example.org> {number} +0000\n\n",
            object_name("00", 0),
            parent.unwrap_or_default().repeat(parents),
        );
        put_object(folder, &object_name("c0", number), "commit", &[head.as_bytes(), message].concat());
    }
    write(folder, ".git/refs/heads/main", object_name("c0", count - 1));
}

#[test]
fn no_more_of_a_long_message_is_kept_than_is_shown() {
    for message in ["y".repeat(500_000).into_bytes(), vec![0xff; 500_000], "水".repeat(150_000).into_bytes()] {
        let folder = hostile_repository();
        put_commits(folder.path(), 5, 1, &message);
        let repository = open(folder.path());
        let log = repository.log(&repository.resolve("HEAD~4").unwrap()).unwrap();
        assert_eq!(log.len(), 4);
        for entry in &log {
            assert!(entry.subject.chars().count() >= 1_000, "as much as is shown");
            assert!(entry.subject.len() <= 16 << 10, "{} bytes of one subject", entry.subject.len());
            assert_eq!(entry.subject.contains('\u{fffd}'), message[0] == 0xff, "no character is cut in two");
        }
    }
}

#[test]
fn a_commit_above_a_mebibyte_is_refused() {
    let folder = hostile_repository();
    put_commits(folder.path(), 2, 1, &vec![b'y'; 2 << 20]);
    let repository = open(folder.path());
    let refused = RepositoryError::TooLarge("a commit is larger than 1 MiB");
    assert_eq!(repository.log(&repository.head).err(), Some(refused));
}

#[test]
fn a_history_that_would_fill_the_memory_is_refused() {
    let folder = hostile_repository();
    // each commit is 1 MB, less than 8 KiB on disk; all their parents together are more than may be held
    put_commits(folder.path(), 110, 20_000, b"many parents");
    let repository = open(folder.path());
    let since = repository.resolve(&object_name("c0", 0)).unwrap();
    assert!(matches!(repository.log(&since).err(), Some(RepositoryError::TooLarge(_))));
}

#[test]
fn trees_that_would_fill_the_memory_are_refused() {
    let folder = hostile_repository();
    let name = |number: u8| [&[0; 19][..], &[number]].concat();
    // the first entry of each tree leads to the next; the others wait for their turn
    for level in 1..=8_u8 {
        let mut tree = Vec::new();
        for entry in 0..100_000 {
            let (mode, target) = if entry == 0 { ("40000", name(level + 1)) } else { ("100644", name(99)) };
            tree.extend_from_slice(format!("{mode} {entry:06}\0").as_bytes());
            tree.extend_from_slice(&target);
        }
        put_object(folder.path(), &object_name("00", level.into()), "tree", &tree);
    }
    put_object(folder.path(), &object_name("00", 9), "tree", b"");
    for (number, (tree, parent)) in [(0, ""), (1, &*format!("parent {}\n", object_name("c0", 0)))].iter().enumerate() {
        let commit = format!("tree {}\n{parent}committer t <t@example.org> 1 +0000\n\nx\n", object_name("00", *tree));
        put_object(folder.path(), &object_name("c0", number), "commit", commit.as_bytes());
    }
    write(folder.path(), ".git/refs/heads/main", object_name("c0", 1));
    let repository = open(folder.path());
    let since = repository.resolve("HEAD~1").unwrap();
    assert!(matches!(repository.diff(&since, 50 << 10).err(), Some(RepositoryError::TooLarge(_))));
}

/// A compressed stream with a great many empty blocks before its data.
fn padded_stream(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    stream.extend([0, 0, 0, 0xff, 0xff].repeat((2 << 20) / 5));
    let length = u16::try_from(data.len()).unwrap();
    stream.push(1);
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(data);
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in data {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend((high << 16 | low).to_be_bytes());
    stream
}

#[test]
fn an_object_that_is_longer_compressed_than_not_is_damaged() {
    let folder = hostile_repository();
    put_commits(folder.path(), 1, 1, b"first");
    let name = object_name("aa", 1);
    write(folder.path(), &format!(".git/objects/aa/{}", &name[2..]), padded_stream(b"blob 5\0hello"));
    let repository = open(folder.path());
    let loose = repository.objects.find(&ObjectId::from_hex(name.as_bytes()).unwrap());
    assert_eq!(loose.err(), Some(RepositoryError::Damaged("object")));

    let (pack, index) = (folder.path().join("a.pack"), folder.path().join("a.idx"));
    // an entry of kind blob and of five bytes
    std::fs::write(&pack, [&[0x35][..], &padded_stream(b"hello")].concat()).unwrap();
    std::fs::write(&index, [&b"\xfftOc\0\0\0\x02"[..], &[0; 1_024]].concat()).unwrap();
    let length = object_id::HashLength::Sha1;
    let index = std::fs::File::open(index).unwrap();
    let head = pack_index::IndexHead::read(&index, length).unwrap();
    let index = pack_index::PackIndex::new(index, head.into());
    let pack = std::fs::File::open(pack).unwrap();
    let packed = pack::read_object(&pack, &index, length, 0, repository.objects.budget());
    assert_eq!(packed.err(), Some(RepositoryError::Damaged("pack")));
}
