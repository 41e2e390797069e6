//! Branches, tags and other names of commits.

use std::cell::OnceCell;

use super::{error::RepositoryError, files::read_file, location::GitFolders, object_id::ObjectId};

/// The size of a file with one reference.
const MOST_BYTES: u64 = 4 << 10;
/// The size of the file with all packed references.
const MOST_PACKED: u64 = 16 << 20;
/// References to references.
const DEEPEST: usize = 5;
const REFERENCE: &str = "reference";

pub(super) struct References {
    pub(super) folders: GitFolders,
    packed: OnceCell<Vec<u8>>,
}

impl References {
    pub(super) fn new(folders: GitFolders) -> Self {
        Self { folders, packed: OnceCell::new() }
    }

    /// The object that HEAD names.
    pub(super) fn head(&self) -> Result<ObjectId, RepositoryError> {
        let text = read_file(&self.folders.own, "HEAD", MOST_BYTES, "HEAD")?.ok_or(RepositoryError::NotRepository)?;
        if text.starts_with(b"ref: refs/heads/.invalid") {
            return Err(RepositoryError::Unsupported("keeps its references in tables"));
        }
        self.target(&text, 0)?.ok_or(RepositoryError::NoCommit)
    }

    /// The object that a name stands for, in the order in which git itself looks.
    pub(super) fn find(&self, name: &str) -> Result<Option<ObjectId>, RepositoryError> {
        if name == "HEAD" {
            return self.head().map(Some);
        }
        let plain = name.starts_with("refs/") || name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        let own = plain.then(|| name.to_owned());
        let rest = ["refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD"];
        for candidate in own.into_iter().chain(rest.map(|place| place.replace("{}", name))) {
            if let Some(found) = self.read(&candidate, 0)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn read(&self, name: &str, depth: usize) -> Result<Option<ObjectId>, RepositoryError> {
        let private = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
        let own = !name.starts_with("refs/") || private.iter().any(|place| name.starts_with(place));
        let folder = if own { &self.folders.own } else { &self.folders.common };
        match read_file(folder, name, MOST_BYTES, REFERENCE)? {
            Some(text) => self.target(&text, depth),
            None => self.packed(name),
        }
    }

    fn target(&self, text: &[u8], depth: usize) -> Result<Option<ObjectId>, RepositoryError> {
        let text = text.trim_ascii();
        let Some(other) = text.strip_prefix(b"ref:") else {
            let hash = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            return ObjectId::from_hex(hash).map(Some).ok_or(RepositoryError::Damaged(REFERENCE));
        };
        let other = std::str::from_utf8(other).map_err(|_| RepositoryError::Damaged(REFERENCE))?.trim();
        if depth >= DEEPEST || !other.starts_with("refs/") {
            return Err(RepositoryError::Damaged(REFERENCE));
        }
        self.read(other, depth + 1)
    }

    fn packed(&self, name: &str) -> Result<Option<ObjectId>, RepositoryError> {
        let packed = match self.packed.get() {
            Some(packed) => packed,
            None => {
                let read = read_file(&self.folders.common, "packed-refs", MOST_PACKED, "file packed-refs")?;
                self.packed.get_or_init(|| read.unwrap_or_default())
            }
        };
        let found = packed.split(|byte| *byte == b'\n').find_map(|line| {
            let hash = line.strip_suffix(name.as_bytes())?.strip_suffix(b" ")?;
            ObjectId::from_hex(hash)
        });
        Ok(found)
    }
}
