//! `/api/v1/processes` and `/api/v1/tasks`: what a runner does, for operators alone.

use http::{Method, StatusCode, header, request::Parts};
use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::{ProcessFault, ProcessState, StoreError};

use super::{
    Site,
    body::RequestBody,
    json::{Problem, first_page, members, page, paged, read, sent},
    route::{Answer, preflight, with_header},
};
use crate::now_millis as now;
use crate::running::{
    FinishWish, ProcessWish, RunProblem, TaskWish, finish_task, next_json, process_json, progress_json, start_process,
    start_task, task_json,
};

const PROCESSES: &str = "/api/v1/processes";
const TASKS: &str = "/api/v1/tasks";
/// A process of many steps with long prompts.
const BODY_BYTES: usize = 1 << 20;

/// Whether this path is one of ours.
pub(super) fn is_here(path: &str) -> bool {
    [PROCESSES, TASKS]
        .iter()
        .any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// What a request is for.
enum Room<'p> {
    Processes,
    Process(&'p str),
    Next(&'p str),
    Tasks,
    Task(&'p str),
    Finish(&'p str),
    Commits(&'p str),
}

impl<'p> Room<'p> {
    fn at(path: &'p str) -> Option<Self> {
        let of = |root: &str| path.strip_prefix(root).map(|rest| rest.strip_prefix('/').unwrap_or_default());
        let (is_process, rest) = match (of(PROCESSES), of(TASKS)) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return None,
        };
        let mut steps = rest.split('/');
        match (is_process, steps.next().filter(|id| !id.is_empty()), steps.next(), steps.next()) {
            (true, None, None, None) => Some(Self::Processes),
            (true, Some(id), None, None) => Some(Self::Process(id)),
            (true, Some(id), Some("next"), None) => Some(Self::Next(id)),
            (false, None, None, None) => Some(Self::Tasks),
            (false, Some(id), None, None) => Some(Self::Task(id)),
            (false, Some(id), Some("finish"), None) => Some(Self::Finish(id)),
            (false, Some(id), Some("commits"), None) => Some(Self::Commits(id)),
            _ => None,
        }
    }

    fn methods(&self) -> (&'static [Method], &'static str) {
        match self {
            Self::Processes => (&[Method::GET, Method::POST], "GET, POST"),
            Self::Process(_) | Self::Next(_) | Self::Task(_) => (&[Method::GET], "GET"),
            Self::Tasks | Self::Finish(_) | Self::Commits(_) => (&[Method::POST], "POST"),
        }
    }
}

fn unknown() -> Problem {
    let message = "there is no such process or task";
    Problem::new(StatusCode::NOT_FOUND, "unknown", message, "list the processes: GET /api/v1/processes")
}

impl From<RunProblem> for Problem {
    fn from(problem: RunProblem) -> Self {
        let fault = match problem {
            RunProblem::Wrong(message) => return Problem::wrong(message),
            RunProblem::Fault(fault) => fault,
            RunProblem::Key(fault) => {
                tracing::error!(%fault, "no key could be made");
                let message = "no key could be made for the task";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message, "try again");
            }
        };
        let message = fault.to_string();
        let conflict = |code, remedy| Self::new(StatusCode::CONFLICT, code, message.clone(), remedy);
        match fault {
            ProcessFault::Unknown { .. } | ProcessFault::UnknownTask { .. } => unknown(),
            ProcessFault::Definition(_) => Problem::wrong(message),
            ProcessFault::Over { .. } => conflict("over", "start another process"),
            ProcessFault::Busy { .. } => conflict("busy", "finish that task first"),
            ProcessFault::Ended { .. } => conflict("ended", "nothing is left to do"),
            ProcessFault::NoPart { .. } | ProcessFault::Restless { .. } => {
                conflict("conflict", "look at it and try again")
            }
            ProcessFault::Store(
                StoreError::Invalid { .. }
                | StoreError::UnknownParent { .. }
                | StoreError::EndedParent { .. }
                | StoreError::ExceedsParent { .. },
            ) => Problem::wrong(message),
            ProcessFault::Store(fault) => fault.into(),
        }
    }
}

impl From<ProcessFault> for Problem {
    fn from(fault: ProcessFault) -> Self {
        RunProblem::from(fault).into()
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NewCommit {
    hash: String,
}

impl Site {
    pub(super) async fn processes(&self, head: &Parts, body: RequestBody, browser: bool) -> Answer {
        let Some(room) = Room::at(head.uri.path()) else { return unknown().answer() };
        let (methods, allow) = room.methods();
        if head.method == Method::OPTIONS && browser {
            return with_header(preflight(head), header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST");
        }
        if !methods.contains(&head.method) {
            let message = format!("this address takes {allow}");
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use that method");
            return with_header(problem.answer(), header::ALLOW, allow);
        }
        if let Err(problem) = self.for_operators(head, "processes and tasks are for operators").await {
            return problem.answer();
        }
        let done = self.done(head, body, room).await;
        done.map_or_else(Problem::answer, |body| sent(StatusCode::OK, &body))
    }

    async fn done(&self, head: &Parts, body: RequestBody, room: Room<'_>) -> Result<Value, Problem> {
        let store = &self.store;
        match room {
            Room::Processes if head.method == Method::GET => self.listed(head.uri.query().unwrap_or_default()).await,
            Room::Processes => {
                let wish: ProcessWish = read(head, body, BODY_BYTES).await?;
                Ok(progress_json(&start_process(store, wish, now()).await?))
            }
            Room::Process(id) => {
                let found = store.processes().progress(id).await?;
                found.as_ref().map(progress_json).ok_or_else(unknown)
            }
            Room::Next(id) => {
                let found = store.processes().progress(id).await?;
                found.as_ref().map(next_json).ok_or_else(unknown)
            }
            Room::Tasks => {
                let wish: TaskWish = read(head, body, BODY_BYTES).await?;
                Ok(start_task(store, wish, now()).await?)
            }
            Room::Task(id) => {
                let found = store.tasks().record(id).await?;
                found.as_ref().map(task_json).ok_or_else(unknown)
            }
            Room::Finish(id) => {
                let wish: FinishWish = read(head, body, BODY_BYTES).await?;
                Ok(finish_task(store, id, wish, now()).await?)
            }
            Room::Commits(id) => {
                let NewCommit { hash } = read(head, body, BODY_BYTES).await?;
                store.processes().add_commit(id, &hash, now()).await?;
                Ok(json!({"task_id": id, "hash": hash}))
            }
        }
    }

    async fn listed(&self, query: &str) -> Result<Value, Problem> {
        let (mut state, mut paging) = (None, first_page());
        for (name, value) in members(query) {
            match name {
                "state" => {
                    let known = || ProcessState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(", ");
                    let wrong = || Problem::wrong(format!("state must be one of: {}", known()));
                    state = Some(ProcessState::parse(value).ok_or_else(wrong)?);
                }
                _ if paged(&mut paging, name, value)? => {}
                _ => return Err(Problem::wrong("a list takes state, limit and after")),
            }
        }
        Ok(page("processes", &self.store.processes().list(state, &paging).await?, process_json))
    }
}
