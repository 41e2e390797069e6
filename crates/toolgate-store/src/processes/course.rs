//! The course of a process: what beginning, deciding and ending make of it, without touching the store.

use super::{
    Begun, DecisionKind, Effect, Injected, InjectedStep, Next, ProcessFault, ProcessStep, Progress, RunEnd,
    StepDefinition, fault::short,
};
use crate::{Phase, TaskEnd, TaskSetting};

impl Progress {
    pub(super) fn begun(&self, next: Next, given: TaskSetting) -> Begun {
        let orchestrator = &self.process.definition.orchestrator;
        let watching = |name: &str, prompt: &Option<String>| {
            let setting = TaskSetting {
                prompt: prompt.clone(),
                engine: orchestrator.engine.clone(),
                model: orchestrator.model.clone(),
                ..self.process.setting()
            };
            (name.to_owned(), setting, None)
        };
        let step = match next {
            Next::Step(index) => self.steps.get(index),
            _ => None,
        };
        let (name, setting, tools) = match (next, step) {
            (Next::PreStep(_), _) => watching("orchestrator-pre", &orchestrator.pre_step),
            (Next::PostStep(_), _) => watching("orchestrator-post", &orchestrator.post_step),
            (Next::Step(_), Some(step)) => {
                let setting = TaskSetting {
                    prompt: step.prompt.clone(),
                    engine: step.engine.clone(),
                    model: step.model.clone(),
                    ..self.process.setting()
                };
                (step.task.clone(), setting, step.tools.clone())
            }
            (Next::Finalize | Next::Step(_), _) => watching("orchestrator-finalize", &orchestrator.finalize),
        };
        let setting = TaskSetting {
            branch: given.branch.or(setting.branch),
            worktree: given.worktree.or(setting.worktree),
            main_repo: given.main_repo.or(setting.main_repo),
            engine: given.engine.or(setting.engine),
            model: given.model.or(setting.model),
            session: given.session,
            prompt: given.prompt.or(setting.prompt),
        };
        Begun { next, name, setting, tools }
    }

    /// What a decision of a task in this phase leads to, and whether only because no more may be injected.
    pub(super) fn led_to(&self, phase: Phase, step: Option<i64>, decision: DecisionKind) -> (Effect, bool) {
        let step = step.and_then(|number| self.steps.iter().find(|step| step.number == number));
        match (phase, decision, step) {
            (Phase::PreStep, DecisionKind::Inject, Some(step)) => {
                let most = usize::try_from(self.process.definition.orchestrator.max_injections).unwrap_or(usize::MAX);
                let capped = self.injections(step.original()) >= most;
                (if capped { Effect::Proceed } else { Effect::Inject }, capped)
            }
            (Phase::PreStep, DecisionKind::Abort, _) => (Effect::Abort, false),
            (Phase::PreStep, _, _) => (Effect::Proceed, false),
            _ => (Effect::None, false),
        }
    }

    /// The process as it is once a task has ended, and what that task's decision led to.
    pub(super) fn ended(mut self, task_id: &str, end: &TaskEnd) -> Result<(Self, Option<Effect>), ProcessFault> {
        let task = self.tasks.iter_mut().find(|task| task.task_id == task_id && task.ended.is_none());
        let Some(task) = task else { return Err(ProcessFault::Ended { id: short(task_id) }) };
        task.ended = Some(RunEnd { success: end.success, exit_code: end.exit_code, duration_ms: end.duration_ms });
        let (phase, number) = (task.phase, task.step);
        if phase != Phase::PreStep {
            return Ok((self, None));
        }
        let effect = self.effect(task_id, end.success);
        let at = number.and_then(|number| self.index_of(number));
        if let (Effect::Inject, Some(at)) = (effect, at) {
            let wanted = self.last_decision(task_id).map(|last| last.injected_steps.clone()).unwrap_or_default();
            self.inject(at, task_id, wanted);
        }
        Ok((self, Some(effect)))
    }

    fn inject(&mut self, at: usize, by: &str, wanted: Vec<InjectedStep>) {
        let Some(origin) = self.steps.get(at).map(ProcessStep::original) else { return };
        let first = self.steps.iter().map(|step| step.number).max().map_or(0, |last| last + 1);
        let new: Vec<ProcessStep> = (first..)
            .zip(wanted)
            .map(|(number, InjectedStep { task_name: task, prompt })| {
                let step =
                    StepDefinition { task, prompt, engine: None, model: None, tools: None, skip_orchestrator: false };
                let injected = Injected { origin, by: by.to_owned() };
                ProcessStep::new(number, self.process.definition.complete(step), Some(injected))
            })
            .collect();
        self.steps.splice(at..at, new);
    }
}
