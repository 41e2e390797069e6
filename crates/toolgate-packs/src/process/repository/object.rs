//! Objects as git stores them: commits, trees, blobs and tags, parsed from their bytes.

use super::{
    error::RepositoryError,
    object_id::{HashLength, ObjectId},
};

/// Bytes of a message that are read. Callers are shown a thousand characters.
const MOST_SUBJECT: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl ObjectKind {
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"commit" => Some(Self::Commit),
            b"tree" => Some(Self::Tree),
            b"blob" => Some(Self::Blob),
            b"tag" => Some(Self::Tag),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: ObjectKind,
    pub(super) data: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Commit {
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    /// The committer's time, in seconds.
    pub(super) time: i64,
    /// The first paragraph of the message, in one line; at most what `MOST_SUBJECT` bytes of a message make.
    pub(super) subject: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) mode: u32,
    pub(super) id: ObjectId,
}

impl TreeEntry {
    /// The kind of a file, without its permissions.
    pub(super) fn file_type(self) -> u32 {
        self.mode & 0o170_000
    }

    pub(super) fn is_tree(self) -> bool {
        self.file_type() == 0o040_000
    }

    pub(super) fn is_submodule(self) -> bool {
        self.file_type() == 0o160_000
    }
}

impl Commit {
    /// The bytes that keeping the commit takes, with its place in a table.
    pub(super) fn held_bytes(&self) -> usize {
        2 * size_of::<(ObjectId, Self)>() + self.subject.len() + self.parents.len() * size_of::<ObjectId>()
    }

    pub(super) fn parse(data: &[u8]) -> Result<Self, RepositoryError> {
        let (head, message) = header_and_message(data);
        let field = |name: &'static [u8]| {
            head.split(|byte| *byte == b'\n').filter_map(move |line| line.strip_prefix(name)?.strip_prefix(b" "))
        };
        let tree = field(b"tree").next().and_then(ObjectId::from_hex).ok_or(DAMAGED_COMMIT)?;
        let parents = field(b"parent").map(|hex| ObjectId::from_hex(hex).ok_or(DAMAGED_COMMIT));
        let time = field(b"committer").next().and_then(committer_time).unwrap_or_default();
        Ok(Self { tree, parents: parents.collect::<Result<_, _>>()?, time, subject: subject(message) })
    }
}

const DAMAGED_COMMIT: RepositoryError = RepositoryError::Damaged("commit");
const DAMAGED_TREE: RepositoryError = RepositoryError::Damaged("tree");

/// The object that a tag names.
pub(super) fn tag_target(data: &[u8]) -> Option<ObjectId> {
    let line = data.split(|byte| *byte == b'\n').next()?;
    ObjectId::from_hex(line.strip_prefix(b"object ")?)
}

/// An entry of a tree, with its name.
type NamedEntry<'t> = (&'t [u8], TreeEntry);

/// Reads the entries of a tree one by one, as they stand in it.
pub(super) fn tree_entries(
    data: &[u8],
    length: HashLength,
) -> impl Iterator<Item = Result<NamedEntry<'_>, RepositoryError>> {
    let mut rest = data;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let entry = tree_entry(rest, length);
        rest = entry.map_or(&[][..], |(_, after)| after);
        Some(entry.map(|(entry, _)| entry).ok_or(DAMAGED_TREE))
    })
}

/// The first entry of some data, and the data after it.
fn tree_entry(data: &[u8], length: HashLength) -> Option<(NamedEntry<'_>, &[u8])> {
    let nul = data.iter().position(|byte| *byte == 0)?;
    let (head, after) = data.split_at_checked(nul)?;
    let (id, after) = after.get(1..)?.split_at_checked(length.bytes())?;
    let blank = head.iter().position(|byte| *byte == b' ')?;
    let (mode, name) = head.split_at_checked(blank)?;
    let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
    let name = name.get(1..).filter(|name| !name.is_empty() && !name.contains(&b'/'))?;
    Some(((name, TreeEntry { mode, id: ObjectId::from_bytes(id)? }), after))
}

fn header_and_message(data: &[u8]) -> (&[u8], &[u8]) {
    match data.windows(2).position(|pair| pair == b"\n\n") {
        Some(end) => (data.get(..end).unwrap_or_default(), data.get(end + 2..).unwrap_or_default()),
        None => (data, &[]),
    }
}

/// Reads `NAME <ADDRESS> SECONDS ZONE` from its end, since a name may hold anything.
fn committer_time(line: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(line);
    text.rsplit(' ').nth(1)?.parse().ok()
}

/// The first paragraph in one line, as far as it stands at the beginning of the message.
fn subject(message: &[u8]) -> String {
    let message = message.trim_ascii_start();
    let text = String::from_utf8_lossy(message.get(..subject_end(message)).unwrap_or(message));
    let paragraph = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
    paragraph.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The end of what is read of a message, between two characters.
fn subject_end(message: &[u8]) -> usize {
    let is_inside = |place: usize| message.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = message.len().min(MOST_SUBJECT);
    // a character has at most three bytes after its first
    (end.saturating_sub(3)..=end).rev().find(|place| !is_inside(*place)).unwrap_or(end)
}
