//! A process's run: what is next begins, what began ends, and an orchestrator decides in between.

use super::{
    Decision, DecisionKind, Effect, NewDecision, Next, ProcessFault, ProcessStep, Processes, Progress, Standing, TRIES,
    decision::ADD, fault::short,
};
use crate::{
    Change, NewTask, Phase, StoreError, TaskEnd, TaskRecord, TaskSetting, Tasks, backoff,
    engine::{Touched, Write},
    error::Fault,
    fresh,
    statement::{Statement, Value},
    tasks::start,
};

/// A task that takes what is next; what it is of the process, the process says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewRun {
    pub task_id: String,
    pub key_hash: [u8; 32],
    pub parent: Option<String>,
    /// What is absent comes from the process and its step.
    pub setting: TaskSetting,
    pub created_at: i64,
}

/// What a task took on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    pub next: Next,
    pub name: String,
    pub setting: TaskSetting,
    pub tools: Option<Vec<String>>,
}

/// What the end of a task meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedTask {
    /// What its decision led to, for a task before a step.
    pub effect: Option<Effect>,
    /// The process afterwards; absent for a task that is no part of a run.
    pub progress: Option<Progress>,
}

/// A decision that was taken down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    pub decision: Decision,
    /// What the same task had decided before, which counts no more.
    pub replaces: Option<DecisionKind>,
    /// Steps were injected here as often as they may be.
    pub capped: bool,
}

/// Taken first by every change.
const TURN: &str = "UPDATE processes SET turn = $3 WHERE id = $1 AND turn = $2 RETURNING id";
macro_rules! in_turn {
    ($process:literal, $turn:literal) => {
        concat!(" EXISTS (SELECT 1 FROM processes WHERE id = ", $process, " AND turn = ", $turn, ")")
    };
}
const BEGIN: &str = start!(" WHERE", in_turn!("$4", "$20"));
macro_rules! finish {
    ($guard:expr) => {
        concat!(
            "UPDATE tasks SET finished_at = $2, success = $3, exit_code = $4, error_message = $5, duration_ms = $6,
                cost_micros = $7, input_tokens = $8, output_tokens = $9, session = COALESCE($10, session)
            WHERE task_id = $1 AND finished_at IS NULL AND ",
            $guard,
            " RETURNING task_id"
        )
    };
}
const FINISH: &str = finish!("phase IS NULL");
const FINISH_IN_TURN: &str = finish!(in_turn!("$11", "$12"));
const SHIFT: &str =
    concat!("UPDATE process_steps SET place = place + $3 WHERE process = $1 AND place >= $2 AND", in_turn!("$1", "$4"));
const CLOSE: &str = "UPDATE processes SET state = $2, finished_at = $3 WHERE id = $1 AND turn = $4";

impl Processes {
    fn tasks(&self) -> Tasks {
        Tasks::new(self.engine.clone())
    }

    /// Starts a task for what is next. Of two at the same time one is told that the process is busy.
    pub async fn begin(&self, id: &str, run: NewRun) -> Result<Begun, ProcessFault> {
        const OPERATION: &str = "start a task of a process";
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let progress = self.known(id).await?;
            let next = match progress.standing() {
                Standing::Ready(next) => next,
                Standing::Done(state) => return Err(ProcessFault::Over { id: short(id), state }),
                Standing::Running(next, task) => {
                    let (task, phase) = (task.task_id.clone(), next.phase().as_str());
                    return Err(ProcessFault::Busy { id: short(id), task, phase });
                }
            };
            let is_orchestrator = next.phase() != Phase::Step;
            if let Some(parent) = &run.parent {
                self.tasks().check_parent(parent, is_orchestrator).await?;
            }
            let begun = progress.begun(next, run.setting.clone());
            let task = NewTask {
                task_id: run.task_id.clone(),
                key_hash: run.key_hash,
                owner: progress.process.owner.clone(),
                process: Some(progress.process.id.clone()),
                name: Some(begun.name.clone()),
                parent: run.parent.clone(),
                is_orchestrator,
                setting: begun.setting.clone(),
                created_at: run.created_at,
            };
            let number = next.step().and_then(|index| progress.steps.get(index)).map(|step| step.number);
            let ordinal = i64::try_from(progress.tasks.len()).unwrap_or(i64::MAX);
            let turn = Turn::of(&progress)?;
            let mut values = task.values(Some((next.phase(), number, ordinal)));
            values.push(Value::id(&turn.new));
            let write = turn.write().then(Statement::new(BEGIN, values));
            let write = write.announcing(Change::Task { task_id: run.task_id.clone() });
            if !self.engine.write::<Touched>(OPERATION, write).await?.is_empty() {
                return Ok(begun);
            }
        }
        Err(ProcessFault::Restless { id: short(id) })
    }

    /// Ends a task, and does what that means for its process. A task ends once.
    pub async fn end(&self, task_id: &str, end: &TaskEnd, at: i64) -> Result<EndedTask, ProcessFault> {
        const OPERATION: &str = "finish a task";
        let announced = Change::Task { task_id: task_id.to_owned() };
        let record = self.record(task_id).await?;
        let (Some(process), Some(_)) = (&record.task.process, record.phase) else {
            let write = Write::new(Statement::new(FINISH, ended_values(task_id, end, at))).announcing(announced);
            if self.engine.write::<Touched>(OPERATION, write).await?.is_empty() {
                return Err(ProcessFault::Ended { id: short(task_id) });
            }
            return Ok(EndedTask { effect: None, progress: None });
        };
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let progress = self.known(process).await?;
            let turn = Turn::of(&progress)?;
            let (after, effect) = progress.clone().ended(task_id, end)?;
            let mut values = ended_values(task_id, end, at);
            values.extend([Value::id(process), Value::id(&turn.new)]);
            let mut write = turn.write().then(Statement::new(FINISH_IN_TURN, values));
            let failed = |fault: Fault| fault.during(OPERATION);
            for statement in inserted(&progress, &after, &turn.new).map_err(failed)? {
                write = write.then(statement);
            }
            if let Standing::Done(state) = after.standing() {
                let values = [Value::id(process), Value::text(state.as_str()), Value::int(at), Value::id(&turn.new)];
                write = write.then(Statement::new(CLOSE, values));
            }
            let write = write.announcing(announced.clone());
            if self.engine.write_first::<Touched>(OPERATION, write).await?.is_some() {
                return Ok(EndedTask { effect, progress: Some(self.known(process).await?) });
            }
        }
        Err(ProcessFault::Restless { id: short(process) })
    }

    /// Takes down what the task of an orchestrator decides. The last decision of a task counts, when it ends.
    pub async fn decide(&self, task_id: &str, new: NewDecision) -> Result<Decided, ProcessFault> {
        const OPERATION: &str = "take down a decision";
        let record = self.record(task_id).await?;
        let (Some(process), Some(phase)) = (&record.task.process, record.phase) else {
            return Err(ProcessFault::NoPart { id: short(task_id) });
        };
        let failed = |fault: serde_json::Error| Fault::Other(fault.to_string()).during(OPERATION);
        let steps = (new.decision == DecisionKind::Inject).then(|| serde_json::to_string(&new.injected_steps));
        let steps = steps.transpose().map_err(failed)?;
        for attempt in 0..TRIES {
            if attempt > 0 {
                backoff::pause(attempt).await;
            }
            let progress = self.known(process).await?;
            let running = progress.tasks.iter().find(|task| task.task_id == task_id);
            if running.is_none_or(|task| task.ended.is_some()) {
                return Err(ProcessFault::Ended { id: short(task_id) });
            }
            let (effect, capped) = progress.led_to(phase, record.step, new.decision);
            let index = record.step.and_then(|number| progress.index_of(number)).unwrap_or(progress.steps.len());
            let turn = Turn::of(&progress)?;
            let values = [
                Value::id(process),
                Value::id(task_id),
                Value::text(phase.as_str()),
                Value::int(i64::try_from(index).unwrap_or(i64::MAX)),
                Value::text(new.decision.as_str()),
                Value::text(&new.reasoning),
                Value::maybe_text(steps.as_deref()),
                Value::text(effect.as_str()),
                Value::int(new.at),
                Value::id(&turn.new),
            ];
            let added =
                self.engine.write::<Decision>(OPERATION, turn.write().then(Statement::new(ADD, values))).await?;
            if let Some(decision) = added.into_iter().next() {
                let replaces = progress.last_decision(task_id).map(|before| before.decision);
                return Ok(Decided { decision, replaces, capped });
            }
        }
        Err(ProcessFault::Restless { id: short(process) })
    }

    async fn record(&self, task_id: &str) -> Result<TaskRecord, ProcessFault> {
        let found = self.tasks().record(task_id).await?;
        found.ok_or_else(|| ProcessFault::UnknownTask { id: short(task_id) })
    }
}

/// The turn that was seen, and the one that a change makes of it.
struct Turn {
    process: String,
    seen: String,
    new: String,
}

impl Turn {
    fn of(progress: &Progress) -> Result<Self, StoreError> {
        let new = fresh::id("").map_err(|fault| fault.during("change a process"))?;
        Ok(Self { process: progress.process.id.clone(), seen: progress.process.turn.clone(), new })
    }

    fn write(&self) -> Write {
        let values = [Value::id(&self.process), Value::id(&self.seen), Value::id(&self.new)];
        Write::new(Statement::new(TURN, values))
    }
}

/// What makes the stored steps those of `after`: all that is new there stands together.
fn inserted(before: &Progress, after: &Progress, turn: &str) -> Result<Vec<Statement>, Fault> {
    let is_new = |step: &ProcessStep| before.index_of(step.number).is_none();
    let new: Vec<(i64, &ProcessStep)> = (0..).zip(&after.steps).filter(|(_, step)| is_new(step)).collect();
    let Some((first, _)) = new.first() else { return Ok(Vec::new()) };
    let id = &after.process.id;
    let count = i64::try_from(new.len()).unwrap_or(i64::MAX);
    let values = [Value::id(id), Value::int(*first), Value::int(count), Value::id(turn)];
    let mut statements = vec![Statement::new(SHIFT, values)];
    for (place, step) in new {
        statements.push(step.stored(id, place, Some(turn))?);
    }
    Ok(statements)
}

fn ended_values(task_id: &str, end: &TaskEnd, at: i64) -> Vec<Value> {
    vec![
        Value::id(task_id),
        Value::int(at),
        Value::Bool(end.success),
        Value::Int(end.exit_code),
        Value::maybe_text(end.error_message.as_deref()),
        Value::Int(end.duration_ms),
        Value::Int(end.cost_micros),
        Value::Int(end.input_tokens),
        Value::Int(end.output_tokens),
        Value::maybe_text(end.session.as_deref()),
    ]
}
