//! What a runner asks for, by the command or over HTTP: start a process or a task, finish one, and see how it stands.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::{
    Begun, Decision, EndedTask, NewProcess, NewRun, NewTask, Next, Process, ProcessDefinition, ProcessFault, Progress,
    Standing, Store, StoreError, TaskEnd, TaskRecord, TaskSetting,
};

use crate::{
    identity::{IdentityError, TaskKey},
    team::with,
};

/// A process to start.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessWish {
    pub definition: Option<ProcessDefinition>,
    pub owner: Option<String>,
    pub tenant: Option<String>,
    pub branch: Option<String>,
    /// The absolute path of the folder its tasks work in.
    pub worktree: Option<String>,
    pub main_repo: Option<String>,
}

/// A task to start: what is next in a process, or one by itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskWish {
    pub process: Option<String>,
    pub owner: Option<String>,
    pub name: Option<String>,
    pub parent: Option<String>,
    pub orchestrator: bool,
    pub branch: Option<String>,
    pub worktree: Option<String>,
    pub main_repo: Option<String>,
    pub engine: Option<String>,
    pub model: Option<String>,
    pub session: Option<String>,
    pub prompt: Option<String>,
}

/// How a task ended.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FinishWish {
    /// Absent: whether its exit code is 0.
    pub success: Option<bool>,
    pub exit_code: Option<i64>,
    pub error_message: Option<String>,
    pub duration_ms: Option<u32>,
    pub cost: Option<f64>,
    pub input_tokens: Option<u32>,
    pub output_tokens: Option<u32>,
    pub session: Option<String>,
    /// Commits it made, in their order.
    pub commits: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RunProblem {
    /// Something is wrong with what was asked for.
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Fault(#[from] ProcessFault),
    #[error(transparent)]
    Key(#[from] IdentityError),
}

impl From<StoreError> for RunProblem {
    fn from(fault: StoreError) -> Self {
        RunProblem::Fault(fault.into())
    }
}

fn wrong(message: impl Into<String>) -> RunProblem {
    RunProblem::Wrong(message.into())
}

pub async fn start_process(store: &Store, wish: ProcessWish, now: i64) -> Result<Progress, RunProblem> {
    let definition = wish.definition.ok_or_else(|| wrong("definition: it is missing; say what the process is"))?;
    absolute("worktree", wish.worktree.as_deref())?;
    absolute("main_repo", wish.main_repo.as_deref())?;
    let new = NewProcess {
        definition,
        owner: wish.owner,
        tenant: wish.tenant,
        branch: wish.branch,
        worktree: wish.worktree,
        main_repo: wish.main_repo,
        created_at: now,
    };
    let id = store.processes().start(new).await?.id;
    let missing = || ProcessFault::Unknown { id: id.clone() };
    Ok(store.processes().progress(&id).await?.ok_or_else(missing)?)
}

/// The new task with its key, which is shown this once.
pub async fn start_task(store: &Store, wish: TaskWish, now: i64) -> Result<Value, RunProblem> {
    absolute("worktree", wish.worktree.as_deref())?;
    absolute("main_repo", wish.main_repo.as_deref())?;
    let (task_id, key) = TaskKey::generate()?;
    let setting = TaskSetting {
        branch: wish.branch,
        worktree: wish.worktree,
        main_repo: wish.main_repo,
        engine: wish.engine,
        model: wish.model,
        session: wish.session,
        prompt: wish.prompt,
    };
    let mut shown = json!({"task_id": task_id, "task_key": key.expose()});
    if let Some(process) = run_of(store, wish.process.as_deref()).await? {
        if wish.orchestrator || wish.name.is_some() || wish.owner.is_some() {
            return Err(wrong(format!(
                "what a task of process '{process}' is called, whose it is and whether it orchestrates, the process says; \
                 leave out name, owner and orchestrator"
            )));
        }
        let run = NewRun { task_id, key_hash: key.hash(), parent: wish.parent, setting, created_at: now };
        let begun = store.processes().begin(&process, run).await?;
        if let (Some(shown), Value::Object(more)) = (shown.as_object_mut(), begun_json(&process, &begun)) {
            shown.extend(more);
        }
        return Ok(shown);
    }
    if wish.orchestrator
        && let Some(shown) = shown.as_object_mut()
    {
        shown.insert("note".to_owned(), NO_STEPS.into());
    }
    let new = NewTask {
        task_id,
        key_hash: key.hash(),
        owner: wish.owner,
        process: wish.process,
        name: wish.name,
        parent: wish.parent,
        is_orchestrator: wish.orchestrator,
        setting,
        created_at: now,
    };
    store.tasks().start(new).await?;
    Ok(shown)
}

/// Told to whoever starts an orchestrator of no process.
const NO_STEPS: &str = "this orchestrator has no steps to decide about; start a process with 'toolgate process start FILE', \
    then its tasks, the orchestrator's too, with 'toolgate task start --process proc_…'";

/// The process, if the store runs one of this name; any other name is a label that tasks share.
async fn run_of(store: &Store, process: Option<&str>) -> Result<Option<String>, RunProblem> {
    let Some(id) = process else { return Ok(None) };
    match store.processes().find(id).await? {
        Some(process) => Ok(Some(process.id)),
        None if id.starts_with("proc_") => Err(ProcessFault::Unknown { id: id.chars().take(100).collect() }.into()),
        None if !is_label(id) => Err(wrong("process: give a name of 0-9A-Za-z._:- that does not begin with a dot")),
        None => Ok(None),
    }
}

/// A name that tasks share, and nothing that a path or a terminal could take for something else.
fn is_label(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    !name.starts_with('.') && name.bytes().all(plain)
}

pub async fn finish_task(store: &Store, id: &str, wish: FinishWish, now: i64) -> Result<Value, RunProblem> {
    let cost_micros = match wish.cost {
        None => None,
        Some(cost) => Some(micros(cost).ok_or_else(|| wrong("cost: give a number from 0 to a million"))?),
    };
    let end = TaskEnd {
        success: wish.success.unwrap_or_else(|| wish.exit_code.unwrap_or(0) == 0),
        exit_code: wish.exit_code,
        error_message: wish.error_message,
        duration_ms: wish.duration_ms.map(i64::from),
        cost_micros,
        input_tokens: wish.input_tokens.map(i64::from),
        output_tokens: wish.output_tokens.map(i64::from),
        session: wish.session,
    };
    for hash in &wish.commits {
        store.processes().add_commit(id, hash, now).await?;
    }
    let EndedTask { effect, progress } = store.processes().end(id, &end, now).await?;
    let mut shown = json!({"task_id": id, "finished": true, "success": end.success});
    if let Some(shown) = shown.as_object_mut() {
        shown.extend(effect.map(|effect| ("effect".to_owned(), effect.as_str().into())));
        shown.extend(progress.map(|progress| ("next".to_owned(), next_json(&progress))));
    }
    Ok(shown)
}

fn micros(cost: f64) -> Option<i64> {
    // exact in a double, and so in the text it becomes
    let is_fit = (0.0..=1_000_000.0).contains(&cost);
    is_fit.then(|| format!("{:.0}", cost * 1_000_000.0).parse().ok()).flatten()
}

/// A runner may be anywhere: a path that depends on where it stands means nothing here.
fn absolute(field: &str, path: Option<&str>) -> Result<(), RunProblem> {
    match path {
        Some(path) if !path.starts_with('/') => Err(wrong(format!("{field}: '{path}' is not an absolute path"))),
        _ => Ok(()),
    }
}

fn begun_json(process: &str, begun: &Begun) -> Value {
    let Begun { next, name, setting, tools } = begun;
    json!({"process": process, "phase": next.phase().as_str(), "step_index": next.step(), "name": name,
        "prompt": setting.prompt, "engine": setting.engine, "model": setting.model, "tools": tools,
        "branch": setting.branch, "worktree": setting.worktree, "main_repo": setting.main_repo})
}

/// What can start, what runs, or how it ended.
pub fn next_json(progress: &Progress) -> Value {
    let of = |standing: &str, next: Next| {
        let step = next.step().and_then(|index| progress.steps.get(index)).map(|step| step.task.as_str());
        json!({"standing": standing, "phase": next.phase().as_str(), "step_index": next.step(), "step": step})
    };
    match progress.standing() {
        Standing::Ready(next) => of("ready", next),
        Standing::Running(next, task) => with(of("running", next), "task_id", task.task_id.as_str().into()),
        Standing::Done(state) => json!({"standing": "done", "state": state.as_str()}),
    }
}

pub fn process_json(process: &Process) -> Value {
    json!({"process_id": process.id, "name": process.definition.name, "description": process.definition.description,
        "owner": process.owner, "tenant": process.tenant, "branch": process.branch, "worktree": process.worktree,
        "main_repo": process.main_repo, "orchestrator": process.definition.orchestrator.enabled,
        "max_injections": process.definition.orchestrator.max_injections, "state": process.state.as_str(),
        "created_at": process.created_at, "finished_at": process.finished_at})
}

/// A process with its steps, tasks and decisions.
pub fn progress_json(progress: &Progress) -> Value {
    let steps = progress.steps.iter().enumerate().map(|(index, step)| {
        let done = progress.completed(step);
        json!({"index": index, "task": step.task, "injected": step.injected.is_some(),
            "origin_index": step.injected.as_ref().and_then(|injected| progress.index_of(injected.origin)),
            "task_id": done.map(|(task, _)| &task.task_id), "success": done.map(|(_, end)| end.success)})
    });
    let tasks = progress.tasks.iter().map(|task| {
        json!({"task_id": task.task_id, "name": task.name, "phase": task.phase.as_str(),
            "step_index": task.step.and_then(|number| progress.index_of(number)),
            "success": task.ended.map(|end| end.success)})
    });
    let mut shown = process_json(&progress.process);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("current_index".to_owned(), progress.current_index().into());
        shown.insert("steps".to_owned(), steps.collect());
        shown.insert("tasks".to_owned(), tasks.collect());
        shown.insert("decisions".to_owned(), progress.decisions.iter().map(decision_json).collect());
        shown.insert("next".to_owned(), next_json(progress));
    }
    shown
}

fn decision_json(decision: &Decision) -> Value {
    json!({"decision_id": decision.number, "task_id": decision.task_id, "phase": decision.phase.as_str(),
        "step_index": decision.step_index, "decision": decision.decision.as_str(), "effect": decision.effect.as_str(),
        "reasoning": decision.reasoning, "injected_steps": decision.injected_steps, "created_at": decision.created_at})
}

pub fn task_json(record: &TaskRecord) -> Value {
    let TaskRecord { task, setting, prompt_hash, phase, end, .. } = record;
    let end = end.as_ref();
    let cost = end.and_then(|end| end.cost_micros).and_then(|micros| i32::try_from(micros).ok()).map(f64::from);
    json!({"task_id": task.task_id, "owner": task.owner, "process": task.process, "name": task.name,
        "parent": task.parent, "is_orchestrator": task.is_orchestrator, "phase": phase.map(|phase| phase.as_str()),
        "branch": setting.branch, "worktree": setting.worktree, "main_repo": setting.main_repo,
        "engine": setting.engine, "model": setting.model, "session": setting.session, "prompt": setting.prompt,
        "prompt_hash": prompt_hash, "created_at": task.created_at, "finished_at": task.finished_at, "live": task.live,
        "success": end.map(|end| end.success), "exit_code": end.and_then(|end| end.exit_code),
        "error_message": end.and_then(|end| end.error_message.as_deref()),
        "duration_ms": end.and_then(|end| end.duration_ms), "cost": cost.map(|micros| micros / 1_000_000.0),
        "input_tokens": end.and_then(|end| end.input_tokens), "output_tokens": end.and_then(|end| end.output_tokens)})
}
