//! Connecting a source of activities, which for files is importing them; asking whether one is connected; letting go of it.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    athlete::{Athlete, FILES, provider},
    importing::{self, Import, Sent},
    undoing::Undo,
};
use crate::{failure::Failure, times};

#[derive(Deserialize)]
pub(super) struct Connect {
    provider: String,
    files: Option<Vec<Sent>>,
}

#[derive(Deserialize)]
pub(super) struct Disconnect {
    provider: String,
    #[serde(default)]
    delete_activities: bool,
}

#[derive(Deserialize)]
pub(super) struct Status {
    provider: Option<String>,
}

fn content(import: &Import, status: &str, message: String, dry: bool) -> Value {
    json!({
        "provider": FILES,
        "status": status,
        "imported": import.imported,
        "already_there": import.already_there,
        "refused": import.refused,
        "left_out": import.left_out,
        "message": message,
        "dryRun": dry,
    })
}

/// What connecting would bring.
pub(super) async fn shown(athlete: &Athlete, root: &std::path::Path, asked: Connect) -> Result<Value, Failure> {
    provider(Some(&asked.provider))?;
    let import = importing::import(athlete, root, asked.files, None).await?;
    let message = format!("{} would be imported.", activities(import.imported));
    Ok(content(&import, "preview", message, true))
}

pub(super) async fn connect(
    athlete: &Athlete,
    root: &std::path::Path,
    asked: Connect,
) -> Result<(Value, Option<Undo>), Failure> {
    provider(Some(&asked.provider))?;
    let at = times::now();
    let new = athlete.repository.connect(FILES, at).await.map_err(|fault| Failure::store(&fault))?;
    let id = super::ids::new("imp");
    let import = match importing::import(athlete, root, asked.files, Some(&id)).await {
        Ok(import) => import,
        Err(failure) => {
            // half an import without a receipt would be nobody's to take back
            if athlete.repository.forget_import(&id).await.is_ok() && new {
                let _ = athlete.repository.disconnect(FILES).await;
            }
            return Err(failure);
        }
    };
    let message = match (import.imported, import.already_there, import.refused.len()) {
        (0, 0, 0) => {
            "Connected. There are no files yet: send some as files, or ask your operator where to put them.".to_owned()
        }
        (imported, there, refused) => {
            format!("Connected. {} imported, {there} there already, {refused} files refused.", activities(imported))
        }
    };
    let undo = (new || import.imported > 0).then_some(Undo::Imported { import: id, connected_at: new.then_some(at) });
    Ok((content(&import, "connected", message, false), undo))
}

fn activities(number: usize) -> String {
    if number == 1 { "1 activity".to_owned() } else { format!("{number} activities") }
}

pub(super) async fn status(athlete: &Athlete, asked: &Status) -> Result<Value, Failure> {
    let name = provider(asked.provider.as_deref())?;
    let connection = athlete.repository.connection(name).await.map_err(|fault| Failure::store(&fault))?;
    let status = if connection.is_some() { "connected" } else { "disconnected" };
    let since = connection.as_ref().map(|connection| times::iso(connection.connected_at));
    let one = json!({"provider": name, "status": status, "connected": connection.is_some(), "connected_at": since});
    Ok(if asked.provider.is_some() { one } else { json!({"providers": {name: one}}) })
}

fn disconnected(message: &str, dry: bool) -> Value {
    let status = if dry { "preview" } else { "disconnected" };
    json!({"provider": FILES, "status": status, "message": message, "dryRun": dry})
}

pub(super) async fn shown_end(athlete: &Athlete, asked: &Disconnect) -> Result<Value, Failure> {
    athlete.connected(Some(&asked.provider)).await?;
    Ok(disconnected(
        match asked.delete_activities {
            true => "It would be disconnected, and its activities deleted for good.",
            false => "It would be disconnected. Its activities would be kept for when you connect again.",
        },
        true,
    ))
}

/// Without a way back where activities were deleted.
pub(super) async fn disconnect(athlete: &Athlete, asked: &Disconnect) -> Result<(Value, Option<Undo>), Failure> {
    let name = athlete.connected(Some(&asked.provider)).await?;
    let gone = athlete.repository.disconnect(name).await.map_err(|fault| Failure::store(&fault))?;
    if asked.delete_activities {
        let deleted = athlete.repository.forget_activities(name).await.map_err(|fault| Failure::store(&fault))?;
        return Ok((disconnected(&format!("Disconnected. {} deleted.", activities(deleted)), false), None));
    }
    let content = disconnected("Disconnected. Imported activities are kept for when you connect again.", false);
    Ok((content, gone.map(|gone| Undo::Disconnected { connected_at: gone.connected_at })))
}
