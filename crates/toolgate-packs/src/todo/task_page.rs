//! Pages of a list of tasks: all of it while it fits in one result, and else as much as fits, with how to get the rest.

use serde::Serialize;
use toolgate_spine::ToolAnswer;

use super::{failure::Failure, use_cases::Listed};

/// Room for everything around the tasks: the note, the members, the gate's own `_meta`.
const AROUND: u64 = 4 << 10;

#[derive(Serialize)]
struct TaskPage<'a> {
    tasks: &'a [Listed],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// The first of these tasks, newest first, at most `limit` of them and within a result of `most` bytes.
pub(super) fn answer(tasks: &[Listed], limit: Option<usize>, most: u64) -> Result<ToolAnswer, Failure> {
    let unwritten = |_| Failure::internal("list_tasks");
    let shown = fitting(tasks, limit.unwrap_or(usize::MAX), most).map_err(unwritten)?;
    let page = tasks.get(..shown).unwrap_or(tasks);
    let text = serde_json::to_string(page).map_err(unwritten)?;
    let last = page.last().filter(|_| shown < tasks.len());
    let Some(last) = last else {
        let whole = TaskPage { tasks: page, next_before: None, note: None };
        return ToolAnswer::structured_as(&whole, &text, false).map_err(unwritten);
    };
    let note = format!(
        "These are {shown} of {} tasks, newest first. For the next ones call list_tasks again with \"before\": {}.",
        tasks.len(),
        last.id
    );
    let part = TaskPage { tasks: page, next_before: Some(last.id), note: Some(&note) };
    ToolAnswer::structured_with_note(&part, &text, &note).map_err(unwritten)
}

/// How many tasks fit, at least one: each is in the result twice, as a value and within a text.
fn fitting(tasks: &[Listed], limit: usize, most: u64) -> Result<usize, serde_json::Error> {
    let mut bytes = AROUND;
    for (count, task) in tasks.iter().enumerate() {
        let value = serde_json::to_string(task)?;
        let within_text = serde_json::to_string(&value)?;
        bytes += (value.len() + within_text.len()) as u64;
        if count >= limit || (count > 0 && bytes > most) {
            return Ok(count);
        }
    }
    Ok(tasks.len())
}
