//! `process start|show|list|next`: processes as a runner drives them.

mod definition;

use std::path::PathBuf;

use serde_json::Value;
use toolgate_server::running::{ProcessWish, next_json, process_json, progress_json, start_process};
use toolgate_store::{Process, ProcessState, Progress, Standing};

use super::{
    books::{ended, field, gathered, line, note_cut, store},
    print,
    table::table,
    task::{no_process, refused, said},
    when::{self, dated},
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::ProcessCommand,
    ground::{self, Ground},
};

pub async fn run(command: ProcessCommand) -> CommandResult {
    ended(match command {
        ProcessCommand::Start { file, owner, tenant, folder, place, output } => {
            let wish = ProcessWish {
                definition: Some(definition::read(&file)?),
                owner,
                tenant,
                branch: folder.branch,
                worktree: absolute(folder.worktree)?,
                main_repo: absolute(folder.main_repo)?,
            };
            let store = Ground::of(&place)?.store().await?;
            let started = start_process(&store, wish, ground::now()).await;
            store.close().await;
            match started {
                Ok(progress) => {
                    let id = &progress.process.id;
                    let text = format!("process_id: {id}\nnext: {}\n", said(&next_json(&progress)));
                    print(output, &dated(progress_json(&progress)), &text)?;
                    Ok(Ending::Good)
                }
                Err(problem) => refused(output, problem),
            }
        }
        ProcessCommand::Show { id, place, output } => {
            let store = store(&place).await?;
            let found = store.processes().progress(&id).await?;
            store.close().await;
            let Some(progress) = found else { return no_process(output, &id) };
            print(output, &dated(progress_json(&progress)), &text(&progress))?;
            Ok(Ending::Good)
        }
        ProcessCommand::Next { id, place, output } => {
            let store = store(&place).await?;
            let found = store.processes().progress(&id).await?;
            store.close().await;
            let Some(progress) = found else { return no_process(output, &id) };
            let next = next_json(&progress);
            print(output, &next, &format!("{}\n", said(&next)))?;
            Ok(if matches!(progress.standing(), Standing::Ready(_)) { Ending::Good } else { Ending::No })
        }
        ProcessCommand::List { state, limit, place, output } => {
            let store = store(&place).await?;
            let (found, more) = gathered(limit, async |paging| store.processes().list(state, &paging).await).await?;
            store.close().await;
            let cells = |process: &Process| {
                let at = when::second(process.created_at);
                [&process.id, process.state.as_str(), &at, &process.definition.name].map(str::to_owned)
            };
            let text = if found.is_empty() {
                "There are no such processes.\n".to_owned()
            } else {
                table(["PROCESS_ID", "STATE", "STARTED", "NAME"], found.iter().map(cells))
            };
            let listed: Vec<Value> = found.iter().map(process_json).map(dated).collect();
            print(output, &listed, &text)?;
            note_cut(more, limit);
            Ok(Ending::Good)
        }
    })
}

fn text(progress: &Progress) -> String {
    let process = &progress.process;
    let mut text = String::new();
    field(&mut text, "process", &process.id);
    field(&mut text, "name", &process.definition.name);
    field(&mut text, "state", process.state);
    for (name, value) in [("owner", &process.owner), ("tenant", &process.tenant), ("worktree", &process.worktree)] {
        if let Some(value) = value {
            field(&mut text, name, value);
        }
    }
    field(&mut text, "next", said(&next_json(progress)));
    text.push_str("steps:\n");
    let current = progress.current_index();
    for (index, step) in progress.steps.iter().enumerate() {
        let mark = if index == current { '>' } else { ' ' };
        let how = match progress.completed(step) {
            Some((task, end)) => format!("{} {}", if end.success { "done by" } else { "failed in" }, task.task_id),
            None if process.state == ProcessState::Running => "to come".to_owned(),
            None => "not run".to_owned(),
        };
        let injected = if step.injected.is_some() { ", injected" } else { "" };
        text.push_str(&format!("{mark} {index}  {}  {how}{injected}\n", line(&step.task)));
    }
    if !progress.decisions.is_empty() {
        text.push_str("decisions:\n");
    }
    for decision in &progress.decisions {
        text.push_str(&format!(
            "  {} at step {}: {} (led to: {})  {}\n",
            decision.phase,
            decision.step_index,
            decision.decision,
            decision.effect,
            line(&decision.reasoning)
        ));
    }
    text
}

/// A folder's path as it is from anywhere.
pub fn absolute(path: Option<PathBuf>) -> Result<Option<String>, Misuse> {
    let Some(path) = path else { return Ok(None) };
    if !path.is_dir() {
        return Err(format!("there is no folder '{}'", path.display()).into());
    }
    let path = std::path::absolute(&path).map_err(|fault| format!("'{}': {fault}", path.display()))?;
    path.into_os_string().into_string().map(Some).map_err(|_| "a path must be UTF-8".into())
}
