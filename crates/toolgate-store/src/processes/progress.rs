//! How far a process is, and what comes next: worked out from its rows alone, so that nothing can disagree with them.

use super::{Decision, Effect, Process, ProcessState, ProcessStep};
use crate::{
    Phase,
    error::Fault,
    statement::{FromRow, Row},
};

/// A process with everything that happened in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub process: Process,
    pub steps: Vec<ProcessStep>,
    /// In the order they started.
    pub tasks: Vec<RunTask>,
    pub decisions: Vec<Decision>,
}

/// A task as a part of its process's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTask {
    pub task_id: String,
    pub name: Option<String>,
    pub phase: Phase,
    /// The number of its step; absent in the last phase.
    pub step: Option<i64>,
    /// Absent while it runs.
    pub ended: Option<RunEnd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    pub success: bool,
    pub exit_code: Option<i64>,
    pub duration_ms: Option<i64>,
}

/// What is to run. Steps are named by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    PreStep(usize),
    Step(usize),
    PostStep(usize),
    Finalize,
}

/// Where a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing<'p> {
    /// Nothing runs, and this can start.
    Ready(Next),
    Running(Next, &'p RunTask),
    /// It ended like this.
    Done(ProcessState),
}

impl Next {
    pub fn phase(self) -> Phase {
        match self {
            Next::PreStep(_) => Phase::PreStep,
            Next::Step(_) => Phase::Step,
            Next::PostStep(_) => Phase::PostStep,
            Next::Finalize => Phase::Finalize,
        }
    }

    pub fn step(self) -> Option<usize> {
        match self {
            Next::PreStep(index) | Next::Step(index) | Next::PostStep(index) => Some(index),
            Next::Finalize => None,
        }
    }
}

impl Progress {
    pub fn standing(&self) -> Standing<'_> {
        let mut end = ProcessState::Completed;
        for (index, step) in self.steps.iter().enumerate() {
            match self.at(index, step) {
                AtStep::Waits(next) => return Standing::Ready(next),
                AtStep::Runs(next, task) => return Standing::Running(next, task),
                AtStep::Over => {}
                AtStep::Ends(state) => {
                    end = state;
                    break;
                }
            }
        }
        if !self.process.definition.orchestrator.enabled {
            return Standing::Done(end);
        }
        match self.last(Phase::Finalize, None) {
            None => Standing::Ready(Next::Finalize),
            Some(task) if task.ended.is_none() => Standing::Running(Next::Finalize, task),
            Some(_) => Standing::Done(end),
        }
    }

    fn at(&self, index: usize, step: &ProcessStep) -> AtStep<'_> {
        let watched = self.process.definition.orchestrator.enabled && !step.skip_orchestrator;
        let Some(task) = self.last(Phase::Step, Some(step.number)) else {
            return if watched { self.before(index, step) } else { AtStep::Waits(Next::Step(index)) };
        };
        let Some(ended) = task.ended else { return AtStep::Runs(Next::Step(index), task) };
        if watched {
            match self.last(Phase::PostStep, Some(step.number)) {
                None => return AtStep::Waits(Next::PostStep(index)),
                Some(task) if task.ended.is_none() => return AtStep::Runs(Next::PostStep(index), task),
                Some(_) => {}
            }
        }
        if ended.success { AtStep::Over } else { AtStep::Ends(ProcessState::Failed) }
    }

    /// Before a step has run: each injection before it is followed by another look.
    fn before(&self, index: usize, step: &ProcessStep) -> AtStep<'_> {
        match self.last(Phase::PreStep, Some(step.number)) {
            None => AtStep::Waits(Next::PreStep(index)),
            Some(task) => match task.ended {
                None => AtStep::Runs(Next::PreStep(index), task),
                Some(ended) => match self.effect(&task.task_id, ended.success) {
                    Effect::Abort => AtStep::Ends(ProcessState::Aborted),
                    Effect::Inject => AtStep::Waits(Next::PreStep(index)),
                    Effect::Proceed | Effect::None => AtStep::Waits(Next::Step(index)),
                },
            },
        }
    }

    /// What a task before a step leads to. Its word is advice: without one, or where it failed, the process goes on.
    pub(super) fn effect(&self, task_id: &str, success: bool) -> Effect {
        let last = self.last_decision(task_id).filter(|_| success);
        last.map_or(Effect::Proceed, |decision| decision.effect)
    }

    pub fn last_decision(&self, task_id: &str) -> Option<&Decision> {
        self.decisions.iter().rev().find(|decision| decision.task_id == task_id)
    }

    fn last(&self, phase: Phase, step: Option<i64>) -> Option<&RunTask> {
        self.tasks.iter().rev().find(|task| task.phase == phase && task.step == step)
    }

    /// The task that ran a step, once it has ended.
    pub fn completed(&self, step: &ProcessStep) -> Option<(&RunTask, RunEnd)> {
        let task = self.last(Phase::Step, Some(step.number))?;
        task.ended.map(|ended| (task, ended))
    }

    /// The index of the step that the process is at; past the last one when all are over.
    pub fn current_index(&self) -> usize {
        let over = |(index, step): (usize, &ProcessStep)| matches!(self.at(index, step), AtStep::Over);
        self.steps.iter().enumerate().take_while(|step| over(*step)).count()
    }

    pub fn index_of(&self, number: i64) -> Option<usize> {
        self.steps.iter().position(|step| step.number == number)
    }

    /// How often steps were injected before an original step: each task that did so counts once.
    pub fn injections(&self, original: i64) -> usize {
        let mut by: Vec<&str> = self
            .steps
            .iter()
            .filter_map(|step| step.injected.as_ref())
            .filter(|injected| injected.origin == original)
            .map(|injected| injected.by.as_str())
            .collect();
        by.sort_unstable();
        by.dedup();
        by.len()
    }
}

enum AtStep<'p> {
    Waits(Next),
    Runs(Next, &'p RunTask),
    Over,
    /// The process goes no further.
    Ends(ProcessState),
}

pub(super) const TASKS: &str = "SELECT task_id, name, phase, step, finished_at, success, exit_code, duration_ms
    FROM tasks WHERE process = $1 AND phase IS NOT NULL ORDER BY ordinal";

impl FromRow for RunTask {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (task_id, name, phase, step) = (row.text()?, row.maybe_text()?, Phase::from_cell(row)?, row.maybe_int()?);
        let (finished, success) = (row.maybe_int()?, row.maybe_int()?);
        let ended = RunEnd { success: success == Some(1), exit_code: row.maybe_int()?, duration_ms: row.maybe_int()? };
        Ok(RunTask { task_id, name, phase, step, ended: finished.map(|_| ended) })
    }
}
