//! Facts about one tool, as configuration overrides them.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::{
    Facts,
    caller::{BadFact, Runtime},
    redact::Pointer,
    rulebook::DeclaredType,
    tool::{Approval, Counterpart, Effect, Example, Limits, Permission, Scope, Undoing, WhenDenied, WhenTooLarge},
};

use super::known_word::{known_word, known_words};

/// Every key overrides one fact of the tool; an absent one leaves it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolConfig {
    /// Only for tools of this upstream or pack. Absent: for whichever tool has the name.
    pub source: Option<String>,
    /// Who may use it: unauthenticated, coordinator_only, manager_only, worker_only, authenticated, chat_only, task_only,
    /// signed_in, admin_only, operator_only.
    #[serde(deserialize_with = "known_word::<_, Permission>")]
    pub permission: Option<String>,
    /// "shared", "task" or "orchestrator".
    #[serde(deserialize_with = "known_word::<_, Scope>")]
    pub scope: Option<String>,
    /// Listed for every caller of no tenant, marked where it can't be called.
    pub advertised: Option<bool>,
    /// "read", "write" or "log".
    #[serde(deserialize_with = "known_word::<_, Effect>")]
    pub effect: Option<String>,
    /// "none" or "required".
    #[serde(deserialize_with = "known_word::<_, Approval>")]
    pub approval: Option<String>,
    /// Where it may be called from: "server", "client".
    #[serde(deserialize_with = "known_words::<_, Runtime>")]
    pub runtimes: Option<Vec<String>>,
    /// The lowest plan that has it.
    pub min_plan: Option<String>,
    /// On for a tenant that has not switched it.
    pub enabled_by_default: Option<bool>,
    /// What who may not use it learns on a call: "hidden" or "explained".
    #[serde(deserialize_with = "known_word::<_, WhenDenied>")]
    pub when_denied: Option<String>,
    /// Whether help may name it to who can't use it.
    pub help_names: Option<bool>,
    /// OAuth scopes it takes.
    pub oauth_scopes: Option<BTreeSet<String>>,
    /// Only within a flow.
    pub requires_flow: Option<bool>,
    /// The catalogue's category.
    pub group: Option<String>,
    /// Arguments filled from the caller and hidden from the schema: { user_id = "caller.user" }.
    pub bind: Option<BTreeMap<String, String>>,
    /// Types for arguments that rules read and whose schema has no single type: boolean, integer, decimal, string.
    pub arguments: BTreeMap<String, String>,
    pub limits: Option<ToolLimits>,
    /// JSON pointers into arguments and results whose values are never recorded or shown: ["/card/number"]; * is any item.
    pub redact: Option<BTreeSet<String>>,
    /// Whoever approves a call must be someone else than who asked.
    pub four_eyes: Option<bool>,
    /// How what a call did is taken back: { tool = "…", arguments = "{path: input.path}" }, or { never = "why" }.
    pub undo: Option<UndoConfig>,
    /// The tool that shows what a call would do, without doing it: { tool = "…", arguments = "{path: input.path}" }.
    pub preview: Option<CounterpartConfig>,
    /// Arguments of an example call, for help.
    pub example: Option<serde_json::Value>,
}

/// Another tool, and its arguments out of the call's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterpartConfig {
    pub tool: String,
    /// JMESPath over `input` and, once the call has run, `output`.
    pub arguments: String,
}

/// How what a call did is taken back: by another tool, or never.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UndoConfig {
    pub tool: Option<String>,
    /// JMESPath over `input` and `output`.
    pub arguments: Option<String>,
    /// Why it can't be.
    pub never: Option<String>,
}

impl UndoConfig {
    fn read(&self) -> Result<Undoing, BadFact> {
        match (&self.tool, &self.arguments, &self.never) {
            (Some(tool), Some(arguments), None) => {
                CounterpartConfig { tool: tool.clone(), arguments: arguments.clone() }.read("undo").map(Undoing::By)
            }
            (None, None, Some(why)) => Ok(Undoing::Never(why.clone())),
            _ => Err(BadFact::new("undo", "what is there", "tool and arguments, or never with the reason")),
        }
    }
}

impl CounterpartConfig {
    fn read(&self, fact: &'static str) -> Result<Counterpart, BadFact> {
        toolgate_spine::check_expression(&self.arguments)
            .map_err(|why| BadFact::new(fact, &self.arguments, &format!("JMESPath ({why})")))?;
        Ok(Counterpart { tool: self.tool.clone(), arguments: self.arguments.clone() })
    }
}

/// How much one call may take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolLimits {
    pub timeout_ms: Option<u64>,
    pub argument_bytes: Option<u64>,
    pub result_bytes: Option<u64>,
    /// What becomes of a larger result: "refuse", or "cut": its beginning, with a link to the whole.
    #[serde(deserialize_with = "known_word::<_, WhenTooLarge>")]
    pub result: Option<String>,
    /// Calls at the same time, over all callers.
    pub concurrency: Option<u32>,
    /// Calls at the same time, for each caller.
    pub caller_concurrency: Option<u32>,
    /// Calls a minute, for each caller.
    pub per_minute: Option<u32>,
    /// Calls a minute, over all callers.
    pub total_per_minute: Option<u32>,
}

impl ToolLimits {
    fn facts(&self) -> Result<Limits, BadFact> {
        let mut result = WhenTooLarge::default();
        put(&self.result, &mut result)?;
        Ok(Limits {
            timeout_ms: self.timeout_ms,
            argument_bytes: self.argument_bytes,
            result_bytes: self.result_bytes,
            result,
            concurrency: self.concurrency,
            caller_concurrency: self.caller_concurrency,
            per_minute: self.per_minute,
            total_per_minute: self.total_per_minute,
        })
    }
}

impl ToolConfig {
    /// The facts with what is configured put in.
    pub fn apply(&self, facts: &mut Facts) -> Result<(), BadFact> {
        put(&self.permission, &mut facts.permission)?;
        put(&self.scope, &mut facts.scope)?;
        put(&self.effect, &mut facts.effect)?;
        put(&self.approval, &mut facts.approval)?;
        put(&self.when_denied, &mut facts.when_denied)?;
        set(&self.advertised, &mut facts.advertised);
        set(&self.enabled_by_default, &mut facts.enabled_by_default);
        set(&self.help_names, &mut facts.help_names);
        set(&self.oauth_scopes, &mut facts.oauth_scopes);
        set(&self.requires_flow, &mut facts.requires_flow);
        set(&self.four_eyes, &mut facts.four_eyes);
        if let Some(pointers) = &self.redact {
            for pointer in pointers {
                pointer
                    .parse::<Pointer>()
                    .map_err(|_| BadFact::new("redact", pointer, "a JSON pointer like /card/number"))?;
            }
            facts.redact.clone_from(pointers);
        }
        if let Some(words) = &self.runtimes {
            facts.runtimes = words.iter().map(|word| word.parse()).collect::<Result<_, _>>()?;
        }
        if let Some(bind) = &self.bind {
            facts.bind =
                bind.iter().map(|(name, word)| Ok((name.clone(), word.parse()?))).collect::<Result<_, BadFact>>()?;
        }
        if self.min_plan.is_some() {
            facts.min_plan.clone_from(&self.min_plan);
        }
        if self.group.is_some() {
            facts.group.clone_from(&self.group);
        }
        if let Some(limits) = &self.limits {
            facts.limits = limits.facts()?;
        }
        if let Some(undo) = &self.undo {
            facts.undo = Some(undo.read()?);
        }
        if let Some(counterpart) = &self.preview {
            facts.preview = Some(counterpart.read("preview")?);
        }
        if let Some(example) = &self.example {
            facts.example = Some(Example(example.to_string()));
        }
        Ok(())
    }

    /// The other tools it names.
    pub fn counterparts(&self) -> impl Iterator<Item = &str> {
        let undo = self.undo.as_ref().and_then(|undo| undo.tool.as_deref());
        undo.into_iter().chain(self.preview.as_ref().map(|preview| preview.tool.as_str()))
    }

    pub fn declared(&self) -> Result<BTreeMap<String, DeclaredType>, BadFact> {
        self.arguments
            .iter()
            .map(|(name, word)| {
                let kind = match word.as_str() {
                    "boolean" => DeclaredType::Boolean,
                    "integer" => DeclaredType::Integer,
                    "decimal" => DeclaredType::Decimal,
                    "string" => DeclaredType::String,
                    _ => return Err(BadFact::new("argument type", word, "one of: boolean integer decimal string")),
                };
                Ok((name.clone(), kind))
            })
            .collect()
    }
}

fn put<T: FromStr<Err = BadFact>>(word: &Option<String>, fact: &mut T) -> Result<(), BadFact> {
    if let Some(word) = word {
        *fact = word.parse()?;
    }
    Ok(())
}

fn set<T: Clone>(value: &Option<T>, fact: &mut T) {
    if let Some(value) = value {
        *fact = value.clone();
    }
}
