//! The vault as it was last seen: every document and folder with its id. It never changes; a scan makes a new one.

use std::collections::HashMap;

use serde::Serialize;
use toolgate_store::VaultItem;

use super::{
    folder::{Spot, join},
    ids::ROOT,
    kinds::{self, Kind, Source},
    names,
};
use crate::times;

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: HashMap<String, Node>,
    /// By folder: ids in the order of names, then ids.
    children: HashMap<String, Vec<String>>,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) known: VaultItem,
    pub(super) path: String,
}

/// A document or folder as callers see it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) source: Source,
    pub(super) kind: Kind,
    pub(super) path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) modified_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size_bytes: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<&'static str>,
}

impl Node {
    pub(super) fn item(&self) -> Item {
        let VaultItem { id, name, folder, size, modified, .. } = &self.known;
        Item {
            id: id.clone(),
            name: name.clone(),
            source: Source::Vault,
            kind: kinds::kind(name, *folder),
            path: self.path.clone(),
            modified_at: Some(times::timestamp(*modified)),
            size_bytes: (!folder).then_some(*size),
            mime_type: if *folder { None } else { kinds::media_type(name) },
        }
    }
}

impl Tree {
    /// Of items that each come with their path.
    pub(super) fn new(nodes: impl IntoIterator<Item = Node>) -> Self {
        let mut tree = Self::default();
        for node in nodes {
            tree.children.entry(node.known.parent.clone()).or_default().push(node.known.id.clone());
            tree.nodes.insert(node.known.id.clone(), node);
        }
        let nodes = &tree.nodes;
        for children in tree.children.values_mut() {
            children.sort_by(|one, other| order(nodes, one).cmp(&order(nodes, other)));
        }
        tree
    }

    pub(super) fn get(&self, id: &str) -> Option<&Node> {
        self.nodes.get(id)
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.values()
    }

    /// What lies in a folder, in order.
    pub(super) fn children(&self, folder: &str) -> impl Iterator<Item = &Node> {
        self.children.get(folder).into_iter().flatten().filter_map(|id| self.nodes.get(id))
    }

    /// The path of a folder; `None` if there is none of this id.
    pub(super) fn folder_path(&self, id: &str) -> Option<&str> {
        if id == ROOT {
            return Some("");
        }
        self.nodes.get(id).filter(|node| node.known.folder).map(|node| node.path.as_str())
    }

    /// Where something lies, on disk.
    pub(super) fn spot(&self, folder: &str, name: &str) -> Option<Spot> {
        let path = self.folder_path(folder)?.to_owned();
        let inode = self.nodes.get(folder).map(|node| node.known.inode);
        Some(Spot { folder: path, inode, name: name.to_owned() })
    }

    /// What a folder has under a name that looks like this one.
    pub(super) fn named(&self, folder: &str, name: &str) -> Option<&Node> {
        let looks = names::looks(name);
        self.children(folder).find(|node| names::looks(&node.known.name) == looks)
    }

    /// Whether `folder` is `of` or lies somewhere in it.
    pub(super) fn is_within(&self, folder: &str, of: &str) -> bool {
        let mut at = folder;
        // bounded by the number of folders: a circle in the table ends too
        for _ in 0..=self.nodes.len() {
            if at == of {
                return true;
            }
            match self.nodes.get(at) {
                Some(node) => at = &node.known.parent,
                None => return false,
            }
        }
        false
    }

    /// The path something will have under this name in this folder.
    pub(super) fn path_of(&self, folder: &str, name: &str) -> String {
        join(self.folder_path(folder).unwrap_or_default(), name)
    }
}

fn order<'a>(nodes: &'a HashMap<String, Node>, id: &'a str) -> (&'a str, &'a str) {
    (nodes.get(id).map_or("", |node| node.known.name.as_str()), id)
}
