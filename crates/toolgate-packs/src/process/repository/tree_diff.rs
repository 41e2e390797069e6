//! The files that differ between two trees.

use std::collections::{BTreeMap, btree_map::Entry};

use super::{
    Repository,
    error::RepositoryError,
    object::{ObjectKind, TreeEntry, tree_entries},
    object_id::ObjectId,
};

/// Changes looked for. The text of so many is far longer than what is shown.
const MOST_CHANGES: usize = 5_000;
/// The length of a path.
const MOST_PATH: usize = 4_096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: Vec<u8>,
    /// The path before, where the file was renamed without any other change.
    pub(super) renamed_from: Option<Vec<u8>>,
    pub(super) old: Option<TreeEntry>,
    pub(super) new: Option<TreeEntry>,
}

/// One name in two trees.
type EntryPair = (Option<TreeEntry>, Option<TreeEntry>);

/// A path whose trees or files are still to be compared.
type PendingPath = (Vec<u8>, EntryPair);

/// Lists the files that differ, by path.
pub(super) fn changed_files(
    repository: &Repository,
    old: &ObjectId,
    new: &ObjectId,
) -> Result<Vec<FileChange>, RepositoryError> {
    let tree = |id: &ObjectId| Some(TreeEntry { mode: 0o040_000, id: *id });
    let budget = repository.objects.budget();
    let mut changes = Vec::new();
    let mut rest: Vec<PendingPath> = vec![(Vec::new(), (tree(old), tree(new)))];
    while let Some((path, (old, new))) = rest.pop() {
        budget.release(held_bytes(&path));
        if old == new || changes.len() >= MOST_CHANGES {
            continue;
        }
        let is_tree = |entry: &TreeEntry| entry.is_tree();
        let (old_tree, new_tree) = (old.filter(is_tree), new.filter(is_tree));
        let (old, new) = (old.filter(|entry| !is_tree(entry)), new.filter(|entry| !is_tree(entry)));
        if old_tree.is_some() || new_tree.is_some() {
            push_children(repository, &path, old_tree, new_tree, &mut rest)?;
        }
        if old.is_some() || new.is_some() {
            // finding renames keeps a path three times
            budget.hold(held_bytes(&path) * 3)?;
            changes.push(FileChange { path, renamed_from: None, old, new });
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(with_renames(changes))
}

/// Pushes the names that differ between two trees.
fn push_children(
    repository: &Repository,
    path: &[u8],
    old: Option<TreeEntry>,
    new: Option<TreeEntry>,
    rest: &mut Vec<PendingPath>,
) -> Result<(), RepositoryError> {
    let read = |tree: Option<TreeEntry>| match tree {
        Some(tree) => repository.objects.read(&tree.id, ObjectKind::Tree),
        None => Ok(Vec::new()),
    };
    let (old, new) = (read(old)?, read(new)?);
    let budget = repository.objects.budget();
    let mut pairs: BTreeMap<&[u8], EntryPair> = BTreeMap::new();
    for (tree, is_old) in [(&old, true), (&new, false)] {
        for entry in tree_entries(tree, repository.objects.length()) {
            let (name, entry) = entry?;
            let pair = match pairs.entry(name) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    budget.hold(size_of::<(&[u8], EntryPair)>())?;
                    free.insert(EntryPair::default())
                }
            };
            *(if is_old { &mut pair.0 } else { &mut pair.1 }) = Some(entry);
        }
    }
    let count = pairs.len();
    // taken from the end, so that paths come out in order
    for (name, pair) in pairs.into_iter().rev().filter(|(_, (old, new))| old != new) {
        let path = if path.is_empty() { name.to_owned() } else { [path, b"/", name].concat() };
        if path.len() > MOST_PATH {
            return Err(RepositoryError::Damaged("tree"));
        }
        budget.hold(held_bytes(&path))?;
        rest.push((path, pair));
    }
    budget.release(count * size_of::<(&[u8], EntryPair)>());
    Ok(())
}

/// The bytes that a path waiting for its turn takes.
fn held_bytes(path: &[u8]) -> usize {
    size_of::<PendingPath>() + path.len()
}

/// Joins a removed and an added file of the same content into one renamed file.
fn with_renames(changes: Vec<FileChange>) -> Vec<FileChange> {
    let mut removed: BTreeMap<ObjectId, Vec<(Vec<u8>, TreeEntry)>> = BTreeMap::new();
    for change in changes.iter().rev() {
        if let (Some(old), None) = (change.old, change.new) {
            removed.entry(old.id).or_default().push((change.path.clone(), old));
        }
    }
    let mut renamed = Vec::new();
    let mut kept: Vec<FileChange> = changes
        .into_iter()
        .map(|mut change| {
            if let (None, Some(new)) = (change.old, change.new)
                && let Some(same) = removed.get_mut(&new.id)
                && same.last().is_some_and(|(_, old)| old.file_type() == new.file_type())
                && let Some((path, old)) = same.pop()
            {
                renamed.push(path.clone());
                change.renamed_from = Some(path);
                change.old = Some(old);
            }
            change
        })
        .collect();
    renamed.sort_unstable();
    kept.retain(|change| change.new.is_some() || renamed.binary_search(&change.path).is_err());
    kept
}
