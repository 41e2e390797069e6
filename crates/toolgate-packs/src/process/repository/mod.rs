//! A git repository, read by this process alone: no program is run, no setting of the repository is read, and every file
//! is opened beneath a directory handle ([decision 0012](../../../../../docs/decisions/0012-own-git-reader.md)).

mod budget;
mod delta;
mod error;
mod files;
#[cfg(test)]
mod growth_tests;
mod history;
#[cfg(test)]
mod hostile_tests;
mod inflate;
mod location;
mod object;
mod object_id;
mod object_store;
mod pack;
mod pack_index;
mod patch;
mod references;
mod revision;
#[cfg(test)]
mod tests;
mod tree_diff;

use std::{collections::HashSet, path::Path};

pub(super) use self::{budget::WorkBudget, error::RepositoryError, object_id::ObjectId};
use self::{
    files::{open_folder, read_file},
    object::{Commit, ObjectKind},
    object_store::ObjectStore,
    references::References,
};

/// The size of the list of commits without their parents.
const MOST_SHALLOW: u64 = 4 << 20;
/// The size of a commit. The largest object is far larger, since it may be a file.
const MOST_COMMIT: usize = 1 << 20;

pub(super) struct Repository {
    references: References,
    objects: ObjectStore,
    head: ObjectId,
    /// The commits whose parents a shallow clone left out.
    shallow: HashSet<ObjectId>,
}

impl Repository {
    /// Opens the repository of a worktree. Both paths are absolute and free of links.
    pub(super) fn open(worktree: &Path, main: Option<&Path>, budget: WorkBudget) -> Result<Self, RepositoryError> {
        let references = References::new(location::find_folders(worktree, main)?);
        let head = references.head()?;
        let common = &references.folders.common;
        let objects = open_folder(common, "objects", "folder of objects")?.ok_or(RepositoryError::NotRepository)?;
        let objects = ObjectStore::open(objects, head.length(), budget)?;
        let shallow = read_file(common, "shallow", MOST_SHALLOW, "list of shallow commits")?.unwrap_or_default();
        let shallow = shallow.split(|byte| *byte == b'\n').filter_map(ObjectId::from_hex).collect();
        Ok(Self { references, objects, head, shallow })
    }

    fn commit(&self, id: &ObjectId) -> Result<Commit, RepositoryError> {
        let data = self.objects.read(id, ObjectKind::Commit)?;
        if data.len() > MOST_COMMIT {
            return Err(RepositoryError::TooLarge("a commit is larger than 1 MiB"));
        }
        let mut commit = Commit::parse(&data)?;
        if self.shallow.contains(id) {
            commit.parents.clear();
        }
        Ok(commit)
    }
}
