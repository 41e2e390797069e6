//! Results: what a task found out, for those that come after it.

use serde::Deserialize;
use serde_json::json;
use toolgate_spine::ToolAnswer;
use toolgate_store::{NewResult, TaskResult, Which};

use super::{Desk, Summarizer, answered, found_by};
use crate::{
    failure::{Failure, short},
    times::{iso, now},
};

const PREVIEW: usize = 200;

#[derive(Deserialize)]
pub(super) struct Write {
    result: String,
    key_files: Option<Vec<String>>,
    tags: Option<Vec<String>>,
}

pub(super) async fn write(desk: &Desk<'_>, summarizer: &Summarizer, given: Write) -> Result<ToolAnswer, Failure> {
    let task = desk.task()?;
    let unknown = || Failure::unknown_task(&task.id);
    let results = desk.results().await?.ok_or_else(unknown)?;
    let summary = summarizer.summary(&given.result).await;
    let preview: String = match &summary {
        Some(summary) => summary.chars().take(PREVIEW).collect(),
        None => "Compression skipped".to_owned(),
    };
    let new = NewResult {
        terms: found_by("", &given.result),
        text: given.result,
        summary,
        key_files: given.key_files.unwrap_or_default(),
        tags: given.tags.unwrap_or_default(),
        at: now(),
    };
    if !results.write(&task.id, &new).await.map_err(|fault| Failure::store(&fault))? {
        return Err(unknown());
    }
    let answer = answered(&json!({"status": "ok", "task_id": task.id, "summary_preview": preview}))?;
    Ok(answer.never_undone("A result is replaced by writing it again; what it replaced is not kept."))
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    task_name: Option<String>,
    task_id: Option<String>,
}

impl Wanted {
    /// The id wins over the name.
    fn which(&self) -> Result<Which<'_>, Failure> {
        match (self.task_id.as_deref(), self.task_name.as_deref()) {
            (Some(task_id), _) => Ok(Which::Task(task_id)),
            (None, Some(name)) => Ok(Which::Named(name)),
            (None, None) => Err(Failure::invalid("At least one of task_name or task_id must be provided.")),
        }
    }
}

fn named(which: Which<'_>) -> String {
    match which {
        Which::Task(name) | Which::Named(name) => short(name),
    }
}

async fn find(desk: &Desk<'_>, which: Which<'_>) -> Result<TaskResult, Failure> {
    let found = match desk.results().await? {
        Some(results) => results.find(which).await.map_err(|fault| Failure::store(&fault))?,
        None => None,
    };
    let missing = || format!("No result found for task '{}' in the current process.", named(which));
    found.ok_or_else(|| Failure::not_found(missing()))
}

pub(super) async fn load(desk: &Desk<'_>, wanted: Wanted) -> Result<ToolAnswer, Failure> {
    let found = find(desk, wanted.which()?).await?;
    answered(&json!({"result_text": found.text, "key_files": found.key_files, "tags": found.tags,
        "created_at": iso(found.created_at)}))
}

pub(super) async fn summary(desk: &Desk<'_>, wanted: Wanted) -> Result<ToolAnswer, Failure> {
    let which = wanted.which()?;
    let found = find(desk, which).await?;
    let Some(summary) = found.summary else {
        return Err(Failure::not_found(format!(
            "No summary available for task '{}'. The task may not have called write_result, or compression failed. \
             Use load_result to access the raw output.",
            named(which)
        )));
    };
    answered(&json!({"summary_text": summary, "key_files": found.key_files, "created_at": iso(found.created_at)}))
}
