//! Decisions: one way in for both tools, so that what is true of one is true of the other.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_core::caller::Task;
use toolgate_spine::{ArgumentFault, ToolAnswer};
use toolgate_store::{Decided, DecisionKind, Effect, InjectedStep, NewDecision, Phase, Store};

use super::state::{failed, progress};
use crate::{
    failure::{Failure, short},
    times::now,
    workspace::answered,
};

const NO_STEPS: &str = "steps must be a non-empty list.";
const NO_NAME: &str = "Each step must have a 'task_name'.";

#[derive(Deserialize)]
pub(super) struct Decide {
    decision: String,
    reasoning: String,
    injected_steps: Option<Vec<InjectedStep>>,
}

pub(super) async fn decide(store: &Store, task: &Task, given: Decide) -> Result<ToolAnswer, Failure> {
    let kind = DecisionKind::parse(&given.decision).ok_or_else(|| no_decision(&given.decision))?;
    let steps = match (kind, given.injected_steps) {
        (DecisionKind::Inject, None) => {
            return Err(Failure::invalid("injected_steps is required when decision is 'inject'."));
        }
        (DecisionKind::Inject, Some(steps)) => steps,
        (_, Some(_)) => {
            return Err(Failure::invalid("injected_steps must not be provided when decision is not 'inject'."));
        }
        (_, None) => Vec::new(),
    };
    let decided = taken_down(store, task, kind, given.reasoning, steps).await?;
    let mut answer = Map::new();
    answer.insert("status".to_owned(), "ok".into());
    answer.insert("decision".to_owned(), kind.as_str().into());
    answer.insert("task_id".to_owned(), task.id.clone().into());
    answer.insert("decision_id".to_owned(), decided.decision.number.into());
    concluded(answer, &decided)
}

#[derive(Deserialize)]
pub(super) struct Inject {
    steps: Vec<InjectedStep>,
}

pub(super) async fn inject(store: &Store, task: &Task, Inject { steps }: Inject) -> Result<ToolAnswer, Failure> {
    let names: Vec<String> = steps.iter().map(|step| step.task_name.clone()).collect();
    let reasoning = "Steps asked for with inject_steps.".to_owned();
    let decided = taken_down(store, task, DecisionKind::Inject, reasoning, steps).await?;
    let count = if decided.decision.effect == Effect::Inject { names.len() } else { 0 };
    let mut answer = Map::new();
    answer.insert("status".to_owned(), "ok".into());
    answer.insert("injected_count".to_owned(), count.into());
    answer.insert("steps".to_owned(), names.into());
    concluded(answer, &decided)
}

/// INVARIANT: no step is injected whose task the process does not know.
async fn taken_down(
    store: &Store,
    task: &Task,
    decision: DecisionKind,
    reasoning: String,
    injected_steps: Vec<InjectedStep>,
) -> Result<Decided, Failure> {
    if decision == DecisionKind::Inject {
        if injected_steps.is_empty() {
            return Err(Failure::invalid(NO_STEPS));
        }
        let process = progress(store, task).await?.process;
        let known = process.definition.known_tasks();
        if let Some(unknown) = injected_steps.iter().find(|step| !known.contains(step.task_name.as_str())) {
            let name = short(&unknown.task_name);
            return Err(Failure::invalid(format!("Unknown task: '{name}'. Check available tasks.")));
        }
    }
    let new = NewDecision { decision, reasoning, injected_steps, at: now() };
    store.processes().decide(&task.id, new).await.map_err(|fault| failed(task, fault))
}

/// With what the decision leads to, and what the orchestrator might not expect of it.
fn concluded(mut answer: Map<String, Value>, decided: &Decided) -> Result<ToolAnswer, Failure> {
    let mut notes = Vec::new();
    if decided.capped {
        notes.push("Steps were injected before this step as often as they may be: the process proceeds.".to_owned());
    }
    if decided.decision.effect == Effect::None {
        let phase = Phase::PreStep;
        notes.push(format!(
            "Only a decision made in the phase {phase} changes the process: this one is kept in its log."
        ));
    }
    if let Some(before) = decided.replaces {
        notes.push(format!("It takes the place of this task's earlier decision '{before}'."));
    }
    answer.insert("effect".to_owned(), decided.decision.effect.as_str().into());
    if !notes.is_empty() {
        answer.insert("note".to_owned(), notes.join(" ").into());
    }
    let answer = answered(&json!(answer))?;
    Ok(answer.never_undone("Decisions are kept: until this task ends, another one takes its place."))
}

fn no_decision(given: &str) -> Failure {
    Failure::invalid(format!("Invalid decision '{}'. Must be one of: abort, inject, proceed", short(given)))
}

/// What the schema refused, in the words these tools have for it.
pub(super) fn word(tool: &str, fault: &ArgumentFault) -> Option<Failure> {
    let property = fault.property.as_deref().filter(|_| fault.keyword == "required");
    let is_named = |name: &str| fault.path.ends_with("/task_name") || property == Some(name);
    match (tool, fault.path.as_str(), fault.keyword.as_str()) {
        ("set_process_decision", "/decision", "enum") => {
            fault.arguments.get("decision").and_then(Value::as_str).map(no_decision)
        }
        ("inject_steps", "/steps", "minItems" | "type") => Some(Failure::invalid(NO_STEPS)),
        ("inject_steps", "", "required") if property == Some("steps") => Some(Failure::invalid(NO_STEPS)),
        ("inject_steps" | "set_process_decision", path, "required" | "minLength")
            if !path.is_empty() && is_named("task_name") =>
        {
            Some(Failure::invalid(NO_NAME))
        }
        _ => None,
    }
}
