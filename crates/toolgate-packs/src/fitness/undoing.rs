//! Taking back what a change did, if things are still as that change left them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolgate_store::{
    StoreError,
    fitness::{Record, RecordKind},
};

use super::athlete::{Athlete, FILES};
use crate::times;

/// What takes a change back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "undo", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Undo {
    /// Activities came, and with them perhaps the connection.
    Imported { import: String, connected_at: Option<i64> },
    /// The connection was made again.
    Connected { connected_at: i64 },
    /// The connection ended.
    Disconnected { connected_at: i64 },
    /// A goal or recipe was kept.
    Added { kind: Kind, id: String },
    /// A goal or recipe went.
    Removed { kind: Kind, id: String, content: String, created_at: i64 },
    /// The configuration is of this revision since; before it was this.
    Configured { revision: i64, profile: Option<String>, parameters: Map<String, Value> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Goal,
    Recipe,
}

impl From<Kind> for RecordKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Goal => Self::Goal,
            Kind::Recipe => Self::Recipe,
        }
    }
}

/// Why something stays.
pub(super) enum Stays {
    /// The world moved on.
    Conflict(&'static str),
    Store(StoreError),
    /// The store failed after a part of it was done.
    HalfDone(StoreError),
}

impl From<StoreError> for Stays {
    fn from(fault: StoreError) -> Self {
        Self::Store(fault)
    }
}

/// The answer of the tool whose call is taken back, and what takes this back in turn.
pub(super) async fn undo(athlete: &Athlete, undo: Undo) -> Result<(Value, Option<Undo>), Stays> {
    let repository = &athlete.repository;
    match undo {
        Undo::Imported { import, connected_at } => {
            let removed = repository.forget_import(&import).await?;
            let connected = match connected_at {
                Some(_) => repository.connection(FILES).await.map_err(Stays::HalfDone)?,
                None => None,
            };
            let ends = connected.is_some_and(|connection| Some(connection.connected_at) == connected_at);
            if ends {
                repository.disconnect(FILES).await.map_err(Stays::HalfDone)?;
            }
            if removed == 0 && !ends {
                return Err(Stays::Conflict("What this import brought is gone already: nothing was changed."));
            }
            let status = if ends { "disconnected" } else { "connected" };
            let content = json!({
                "provider": FILES, "status": status, "imported": 0, "already_there": 0, "refused": [], "left_out": 0,
                "message": format!("Activities removed: {removed}."), "dryRun": false,
            });
            Ok((content, None))
        }
        Undo::Disconnected { connected_at } => {
            if !repository.connect(FILES, connected_at).await? {
                return Err(Stays::Conflict("It is connected already: nothing was changed."));
            }
            Ok((connection("connected", "Connected again."), Some(Undo::Connected { connected_at })))
        }
        Undo::Connected { connected_at } => {
            let connected = repository.connection(FILES).await?;
            if connected.is_none_or(|connection| connection.connected_at != connected_at) {
                return Err(Stays::Conflict("The connection is no longer that one: nothing was changed."));
            }
            repository.disconnect(FILES).await?;
            Ok((connection("disconnected", "Disconnected."), Some(Undo::Disconnected { connected_at })))
        }
        Undo::Added { kind, id } => {
            let Some(gone) = repository.remove_record(kind.into(), &id).await? else {
                return Err(Stays::Conflict("It is gone already: nothing was changed."));
            };
            let content = record(kind, &gone, "removed");
            let Record { id, content: text, created_at } = gone;
            Ok((content, Some(Undo::Removed { kind, id, content: text, created_at })))
        }
        Undo::Removed { kind, id, content, created_at } => {
            let back = Record { id, content, created_at };
            if !repository.add_record(kind.into(), &back).await? {
                return Err(Stays::Conflict("It is back already: nothing was changed."));
            }
            Ok((record(kind, &back, "restored"), Some(Undo::Added { kind, id: back.id })))
        }
        Undo::Configured { revision, profile, parameters } => configured(athlete, revision, profile, parameters).await,
    }
}

async fn configured(
    athlete: &Athlete,
    revision: i64,
    profile: Option<String>,
    parameters: Map<String, Value>,
) -> Result<(Value, Option<Undo>), Stays> {
    let moved_on = Stays::Conflict("The configuration was changed since: change it by hand if you still want to.");
    let Some(now) = athlete.repository.configuration().await?.filter(|now| now.revision == revision) else {
        return Err(moved_on);
    };
    let text = Value::Object(parameters.clone()).to_string();
    let Some(stored) = athlete.repository.configure(profile.as_deref(), &text, revision, times::now()).await? else {
        return Err(moved_on);
    };
    let content = json!({
        "profile": profile, "parameters": parameters, "message": "Configuration as it was before.", "dryRun": false,
    });
    let again = Undo::Configured {
        revision: stored.revision,
        profile: now.profile,
        parameters: serde_json::from_str(&now.parameters).unwrap_or_default(),
    };
    Ok((content, Some(again)))
}

fn connection(status: &str, message: &str) -> Value {
    json!({"provider": FILES, "status": status, "message": message, "dryRun": false})
}

/// As the tool that keeps, or the one that deletes, would answer.
fn record(kind: Kind, record: &Record, status: &str) -> Value {
    let content: Value = serde_json::from_str(&record.content).unwrap_or_default();
    match kind {
        Kind::Goal => json!({"goal_id": record.id, "goal": content, "status": status, "dryRun": false}),
        Kind::Recipe => json!({
            "recipe_id": record.id, "recipe": content, "nutrition_per_serving": null, "status": status,
            "message": format!("Recipe {status}."), "dryRun": false,
        }),
    }
}
