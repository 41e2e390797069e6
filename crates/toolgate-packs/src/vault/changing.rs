//! What changes the vault: move, rename, copy. Each is planned first; a dry run shows the plan and stops there.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    failure::Failure,
    folder::Spot,
    ids::ROOT,
    live::{Live, Turn},
    names,
    reading::Answer,
    tree::{Node, Tree},
    undoing::{Place, Undo},
};

/// What was done, and how it is taken back. A change that changed nothing has nothing to take back.
pub(super) struct Done {
    pub(super) content: Value,
    pub(super) undo: Option<Undo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Move {
    id: String,
    to_folder_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rename {
    id: String,
    new_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Copy {
    pub(super) id: String,
    pub(super) to_folder_id: Option<String>,
    pub(super) new_name: Option<String>,
    /// The content it must have; only what is copied again has one.
    #[serde(skip)]
    pub(super) digest: Option<String>,
}

/// A change that is allowed to be made, as far as the vault is known.
pub(super) struct Plan<'a> {
    node: &'a Node,
    from: Place,
    to: Place,
    /// What is in the way.
    conflicts: Vec<String>,
}

impl<'a> Plan<'a> {
    fn new(tree: &'a Tree, node: &'a Node, to: Place, stays: bool) -> Self {
        let from = Place { folder: node.known.parent.clone(), name: node.known.name.clone() };
        // what moves is not in its own way
        let in_the_way = tree.named(&to.folder, &to.name).filter(|other| stays || other.known.id != node.known.id);
        let conflict = |other: &Node| format!("'{}' is there already ({}).", other.path, other.known.id);
        let conflicts = in_the_way.map(conflict).into_iter().collect();
        Self { node, from, to, conflicts }
    }

    pub(super) fn moving(tree: &'a Tree, asked: &Move) -> Result<Self, Failure> {
        let node = found(tree, &asked.id)?;
        folder(tree, &asked.to_folder_id)?;
        if node.known.folder && tree.is_within(&asked.to_folder_id, &asked.id) {
            return Err(Failure::invalid("A folder can't be moved into itself or a folder within it."));
        }
        Ok(Self::new(tree, node, Place { folder: asked.to_folder_id.clone(), name: node.known.name.clone() }, false))
    }

    pub(super) fn renaming(tree: &'a Tree, asked: &Rename) -> Result<Self, Failure> {
        let node = found(tree, &asked.id)?;
        let name = names::checked(&asked.new_name)?;
        Ok(Self::new(tree, node, Place { folder: node.known.parent.clone(), name }, false))
    }

    pub(super) fn copying(tree: &'a Tree, asked: &Copy) -> Result<Self, Failure> {
        let node = found(tree, &asked.id)?;
        if node.known.folder {
            return Err(Failure::invalid("A folder can't be copied. Copy its documents one by one."));
        }
        let to = asked.to_folder_id.as_deref().unwrap_or(&node.known.parent);
        folder(tree, to)?;
        let name = match &asked.new_name {
            Some(name) => names::checked(name)?,
            None => node.known.name.clone(),
        };
        Ok(Self::new(tree, node, Place { folder: to.to_owned(), name }, true))
    }

    fn target(&self, tree: &Tree) -> Result<Spot, Failure> {
        tree.spot(&self.to.folder, &self.to.name).ok_or_else(|| Failure::no_folder(&self.to.folder))
    }

    fn changes_nothing(&self) -> bool {
        self.from == self.to
    }

    fn ready(&self) -> Result<(), Failure> {
        match self.conflicts.first() {
            Some(conflict) => Err(Failure::conflict(format!("{conflict} Choose another name or folder."))),
            None => Ok(()),
        }
    }

    /// The plan for people and programs, next to an answer that says nothing was done.
    pub(super) fn shown(&self, tree: &Tree, content: Value, no_change: bool) -> Answer {
        let place = |place: &Place| {
            let path = tree.path_of(&place.folder, &place.name);
            json!({"folderId": place.folder, "name": place.name, "path": path})
        };
        let conflicts: &[String] = if no_change { &[] } else { &self.conflicts };
        let path = |place: &Place| tree.path_of(&place.folder, &place.name);
        let note = match conflicts.first() {
            Some(conflict) => format!("Dry run: this can't be done as things are: {conflict}"),
            None if no_change => "Dry run: nothing would change.".to_owned(),
            None => format!("Dry run: '{}' would go to '{}'; nothing was done.", path(&self.from), path(&self.to)),
        };
        let details = json!({
            "id": self.node.known.id, "from": place(&self.from), "to": place(&self.to),
            "conflicts": conflicts, "changes": !no_change && conflicts.is_empty(),
        });
        Answer { content, meta: Some(("toolgate/preview", details)), note: Some(note) }
    }

    pub(super) fn shown_move(&self, tree: &Tree) -> Answer {
        self.shown(tree, json!({"moved": false, "dryRun": true}), self.changes_nothing())
    }

    pub(super) fn shown_rename(&self, tree: &Tree) -> Answer {
        let content = json!({"renamed": false, "dryRun": true, "previousName": self.from.name});
        self.shown(tree, content, self.changes_nothing())
    }

    pub(super) fn shown_copy(&self, tree: &Tree) -> Answer {
        self.shown(tree, json!({"copied": false, "dryRun": true}), false)
    }
}

pub(super) async fn move_to(vault: &Live, asked: Move) -> Result<Done, Failure> {
    let turn = vault.turn().await?;
    let undo = replace(&turn, &Plan::moving(&turn.tree, &asked)?).await?;
    Ok(Done { content: json!({"moved": undo.is_some(), "dryRun": false}), undo })
}

pub(super) async fn rename(vault: &Live, asked: Rename) -> Result<Done, Failure> {
    let turn = vault.turn().await?;
    let plan = Plan::renaming(&turn.tree, &asked)?;
    let undo = replace(&turn, &plan).await?;
    let content = json!({"renamed": undo.is_some(), "dryRun": false, "previousName": plan.from.name});
    Ok(Done { content, undo })
}

/// Puts an item in its new place, on disk and then in memory. Should the second fail, the next look finds it by its file.
async fn replace(turn: &Turn<'_>, plan: &Plan<'_>) -> Result<Option<Undo>, Failure> {
    if plan.changes_nothing() {
        return Ok(None);
    }
    plan.ready()?;
    place(turn, plan.node, &plan.to).await?;
    let id = plan.node.known.id.clone();
    Ok(Some(Undo::Place { id, at: plan.to.clone(), back: plan.from.clone() }))
}

async fn place(turn: &Turn<'_>, node: &Node, to: &Place) -> Result<(), Failure> {
    vacate(turn.vault, to).await?;
    relocate(turn, node, to).await
}

/// Puts an item in a place that was vacated.
pub(super) async fn relocate(turn: &Turn<'_>, node: &Node, to: &Place) -> Result<(), Failure> {
    let (vault, tree) = (turn.vault, &turn.tree);
    let spot = |place: &Place| tree.spot(&place.folder, &place.name).ok_or_else(|| Failure::no_folder(&place.folder));
    let from = Place { folder: node.known.parent.clone(), name: node.known.name.clone() };
    let (old, new, inode) = (spot(&from)?, spot(to)?, node.known.inode);
    vault.on_disk(move |folder| folder.rename(&old, &new, inode)).await?;
    if let Err(fault) = vault.memory.place(&node.known.id, &to.folder, &to.name).await {
        tracing::warn!(target: "toolgate::vault", %fault, "a move is on disk and not yet in the index");
    }
    Ok(())
}

/// A place that is free on disk may still be remembered as that of a document which has gone: what comes there is another.
pub(super) async fn vacate(vault: &Live, place: &Place) -> Result<(), Failure> {
    vault.memory.vacate(&place.folder, &place.name).await.map_err(|fault| Failure::index(&fault))
}

pub(super) async fn copy(vault: &Live, asked: Copy) -> Result<Done, Failure> {
    // a large document takes its time, and nobody waits for it: only giving the copy its name is a change
    let (from, to) = {
        let tree = Arc::clone(&vault.turn().await?.tree);
        let plan = Plan::copying(&tree, &asked)?;
        plan.ready()?;
        (plan.node.path.clone(), plan.target(&tree)?)
    };
    let staged = vault.on_disk(move |folder| folder.stage(&from, &to)).await?;
    let digest = staged.digest.clone();
    if asked.digest.as_ref().is_some_and(|expected| *expected != digest) {
        return Err(Failure::conflict("The document was changed since, so another copy would not be the same."));
    }

    let mut turn = vault.turn().await?;
    let tree = Arc::clone(&turn.tree);
    let plan = Plan::copying(&tree, &asked)?;
    plan.ready()?;
    let to = plan.target(&tree)?;
    vacate(vault, &plan.to).await?;
    vault.on_disk(move |folder| folder.publish(&staged, &to)).await?;
    // the copy is there from here on: whatever else fails, it was made and can be taken back
    let id = match turn.look().await {
        Ok(after) => after.named(&plan.to.folder, &plan.to.name).map(|copy| copy.known.id.clone()),
        Err(_) => None,
    };
    let mut content = json!({"copied": true, "dryRun": false});
    if let (Some(id), Some(content)) = (&id, content.as_object_mut()) {
        content.insert("newId".to_owned(), json!(id));
    }
    Ok(Done { content, undo: Some(Undo::Copy { of: asked.id, id, at: plan.to.clone(), digest }) })
}

fn found<'a>(tree: &'a Tree, id: &str) -> Result<&'a Node, Failure> {
    if id == ROOT {
        return Err(Failure::invalid("The vault's own folder stays where it is."));
    }
    tree.get(id).ok_or_else(|| Failure::no_item(id))
}

fn folder(tree: &Tree, id: &str) -> Result<(), Failure> {
    match (tree.folder_path(id), tree.get(id)) {
        (Some(_), _) => Ok(()),
        (None, Some(node)) => Err(Failure::invalid(format!("'{}' is a document, not a folder.", node.path))),
        (None, None) => Err(Failure::no_folder(id)),
    }
}
