//! Brings what is known in step with what is on disk: who is still there, who moved, who is new, who has gone.
//!
//! An id follows its file (inode and time of birth, or inode, size and time of change), wherever the file is now. A file
//! that is nobody's takes over the id of its path, as many editors save, unless the document of that id is elsewhere or was
//! missing at the last look. Last, a document that was indexed is known by its content, if it is the only one with it.
//! Anything else is new, and what is left over has gone.

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

/// `missed` are ids that the last look did not find; `digest` reads a file at a path, and is asked only where that can tell
/// something.
pub(super) fn reconcile(
    seen: &[Seen],
    known: &[VaultItem],
    missed: &HashSet<String>,
    mut digest: impl FnMut(&str) -> Option<String>,
) -> Scanned {
    let lost = Lost::new(seen, known);
    let at: HashMap<(&str, &str), &VaultItem> =
        known.iter().map(|item| ((item.parent.as_str(), item.name.as_str()), item)).collect();
    let mut claimed: HashSet<&str> = HashSet::new();
    let mut ids: Vec<String> = Vec::with_capacity(seen.len());
    let mut scanned = Scanned::default();
    for one in seen {
        // INVARIANT: a folder is seen before what is in it
        let parent = one.parent.and_then(|parent| ids.get(parent)).map_or(ROOT, String::as_str).to_owned();
        let here = at.get(&(parent.as_str(), one.name.as_str())).copied();
        let here = here.filter(|item| item.folder == one.folder && !claimed.contains(item.id.as_str()));
        let before = here
            .filter(|item| is_same_file(item, one))
            .or_else(|| lost.same_file(one, &claimed))
            .or_else(|| here.filter(|item| !missed.contains(&item.id) && !lost.is_elsewhere(item)))
            .or_else(|| lost.same_content(one, &claimed, &mut digest));
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

/// A file or folder keeps its inode and its time of birth. Where no birth is known, a file that kept its size and time of
/// change is the same; of a folder nothing can be told.
fn is_same_file(item: &VaultItem, seen: &Seen) -> bool {
    let unchanged = item.size == seen.size && item.modified == seen.modified;
    let born = seen.born != 0 && item.born != 0;
    item.folder == seen.folder
        && item.inode == seen.inode
        && if born { item.born == seen.born } else { !seen.folder && unchanged }
        // an inode of zero is that of a system without inodes
        && (seen.inode != 0 || unchanged)
}

/// Items whose file is not at their path any more, and files that are at the path of no item of theirs.
struct Lost<'a> {
    by_inode: HashMap<i64, Vec<&'a VaultItem>>,
    /// Documents whose content is known, and whose path is free.
    by_size: HashMap<i64, Vec<&'a VaultItem>>,
    strays: HashMap<i64, Vec<&'a Seen>>,
}

impl<'a> Lost<'a> {
    fn new(seen: &'a [Seen], known: &'a [VaultItem]) -> Self {
        let by_id: HashMap<&str, &VaultItem> = known.iter().map(|item| (item.id.as_str(), item)).collect();
        let there: HashMap<&str, &Seen> = seen.iter().map(|seen| (seen.path.as_str(), seen)).collect();
        let mut at_home: HashSet<&str> = HashSet::new();
        let mut lost = Self { by_inode: HashMap::new(), by_size: HashMap::new(), strays: HashMap::new() };
        for item in known {
            let here = path(item, &by_id).and_then(|path| there.get(path.as_str()).copied());
            let here = here.filter(|seen| seen.folder == item.folder);
            if let Some(seen) = here.filter(|seen| is_same_file(item, seen)) {
                at_home.insert(seen.path.as_str());
                continue;
            }
            lost.by_inode.entry(item.inode).or_default().push(item);
            if here.is_none() && !item.folder && item.digest.is_some() && item.size > 0 {
                lost.by_size.entry(item.size).or_default().push(item);
            }
        }
        for stray in seen.iter().filter(|seen| !at_home.contains(seen.path.as_str())) {
            lost.strays.entry(stray.inode).or_default().push(stray);
        }
        lost
    }

    /// The item whose file this is.
    fn same_file(&self, seen: &Seen, claimed: &HashSet<&str>) -> Option<&'a VaultItem> {
        let mut items = self.by_inode.get(&seen.inode).into_iter().flatten();
        items.find(|item| !claimed.contains(item.id.as_str()) && is_same_file(item, seen)).copied()
    }

    /// Reports that an item's file is at another path than the item's.
    fn is_elsewhere(&self, item: &VaultItem) -> bool {
        self.strays.get(&item.inode).into_iter().flatten().any(|seen| is_same_file(item, seen))
    }

    /// The only item with the content of this file.
    fn same_content(
        &self,
        seen: &Seen,
        claimed: &HashSet<&str>,
        digest: &mut impl FnMut(&str) -> Option<String>,
    ) -> Option<&'a VaultItem> {
        if seen.folder {
            return None;
        }
        let free = |item: &&&VaultItem| !claimed.contains(item.id.as_str());
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
        reconcile(seen, &[], &HashSet::new(), |_| None).update.new
    }

    #[test]
    fn the_same_file_at_another_path_keeps_its_id() {
        let before = known(&[seen("a", 1, 7), seen("b", 2, 7)]);
        let after = reconcile(&[seen("c", 1, 7), seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!(after.update.moved.iter().map(|item| &item.id).collect::<Vec<_>>(), [&before[0].id]);
        assert!(after.update.gone.is_empty() && after.update.new.is_empty() && after.update.touched.is_empty());
    }

    #[test]
    fn an_inode_that_is_used_again_is_another_file() {
        let before = known(&[seen("a", 1, 7)]);
        let after = reconcile(&[seen("b", 1, 8)], &before, &HashSet::new(), |_| None);
        assert_eq!((after.update.gone.len(), after.update.new.len()), (1, 1));
    }

    #[test]
    fn where_no_birth_is_known_size_and_time_tell() {
        let before = known(&[seen("a", 1, 0), seen("b", 2, 0)]);
        let changed = Seen { size: 11, ..seen("d", 2, 0) };
        let after = reconcile(&[seen("c", 1, 0), changed], &before, &HashSet::new(), |_| None);
        assert_eq!(after.update.moved.iter().map(|item| &item.id).collect::<Vec<_>>(), [&before[0].id]);
        assert_eq!((after.update.gone.len(), after.update.new.len()), (1, 1));
        let folder = |path: &str| Seen { folder: true, size: 0, ..seen(path, 3, 0) };
        let before = known(&[folder("x")]);
        let after = reconcile(&[folder("y")], &before, &HashSet::new(), |_| None);
        assert_eq!(after.update.moved, [], "nothing tells a folder from a new one with its inode");
    }

    #[test]
    fn content_is_read_only_where_it_can_tell() {
        let mut before = known(&[seen("a", 1, 7)]);
        let read = |before: &[VaultItem], size: i64| {
            let mut asked = 0;
            let new = Seen { size, ..seen("b", 9, 9) };
            let after = reconcile(&[new], before, &HashSet::new(), |_| {
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
        let mut look = reconcile(&[seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        let missed = look.doubt(&HashSet::new(), &before);
        assert_eq!((missed.len(), look.update.gone.len()), (1, 0));
        let mut again = reconcile(&[seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        assert!(again.doubt(&missed, &before).is_empty());
        assert_eq!(again.update.gone, [before[0].id.clone()]);
        let mut back = reconcile(&[seen("b", 2, 7), seen("c", 1, 7)], &before, &HashSet::new(), |_| None);
        assert!(back.doubt(&missed, &before).is_empty() && back.update.gone.is_empty(), "it was only on its way");
        let mut other =
            reconcile(&[Seen { folder: true, ..seen("a", 9, 9) }, seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        assert!(other.doubt(&HashSet::new(), &before).is_empty());
        assert_eq!(other.update.gone, [before[0].id.clone()], "a folder has its place");
    }

    #[test]
    fn an_id_follows_its_file_to_the_path_of_another() {
        let ids = |looked: &Scanned| looked.nodes.iter().map(|node| node.known.id.clone()).collect::<Vec<_>>();
        let before = known(&[seen("a", 1, 7), seen("b", 2, 7)]);
        let (a, b) = (before[0].id.clone(), before[1].id.clone());
        let over = reconcile(&[seen("b", 1, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!((ids(&over), &over.update.gone), (vec![a.clone()], &vec![b.clone()]), "the other was deleted");
        let traded = reconcile(&[seen("a", 2, 7), seen("b", 1, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!(ids(&traded), [b.clone(), a.clone()]);
        let kept = reconcile(&[seen("a", 3, 8), seen("a~", 1, 7), seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!(ids(&kept)[1..], [a.clone(), b.clone()], "a new file has its old path");
        assert_ne!(ids(&kept)[0], a);
        let replaced = reconcile(&[seen("a", 3, 8), seen("b", 2, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!(ids(&replaced), [a.clone(), b], "as editors save");
        let missed = HashSet::from([a.clone()]);
        let back = reconcile(&[seen("a", 3, 8), seen("b", 2, 7)], &before, &missed, |_| None);
        assert_ne!(ids(&back)[0], a, "it was missing, and this is another file");
        let back = reconcile(&[seen("a", 1, 7), seen("b", 2, 7)], &before, &missed, |_| None);
        assert_eq!(ids(&back)[0], a, "it was missing, and is back");
    }

    #[test]
    fn a_second_name_of_a_file_takes_no_id() {
        let before = known(&[seen("b", 1, 7)]);
        let linked = reconcile(&[seen("a", 1, 7), seen("b", 1, 7)], &before, &HashSet::new(), |_| None);
        assert_eq!(linked.nodes[1].known.id, before[0].id);
        assert_eq!((linked.update.new.len(), linked.update.gone.len()), (1, 0));
    }

    #[test]
    fn a_circle_in_what_is_known_ends() {
        let mut before = known(&[Seen { folder: true, ..seen("a", 1, 7) }, Seen { folder: true, ..seen("b", 2, 7) }]);
        before[0].parent = before[1].id.clone();
        before[1].parent = before[0].id.clone();
        assert_eq!(reconcile(&[], &before, &HashSet::new(), |_| None).update.gone.len(), 2);
    }
}
