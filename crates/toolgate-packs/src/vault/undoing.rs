//! Taking back what a change did, if the vault is still as that change left it.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    changing::{self, Copy, Done},
    failure::Failure,
    live::{Live, Turn},
};

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// The folder's id, which outlives its own moves.
    pub(super) folder: String,
    pub(super) name: String,
}

/// What must be so, and what to restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "undo", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Undo {
    /// A document or folder that was moved or renamed, and is to go back.
    Place { id: String, at: Place, back: Place },
    /// A copy that was made, and is to go if its content is the same.
    Copy {
        of: String,
        /// Absent where it could not be learned: then it is known by its place and content.
        id: Option<String>,
        at: Place,
        digest: String,
    },
    /// A copy that went, and is to be made again if the document is the same.
    Again { of: String, at: Place, digest: String },
}

/// Why something can't be taken back.
pub(super) enum Stays {
    /// The world moved on.
    Conflict(String),
    /// It could not even be tried.
    Failure(Failure),
}

impl From<Failure> for Stays {
    fn from(failure: Failure) -> Self {
        // in the middle of an undo, whatever is in the way is the world's doing
        if failure.code == "CONFLICT" { Self::Conflict(failure.error) } else { Self::Failure(failure) }
    }
}

pub(super) async fn undo(vault: &Live, tool: &str, undo: Undo) -> Result<Done, Stays> {
    // a vault that can't even be looked at was not changed
    let turn = async || vault.turn().await.map_err(|failure| Stays::Conflict(failure.error));
    Ok(match undo {
        Undo::Place { id, at, back } => put_back(&turn().await?, id, at, back, tool == "vault.rename").await?,
        Undo::Copy { of, id, at, digest } => remove(&turn().await?, of, id.as_deref(), at, digest).await?,
        Undo::Again { of, at, digest } => again(vault, of, at, digest).await?,
    })
}

async fn put_back(turn: &Turn<'_>, id: String, at: Place, back: Place, renamed: bool) -> Result<Done, Failure> {
    let tree = &turn.tree;
    let Some(node) = tree.get(&id) else {
        return Err(Failure::conflict(format!("'{id}' is no longer in the vault, so it can't go back.")));
    };
    let now = Place { folder: node.known.parent.clone(), name: node.known.name.clone() };
    if now == back {
        return Err(Failure::conflict(format!("'{}' is back already: nothing was changed.", node.path)));
    }
    if now != at {
        return Err(Failure::conflict(format!(
            "It is at '{}' now, not where this change left it: move it by hand if you still want to.",
            node.path
        )));
    }
    if tree.folder_path(&back.folder).is_none() {
        return Err(Failure::conflict("The folder it came from is no longer there."));
    }
    if tree.is_within(&back.folder, &id) {
        return Err(Failure::conflict("The folder it came from lies within it now."));
    }
    if let Some(other) = tree.named(&back.folder, &back.name).filter(|other| other.known.id != id) {
        return Err(Failure::conflict(format!("'{}' has taken its old place.", other.path)));
    }
    // up to here nothing was changed, and that is certain
    changing::vacate(turn.vault, &back).await.map_err(|failure| Failure::conflict(failure.error))?;
    changing::relocate(turn, node, &back).await?;
    let content = if renamed {
        json!({"renamed": true, "dryRun": false, "previousName": at.name})
    } else {
        json!({"moved": true, "dryRun": false})
    };
    // to take back the taking back is to do it again
    Ok(Done { content, undo: Some(Undo::Place { id, at: back, back: at }) })
}

async fn remove(turn: &Turn<'_>, of: String, id: Option<&str>, at: Place, digest: String) -> Result<Done, Failure> {
    let tree = &turn.tree;
    let Some(node) = id.map_or_else(|| tree.named(&at.folder, &at.name), |id| tree.get(id)) else {
        return Err(Failure::conflict("The copy is gone already: nothing was changed."));
    };
    if node.known.parent != at.folder || node.known.name != at.name {
        return Err(Failure::conflict(format!("The copy is at '{}' now, so it is somebody's: it stays.", node.path)));
    }
    let spot = tree.spot(&at.folder, &at.name).ok_or_else(|| Failure::conflict("The copy's folder is gone."))?;
    let expected = digest.clone();
    if !turn.vault.on_disk(move |folder| folder.remove_unchanged(&spot, &expected)).await? {
        return Err(Failure::conflict(format!("'{}' was changed after it was copied: it stays.", node.path)));
    }
    Ok(Done { content: json!({"copied": false, "dryRun": false}), undo: Some(Undo::Again { of, at, digest }) })
}

async fn again(vault: &Live, of: String, at: Place, digest: String) -> Result<Done, Failure> {
    let asked = Copy { id: of, to_folder_id: Some(at.folder), new_name: Some(at.name), digest: Some(digest) };
    let moved_on = |failure: Failure| match failure.code {
        "INTERNAL" => failure,
        _ => Failure::conflict(failure.error),
    };
    changing::copy(vault, asked).await.map_err(moved_on)
}
