//! A commit as callers name it: a hash, a branch or a tag, and from there to an ancestor (`main~2^1`).

use super::{
    Repository,
    error::RepositoryError,
    object::{ObjectKind, tag_target},
    object_id::ObjectId,
};

/// Tags of tags.
const DEEPEST: usize = 10;
/// The fewest digits that stand for a hash.
const FEWEST_DIGITS: usize = 4;

impl Repository {
    /// Finds the commit of a revision.
    pub(in crate::process) fn resolve(&self, revision: &str) -> Result<ObjectId, RepositoryError> {
        let unknown = RepositoryError::UnknownRevision;
        let end = revision.find(['~', '^']).unwrap_or(revision.len());
        let (name, mut steps) = revision.split_at_checked(end).ok_or(unknown)?;
        let mut commit = self.peeled(self.named(name)?.ok_or(unknown)?)?;
        while let Some(step) = steps.chars().next() {
            let rest = steps.get(1..).unwrap_or_default();
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at_checked(digits).ok_or(unknown)?;
            let number: usize = if number.is_empty() { 1 } else { number.parse().map_err(|_| unknown)? };
            commit = match step {
                '~' => (0..number).try_fold(commit, |commit, _| self.parent(&commit, 1))?,
                '^' => self.parent(&commit, number)?,
                _ => return Err(unknown),
            };
            steps = after;
        }
        Ok(commit)
    }

    fn named(&self, name: &str) -> Result<Option<ObjectId>, RepositoryError> {
        if let Some(id) = ObjectId::from_hex(name.as_bytes()) {
            return Ok(Some(id));
        }
        if let Some(found) = self.references.find(name)? {
            return Ok(Some(found));
        }
        let is_hash =
            name.len() >= FEWEST_DIGITS && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { self.objects.abbreviated(name) } else { Ok(None) }
    }

    /// The parent of a commit, counted from one; number nought is the commit itself.
    fn parent(&self, commit: &ObjectId, number: usize) -> Result<ObjectId, RepositoryError> {
        let Some(place) = number.checked_sub(1) else { return Ok(*commit) };
        self.commit(commit)?.parents.get(place).copied().ok_or(RepositoryError::UnknownRevision)
    }

    /// The commit behind a tag.
    fn peeled(&self, mut id: ObjectId) -> Result<ObjectId, RepositoryError> {
        for _ in 0..DEEPEST {
            let object = self.objects.find(&id)?.ok_or(RepositoryError::UnknownRevision)?;
            match object.kind {
                ObjectKind::Commit => return Ok(id),
                ObjectKind::Tag => id = tag_target(&object.data).ok_or(RepositoryError::Damaged("tag"))?,
                ObjectKind::Tree | ObjectKind::Blob => break,
            }
        }
        Err(RepositoryError::UnknownRevision)
    }
}
