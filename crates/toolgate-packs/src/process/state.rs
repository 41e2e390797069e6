//! How far a process is: real steps only, those to come included, and every decision.

use serde_json::{Value, json};
use toolgate_core::caller::Task;
use toolgate_spine::ToolAnswer;
use toolgate_store::{Decision, ProcessFault, Progress, Store};

use crate::{
    failure::{Failure, short},
    times::iso,
    workspace::answered,
};

/// The process of a task, as it is now.
pub(super) async fn progress(store: &Store, task: &Task) -> Result<Progress, Failure> {
    let process = task.process.as_deref().unwrap_or_default();
    let found = store.processes().progress(process).await.map_err(|fault| failed(task, fault))?;
    found.ok_or_else(|| no_steps(task))
}

/// What an orchestrator of a label is told. A label is a name that tasks share, and there is nothing to decide about it.
fn no_steps(task: &Task) -> Failure {
    let what = match &task.process {
        Some(label) => format!("Process '{}' is a label that tasks share: it has no steps", short(label)),
        None => format!("Task '{}' belongs to no process", short(&task.id)),
    };
    Failure::conflict(format!("{what}, so that there is nothing to decide about. {START_A_PROCESS}"))
}

const START_A_PROCESS: &str = "The operator starts a process with 'toolgate process start FILE', and its tasks, the \
    orchestrator's too, with 'toolgate task start --process proc_…'.";

pub(super) async fn show(store: &Store, task: &Task) -> Result<ToolAnswer, Failure> {
    let process = task.process.as_deref().unwrap_or_default();
    match store.processes().progress(process).await.map_err(|fault| failed(task, fault))? {
        Some(progress) => shown(&progress),
        None => show_label(store, task).await,
    }
}

/// The tasks that share a label: those that have ended are its steps done, those that run the ones to come.
async fn show_label(store: &Store, task: &Task) -> Result<ToolAnswer, Failure> {
    let tasks = match &task.process {
        Some(label) => store.processes().labelled(label).await.map_err(|fault| Failure::store(&fault))?,
        None => Vec::new(),
    };
    let (mut completed, mut pending) = (Vec::new(), Vec::new());
    for (index, task) in tasks.iter().filter(|task| !task.is_orchestrator).enumerate() {
        let name = task.name.as_deref().unwrap_or(&task.task_id);
        match task.ended {
            Some(end) => completed.push(json!({"index": index, "task_name": name, "task_id": task.task_id,
                "success": end.success, "exit_code": end.exit_code, "duration_ms": end.duration_ms})),
            None => pending.push(json!({"index": index, "task_name": name})),
        }
    }
    let label = task.process.as_deref().unwrap_or(&task.id);
    answered(&json!({
        "process_id": label,
        "process_name": label,
        "state": "running",
        "current_index": completed.len(),
        "completed_steps": completed,
        "pending_steps": pending,
        "injections_left": 0,
        "orchestrator_decisions": [],
        "note": no_steps(task).error,
    }))
}

fn shown(progress: &Progress) -> Result<ToolAnswer, Failure> {
    let (mut completed, mut pending) = (Vec::new(), Vec::new());
    for (index, step) in progress.steps.iter().enumerate() {
        match progress.completed(step) {
            Some((task, end)) => completed
                .push(json!({"index": index, "task_name": step.task, "task_id": task.task_id,
                "success": end.success, "exit_code": end.exit_code, "duration_ms": end.duration_ms})),
            None => pending.push(json!({"index": index, "task_name": step.task})),
        }
    }
    let current = progress.current_index();
    let most = usize::try_from(progress.process.definition.orchestrator.max_injections).unwrap_or(usize::MAX);
    let left = |original: i64| most.saturating_sub(progress.injections(original));
    answered(&json!({
        "process_id": progress.process.id,
        "process_name": progress.process.definition.name,
        "state": progress.process.state.as_str(),
        "completed_steps": completed,
        "pending_steps": pending,
        "current_index": current,
        "injections_left": progress.steps.get(current).map_or(0, |step| left(step.original())),
        "orchestrator_decisions": progress.decisions.iter().map(decided).collect::<Vec<_>>(),
    }))
}

fn decided(decision: &Decision) -> Value {
    let mut shown = json!({"phase": decision.phase.as_str(), "step_index": decision.step_index,
        "decision": decision.decision.as_str(), "effect": decision.effect.as_str(), "reasoning": decision.reasoning,
        "task_id": decision.task_id, "created_at": iso(decision.created_at)});
    if let (false, Some(shown)) = (decision.injected_steps.is_empty(), shown.as_object_mut()) {
        shown.insert("injected_steps".to_owned(), json!(decision.injected_steps));
    }
    shown
}

pub(super) fn failed(task: &Task, fault: ProcessFault) -> Failure {
    match fault {
        ProcessFault::UnknownTask { id } => Failure::unknown_task(&id),
        ProcessFault::NoPart { .. } => no_steps(task),
        ProcessFault::Ended { id } => Failure::conflict(format!("Task '{id}' has ended.")),
        ProcessFault::Store(fault) => Failure::store(&fault),
        other => {
            tracing::warn!(target: "toolgate::process", task_id = task.id, %other, "a process could not be changed");
            Failure::conflict("The process changed at the same time. Look at its state and try again.")
        }
    }
}
