//! Objects as git stores them: commits, trees, blobs and tags, parsed from their bytes.

use super::{
    error::RepositoryError,
    object_id::{HashLength, ObjectId},
};

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
    /// The first paragraph of the message, in one line.
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

/// The entries of a tree, as they stand in it: name and entry.
pub(super) fn tree_entries(data: &[u8], length: HashLength) -> Result<Vec<(&[u8], TreeEntry)>, RepositoryError> {
    let mut entries = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let nul = rest.iter().position(|byte| *byte == 0).ok_or(DAMAGED_TREE)?;
        let (head, after) = rest.split_at_checked(nul).ok_or(DAMAGED_TREE)?;
        let (id, after) =
            after.get(1..).and_then(|after| after.split_at_checked(length.bytes())).ok_or(DAMAGED_TREE)?;
        let blank = head.iter().position(|byte| *byte == b' ').ok_or(DAMAGED_TREE)?;
        let (mode, name) = head.split_at_checked(blank).ok_or(DAMAGED_TREE)?;
        let mode = std::str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
        let name = name.get(1..).filter(|name| !name.is_empty() && !name.contains(&b'/')).ok_or(DAMAGED_TREE)?;
        let id = ObjectId::from_bytes(id).ok_or(DAMAGED_TREE)?;
        entries.push((name, TreeEntry { mode: mode.ok_or(DAMAGED_TREE)?, id }));
        rest = after;
    }
    Ok(entries)
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

fn subject(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let paragraph = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
    paragraph.map(str::trim).collect::<Vec<_>>().join(" ")
}
