//! The files that differ between two trees.

use std::collections::BTreeMap;

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

/// Lists the files that differ, by path.
pub(super) fn changed_files(
    repository: &Repository,
    old: &ObjectId,
    new: &ObjectId,
) -> Result<Vec<FileChange>, RepositoryError> {
    let tree = |id: &ObjectId| Some(TreeEntry { mode: 0o040_000, id: *id });
    let mut changes = Vec::new();
    let mut rest: Vec<(Vec<u8>, EntryPair)> = vec![(Vec::new(), (tree(old), tree(new)))];
    while let Some((path, (old, new))) = rest.pop() {
        if old == new || changes.len() >= MOST_CHANGES {
            continue;
        }
        let is_tree = |entry: &TreeEntry| entry.is_tree();
        let (old_tree, new_tree) = (old.filter(is_tree), new.filter(is_tree));
        let (old, new) = (old.filter(|entry| !is_tree(entry)), new.filter(|entry| !is_tree(entry)));
        if old_tree.is_some() || new_tree.is_some() {
            let below = children(repository, old_tree, new_tree)?;
            // taken from the end, so that paths come out in order
            for (name, pair) in below.into_iter().rev() {
                let path = if path.is_empty() { name } else { [path.as_slice(), b"/", &name].concat() };
                if path.len() > MOST_PATH {
                    return Err(RepositoryError::Damaged("tree"));
                }
                rest.push((path, pair));
            }
        }
        if old.is_some() || new.is_some() {
            changes.push(FileChange { path, renamed_from: None, old, new });
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(with_renames(changes))
}

/// The names in two trees, in git's order: a folder as if its name ended in a slash.
fn children(
    repository: &Repository,
    old: Option<TreeEntry>,
    new: Option<TreeEntry>,
) -> Result<BTreeMap<Vec<u8>, EntryPair>, RepositoryError> {
    let mut pairs: BTreeMap<Vec<u8>, EntryPair> = BTreeMap::new();
    for (tree, is_old) in [(old, true), (new, false)] {
        let Some(tree) = tree else { continue };
        let data = repository.objects.read(&tree.id, ObjectKind::Tree)?;
        for (name, entry) in tree_entries(&data, repository.objects.length())? {
            let pair = pairs.entry(name.to_owned()).or_default();
            *(if is_old { &mut pair.0 } else { &mut pair.1 }) = Some(entry);
        }
    }
    pairs.retain(|_, (old, new)| old != new);
    Ok(pairs)
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
