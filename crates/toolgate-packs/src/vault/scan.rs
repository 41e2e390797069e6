//! Brings what is known in step with what is on disk: who is still there, who moved, who is new, who has gone.
//!
//! The same path keeps its id, whatever became of the content. What is at a new path keeps the id of something that has
//! gone from its old one, if it is the same file (inode and time of birth, or inode, size and time of change) or the only
//! one with the same content. Anything else is new, and what is left over has gone.

use std::collections::{HashMap, HashSet};

use toolgate_store::{VaultItem, VaultUpdate};

use super::{
    folder::Seen,
    ids::{self, ROOT},
    tree::Node,
};

/// What a scan found, and what the store must learn of it.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) nodes: Vec<Node>,
    pub(super) update: VaultUpdate,
}

impl Scanned {
    /// Holds back those that are gone for the first time: a file that is moved while the folder is walked can be missed,
    /// and is found at the next look. Gives who is held back. One whose place another has is gone for certain.
    pub(super) fn doubt(&mut self, missed_before: &HashSet<String>, known: &[VaultItem]) -> HashSet<String> {
        let taken: HashSet<(&str, &str)> =
            self.nodes.iter().map(|node| (node.known.parent.as_str(), node.known.name.as_str())).collect();
        let displaced = known.iter().filter(|item| taken.contains(&(item.parent.as_str(), item.name.as_str())));
        let displaced: HashSet<&str> = displaced.map(|item| item.id.as_str()).collect();
        let (gone, missed): (HashSet<String>, HashSet<String>) = std::mem::take(&mut self.update.gone)
            .into_iter()
            .partition(|id| missed_before.contains(id) || displaced.contains(id.as_str()));
        self.update.gone = gone.into_iter().collect();
        missed
    }
}

/// `digest` reads a file at a path; it is asked only where that can tell something.
pub(super) fn reconcile(seen: &[Seen], known: &[VaultItem], mut digest: impl FnMut(&str) -> Option<String>) -> Scanned {
    let mut lost = Lost::of(seen, known);
    let at: HashMap<(&str, &str), &VaultItem> =
        known.iter().map(|item| ((item.parent.as_str(), item.name.as_str()), item)).collect();
    let mut claimed: HashSet<&str> = HashSet::new();
    let mut ids: Vec<String> = Vec::with_capacity(seen.len());
    let mut scanned = Scanned::default();
    for one in seen {
        // INVARIANT: a folder is seen before what is in it
        let parent = one.parent.and_then(|parent| ids.get(parent)).map_or(ROOT, String::as_str).to_owned();
        let same = at.get(&(parent.as_str(), one.name.as_str())).copied();
        let same = same.filter(|item| item.folder == one.folder && !claimed.contains(item.id.as_str()));
        let before = same.or_else(|| lost.take(one, &claimed, &mut digest));
        let item = item(one, parent, before);
        match before {
            Some(before) => {
                claimed.insert(before.id.as_str());
                if (&before.parent, &before.name) != (&item.parent, &item.name) {
                    scanned.update.moved.push(item.clone());
                } else if *before != item {
                    scanned.update.touched.push(item.clone());
                }
            }
            None => scanned.update.new.push(item.clone()),
        }
        ids.push(item.id.clone());
        scanned.nodes.push(Node { known: item, path: one.path.clone() });
    }
    let gone = known.iter().filter(|item| !claimed.contains(item.id.as_str()));
    scanned.update.gone = gone.map(|item| item.id.clone()).collect();
    scanned
}

fn item(seen: &Seen, parent: String, before: Option<&VaultItem>) -> VaultItem {
    VaultItem {
        id: before.map_or_else(|| ids::new(seen.folder), |before| before.id.clone()),
        parent,
        name: seen.name.clone(),
        folder: seen.folder,
        inode: seen.inode,
        born: seen.born,
        size: seen.size,
        modified: seen.modified,
        digest: before.and_then(|before| before.digest.clone()),
        stamp: before.and_then(|before| before.stamp.clone()),
    }
}

/// Items that are not at their path any more.
struct Lost<'a> {
    by_inode: HashMap<i64, Vec<&'a VaultItem>>,
    by_size: HashMap<i64, Vec<&'a VaultItem>>,
}

impl<'a> Lost<'a> {
    fn of(seen: &[Seen], known: &'a [VaultItem]) -> Self {
        let by_id: HashMap<&str, &VaultItem> = known.iter().map(|item| (item.id.as_str(), item)).collect();
        let there: HashSet<(&str, bool)> = seen.iter().map(|seen| (seen.path.as_str(), seen.folder)).collect();
        let mut lost = Self { by_inode: HashMap::new(), by_size: HashMap::new() };
        for item in known {
            if path(item, &by_id).is_some_and(|path| there.contains(&(path.as_str(), item.folder))) {
                continue;
            }
            lost.by_inode.entry(item.inode).or_default().push(item);
            if !item.folder && item.digest.is_some() && item.size > 0 {
                lost.by_size.entry(item.size).or_default().push(item);
            }
        }
        lost
    }

    /// The one that this is, if it is one of them.
    fn take(
        &mut self,
        seen: &Seen,
        claimed: &HashSet<&str>,
        digest: &mut impl FnMut(&str) -> Option<String>,
    ) -> Option<&'a VaultItem> {
        let free = |item: &&&VaultItem| !claimed.contains(item.id.as_str());
        let is_same = |item: &&&VaultItem| {
            item.folder == seen.folder
                && if seen.born != 0 && item.born != 0 {
                    item.born == seen.born
                } else {
                    !seen.folder && item.size == seen.size && item.modified == seen.modified
                }
        };
        let moved = self.by_inode.get(&seen.inode).into_iter().flatten().filter(free).find(is_same);
        if moved.is_some() || seen.folder {
            return moved.copied();
        }
        let alike: Vec<&&VaultItem> = self.by_size.get(&seen.size).into_iter().flatten().filter(free).collect();
        if alike.is_empty() {
            return None;
        }
        let content = digest(&seen.path)?;
        let mut alike = alike.into_iter().filter(|item| item.digest.as_ref() == Some(&content));
        // two of the same content: which of them it was can't be told
        match (alike.next(), alike.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

/// The path an item had when it was last seen.
fn path(item: &VaultItem, by_id: &HashMap<&str, &VaultItem>) -> Option<String> {
    let mut names = vec![item.name.as_str()];
    let mut parent = item.parent.as_str();
    for _ in 0..=by_id.len() {
        if parent == ROOT {
            names.reverse();
            return Some(names.join("/"));
        }
        let above = by_id.get(parent)?;
        names.push(above.name.as_str());
        parent = above.parent.as_str();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(path: &str, inode: i64, born: i64) -> Seen {
        let (name, path) = (path.to_owned(), path.to_owned());
        Seen { parent: None, name, path, folder: false, inode, born, size: 10, modified: 5 }
    }

    fn known(seen: &[Seen]) -> Vec<VaultItem> {
        reconcile(seen, &[], |_| None).update.new
    }

    #[test]
    fn the_same_file_at_another_path_keeps_its_id() {
        let before = known(&[seen("a", 1, 7), seen("b", 2, 7)]);
        let after = reconcile(&[seen("c", 1, 7), seen("b", 2, 7)], &before, |_| None);
        assert_eq!(after.update.moved.iter().map(|item| &item.id).collect::<Vec<_>>(), [&before[0].id]);
        assert!(after.update.gone.is_empty() && after.update.new.is_empty() && after.update.touched.is_empty());
    }

    #[test]
    fn an_inode_that_is_used_again_is_another_file() {
        let before = known(&[seen("a", 1, 7)]);
        let after = reconcile(&[seen("b", 1, 8)], &before, |_| None);
        assert_eq!((after.update.gone.len(), after.update.new.len()), (1, 1));
    }

    #[test]
    fn where_no_birth_is_known_size_and_time_tell() {
        let before = known(&[seen("a", 1, 0), seen("b", 2, 0)]);
        let changed = Seen { size: 11, ..seen("d", 2, 0) };
        let after = reconcile(&[seen("c", 1, 0), changed], &before, |_| None);
        assert_eq!(after.update.moved.iter().map(|item| &item.id).collect::<Vec<_>>(), [&before[0].id]);
        assert_eq!((after.update.gone.len(), after.update.new.len()), (1, 1));
        let folder = |path: &str| Seen { folder: true, size: 0, ..seen(path, 3, 0) };
        let before = known(&[folder("x")]);
        let after = reconcile(&[folder("y")], &before, |_| None);
        assert_eq!(after.update.moved, [], "nothing tells a folder from a new one with its inode");
    }

    #[test]
    fn content_is_read_only_where_it_can_tell() {
        let mut before = known(&[seen("a", 1, 7)]);
        let read = |before: &[VaultItem], size: i64| {
            let mut asked = 0;
            let new = Seen { size, ..seen("b", 9, 9) };
            let after = reconcile(&[new], before, |_| {
                asked += 1;
                Some("same".to_owned())
            });
            (asked, after.update.moved.len())
        };
        assert_eq!(read(&before, 10), (0, 0), "no content is known");
        before[0].digest = Some("same".to_owned());
        assert_eq!(read(&before, 11), (0, 0), "another size");
        assert_eq!(read(&before, 10), (1, 1));
    }

    #[test]
    fn what_was_missed_once_is_not_forgotten_yet() {
        let before = known(&[seen("a", 1, 7), seen("b", 2, 7)]);
        let mut look = reconcile(&[seen("b", 2, 7)], &before, |_| None);
        let missed = look.doubt(&HashSet::new(), &before);
        assert_eq!((missed.len(), look.update.gone.len()), (1, 0));
        let mut again = reconcile(&[seen("b", 2, 7)], &before, |_| None);
        assert!(again.doubt(&missed, &before).is_empty());
        assert_eq!(again.update.gone, [before[0].id.clone()]);
        let mut back = reconcile(&[seen("b", 2, 7), seen("c", 1, 7)], &before, |_| None);
        assert!(back.doubt(&missed, &before).is_empty() && back.update.gone.is_empty(), "it was only on its way");
        let mut other = reconcile(&[Seen { folder: true, ..seen("a", 9, 9) }, seen("b", 2, 7)], &before, |_| None);
        assert!(other.doubt(&HashSet::new(), &before).is_empty());
        assert_eq!(other.update.gone, [before[0].id.clone()], "a folder has its place");
    }

    #[test]
    fn a_circle_in_what_is_known_ends() {
        let mut before = known(&[Seen { folder: true, ..seen("a", 1, 7) }, Seen { folder: true, ..seen("b", 2, 7) }]);
        before[0].parent = before[1].id.clone();
        before[1].parent = before[0].id.clone();
        assert_eq!(reconcile(&[], &before, |_| None).update.gone.len(), 2);
    }
}
