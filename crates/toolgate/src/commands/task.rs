//! `task start|finish|show|commit`: the rows that task identity rests on, and a process's run.

use serde_json::{Value, json};
use toolgate_server::running::{FinishWish, RunProblem, TaskWish, finish_task, start_task, task_json};
use toolgate_store::{ProcessFault, StoreError};

use super::{
    books::{ended, line, store},
    print,
    process::absolute,
    when::{dated, dated_for_people},
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{FinishArgs, Output, StartTaskArgs, TaskCommand},
    ground::{self, Ground},
};

pub async fn run(command: TaskCommand) -> CommandResult {
    match command {
        TaskCommand::Start(asked) => start(*asked).await,
        TaskCommand::Finish(asked) => finish(*asked).await,
        TaskCommand::Show { id, place, output } => {
            let store = store(&place).await?;
            let found = store.tasks().record(&id).await?;
            store.close().await;
            let Some(record) = found else {
                print(
                    output,
                    &json!({"task_id": id, "found": false}),
                    &format!("no task has the id '{}'\n", line(&id)),
                )?;
                return Ok(Ending::No);
            };
            let value = task_json(&record);
            print(output, &dated(value.clone()), &fields(&dated_for_people(value)))?;
            Ok(Ending::Good)
        }
        TaskCommand::Commit { id, hash, place, output } => {
            let store = store(&place).await?;
            let noted = store.processes().add_commit(&id, &hash, ground::now()).await;
            store.close().await;
            match noted {
                Ok(()) => {
                    print(output, &json!({"task_id": id, "hash": hash}), &format!("{hash} is noted for {id}\n"))?;
                    Ok(Ending::Good)
                }
                Err(fault) => refused(output, fault.into()),
            }
        }
    }
}

async fn start(asked: StartTaskArgs) -> CommandResult {
    let StartTaskArgs { owner, process, name, parent, orchestrator, folder, setting, place, output } = asked;
    let wish = TaskWish {
        process,
        owner,
        name,
        parent,
        orchestrator,
        branch: folder.branch,
        worktree: absolute(folder.worktree)?,
        main_repo: absolute(folder.main_repo)?,
        engine: setting.engine,
        model: setting.model,
        session: setting.session,
        prompt: setting.prompt,
    };
    let store = Ground::of(&place)?.store().await?;
    let started = start_task(&store, wish, ground::now()).await;
    store.close().await;
    match started {
        Ok(shown) => {
            print(output, &shown, &fields(&shown))?;
            Ok(Ending::Good)
        }
        Err(problem) => refused(output, problem),
    }
}

async fn finish(asked: FinishArgs) -> CommandResult {
    let FinishArgs { id, place, output, .. } = &asked;
    let wish = FinishWish {
        success: asked.failed.then_some(false),
        exit_code: asked.exit_code,
        error_message: asked.error.clone(),
        duration_ms: asked.duration_ms,
        cost: asked.cost,
        input_tokens: asked.input_tokens,
        output_tokens: asked.output_tokens,
        session: asked.session.clone(),
        commits: asked.commits.clone(),
    };
    let store = store(place).await?;
    let finished = finish_task(&store, id, wish, ground::now()).await;
    store.close().await;
    match finished {
        Ok(shown) => {
            let next = shown.get("next").map(|next| format!("next: {}\n", said(next))).unwrap_or_default();
            print(*output, &shown, &format!("{id} is finished\n{next}"))?;
            Ok(Ending::Good)
        }
        Err(RunProblem::Fault(ProcessFault::UnknownTask { .. } | ProcessFault::Ended { .. })) => {
            let text = format!("no running task has the id '{}'\n", line(id));
            print(*output, &json!({"task_id": id, "finished": false}), &text)?;
            Ok(Ending::No)
        }
        Err(problem) => refused(*output, problem),
    }
}

/// A process that is busy, over or unknown answers no; what was asked wrongly is wrong use.
pub fn refused(output: Output, problem: RunProblem) -> CommandResult {
    match problem {
        RunProblem::Fault(ProcessFault::Store(
            fault @ (StoreError::Invalid { .. }
            | StoreError::UnknownParent { .. }
            | StoreError::EndedParent { .. }
            | StoreError::ExceedsParent { .. }),
        )) => Err(fault.into()),
        RunProblem::Fault(ProcessFault::Store(fault)) => ended(Err(fault.into())),
        RunProblem::Fault(fault @ ProcessFault::Definition(_)) => Err(fault.into()),
        RunProblem::Fault(fault) => {
            print(output, &json!({"error": fault.to_string()}), &format!("{}\n", line(&fault)))?;
            Ok(Ending::No)
        }
        RunProblem::Wrong(message) => Err(message.into()),
        RunProblem::Key(fault) => Err(fault.into()),
    }
}

/// A member on each line, the values below each other; what is absent is left out.
pub fn fields(value: &Value) -> String {
    let members: Vec<(&String, &Value)> =
        value.as_object().into_iter().flatten().filter(|(_, field)| !field.is_null()).collect();
    let width = members.iter().map(|(key, _)| key.chars().count() + 1).max().unwrap_or_default();
    let mut text = String::new();
    for (key, field) in members {
        let field = field.as_str().map_or_else(|| line(field), line);
        text.push_str(&format!("{:<width$} {field}\n", format!("{key}:")));
    }
    text
}

/// Where a process stands, in words.
pub fn said(next: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let member = |name: &str| next.get(name).map(text).unwrap_or_default();
    let what = match next.get("step_index").and_then(Value::as_u64) {
        Some(index) => format!("{} of step {index} ({})", member("phase"), member("step")),
        None => member("phase"),
    };
    match member("standing").as_str() {
        "ready" => what,
        "running" => format!("{what}, which task {} runs", member("task_id")),
        _ => format!("nothing; the process is {}", member("state")),
    }
}

pub fn no_process(output: Output, id: &str) -> Result<Ending, Misuse> {
    let text = format!("no process has the id '{}'; see them all: toolgate process list\n", line(id));
    print(output, &json!({"process_id": id, "found": false}), &text)?;
    Ok(Ending::No)
}
