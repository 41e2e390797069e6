//! Artifacts: documents that a task hands on.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::ToolAnswer;
use toolgate_store::{Artifact, ArtifactFormat, NewArtifact};

use super::{Desk, answered, found_by};
use crate::{
    failure::{Failure, short},
    times::{iso, now},
};

#[derive(Deserialize)]
pub(super) struct Write {
    title: String,
    content: String,
    format: String,
    template_name: Option<String>,
    tags: Option<Vec<String>>,
}

pub(super) async fn write(desk: &Desk<'_>, given: Write) -> Result<ToolAnswer, Failure> {
    let task = desk.task()?;
    let unknown = || Failure::unknown_task(&task.id);
    let format = ArtifactFormat::parse(&given.format).ok_or_else(|| no_format(&given.format))?;
    let artifacts = desk.artifacts().await?.ok_or_else(unknown)?;
    let new = NewArtifact {
        terms: found_by(&given.title, &given.content),
        title: given.title,
        content: given.content,
        format,
        template_name: given.template_name,
        tags: given.tags.unwrap_or_default(),
        at: now(),
    };
    let id = artifacts.write(&task.id, &new).await.map_err(|fault| Failure::store(&fault))?.ok_or_else(unknown)?;
    let answer = answered(&json!({"status": "ok", "artifact_id": id, "title": new.title}))?;
    Ok(answer.never_undone("Artifacts are kept: write another one that says what is true now."))
}

pub(super) fn no_format(format: &str) -> Failure {
    let known: Vec<&str> = ArtifactFormat::ALL.iter().map(|format| format.as_str()).collect();
    Failure::invalid(format!("Invalid format '{}'. Must be one of: {}", short(format), known.join(", ")))
}

#[derive(Deserialize)]
pub(super) struct Load {
    artifact_id: String,
}

pub(super) async fn load(desk: &Desk<'_>, Load { artifact_id }: Load) -> Result<ToolAnswer, Failure> {
    let found = match desk.artifacts().await? {
        Some(artifacts) => artifacts.find(&artifact_id).await.map_err(|fault| Failure::store(&fault))?,
        None => None,
    };
    let missing = || Failure::not_found(format!("Artifact '{}' not found.", short(&artifact_id)));
    let artifact = found.ok_or_else(missing)?;
    let mut shown = shown(&artifact);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("content".to_owned(), artifact.content.into());
    }
    answered(&shown)
}

#[derive(Deserialize)]
pub(super) struct List {
    task_id: Option<String>,
}

pub(super) async fn list(desk: &Desk<'_>, List { task_id }: List) -> Result<ToolAnswer, Failure> {
    let found = match desk.artifacts().await? {
        Some(artifacts) => artifacts.list(task_id.as_deref()).await.map_err(|fault| Failure::store(&fault))?,
        None => Vec::new(),
    };
    answered(&json!({"artifacts": found.iter().map(shown).collect::<Vec<_>>()}))
}

/// All but the content.
fn shown(artifact: &Artifact) -> Value {
    json!({"id": artifact.id, "task_id": artifact.task_id, "title": artifact.title, "format": artifact.format.as_str(),
        "template_name": artifact.template_name, "tags": artifact.tags, "created_at": iso(artifact.created_at)})
}
