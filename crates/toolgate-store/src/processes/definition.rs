//! What a process is, as people write it down: its steps, the tasks they name, and who watches over them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

const MOST_STEPS: usize = 200;
const MOST_INJECTIONS: u32 = 20;
const LONGEST_NAME: usize = 64;
/// Names that tasks of the orchestrator itself have.
const RESERVED: &str = "orchestrator-";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessDefinition {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub orchestrator: OrchestratorDefinition,
    /// What a step can name beside the tasks of the steps themselves, and what each brings along.
    #[serde(default)]
    pub tasks: BTreeMap<String, TaskDefinition>,
    pub steps: Vec<StepDefinition>,
}

/// Tasks that watch over the others: before a step, after it, and at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OrchestratorDefinition {
    pub enabled: bool,
    /// How often steps may be injected before one original step.
    pub max_injections: u32,
    pub engine: Option<String>,
    pub model: Option<String>,
    /// What the orchestrator is told in each phase.
    pub pre_step: Option<String>,
    pub post_step: Option<String>,
    pub finalize: Option<String>,
}

/// What a step of this name has where it says nothing itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TaskDefinition {
    pub prompt: Option<String>,
    pub engine: Option<String>,
    pub model: Option<String>,
    /// Tools for the runner to give it; the gate decides by itself.
    pub tools: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepDefinition {
    pub task: String,
    #[serde(default)]
    pub prompt: Option<String>,
    #[serde(default)]
    pub engine: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub tools: Option<Vec<String>>,
    /// No orchestrator before and after it.
    #[serde(default)]
    pub skip_orchestrator: bool,
}

/// What is wrong with a definition, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct DefinitionProblem {
    pub field: String,
    pub reason: String,
}

impl Default for OrchestratorDefinition {
    fn default() -> Self {
        Self {
            enabled: true,
            max_injections: 3,
            engine: None,
            model: None,
            pre_step: None,
            post_step: None,
            finalize: None,
        }
    }
}

impl ProcessDefinition {
    pub fn check(&self) -> Result<(), DefinitionProblem> {
        let wrong = |field: String, reason: String| Err(DefinitionProblem { field, reason });
        if self.name.trim().is_empty() || self.name.chars().count() > 200 {
            return wrong("name".to_owned(), "give it a name of 1 to 200 characters".to_owned());
        }
        if self.orchestrator.max_injections > MOST_INJECTIONS {
            return wrong("orchestrator.max_injections".to_owned(), format!("it is at most {MOST_INJECTIONS}"));
        }
        if !(1..=MOST_STEPS).contains(&self.steps.len()) {
            return wrong(
                "steps".to_owned(),
                format!("there are {}; give it 1 to {MOST_STEPS} steps", self.steps.len()),
            );
        }
        let named = self.tasks.keys().map(|name| (format!("tasks.{name}"), name));
        let steps = self.steps.iter().enumerate().map(|(index, step)| (format!("steps[{index}].task"), &step.task));
        for (field, name) in named.chain(steps) {
            if let Some(reason) = no_name(name) {
                return wrong(field, reason);
            }
        }
        Ok(())
    }

    /// Names that an injected step may have.
    pub fn known_tasks(&self) -> BTreeSet<&str> {
        self.tasks.keys().chain(self.steps.iter().map(|step| &step.task)).map(String::as_str).collect()
    }

    /// A step of this name, with what the task of that name brings along.
    pub(super) fn complete(&self, mut step: StepDefinition) -> StepDefinition {
        if let Some(task) = self.tasks.get(&step.task) {
            step.prompt = step.prompt.or_else(|| task.prompt.clone());
            step.engine = step.engine.or_else(|| task.engine.clone());
            step.model = step.model.or_else(|| task.model.clone());
            step.tools = step.tools.or_else(|| task.tools.clone());
        }
        step
    }
}

fn no_name(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(plain) {
        let shown: String = name.chars().take(80).collect();
        return Some(format!("'{shown}' is not 1 to {LONGEST_NAME} of letters, digits, '.', '_' and '-'"));
    }
    name.starts_with(RESERVED).then(|| format!("names that begin with '{RESERVED}' are the orchestrator's own"))
}
