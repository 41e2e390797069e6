//! `help`: what this caller can do, what it can't, and why; the same decision as a call's, put into words.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    caller::Caller,
    decision::{Lang, Verdict},
    gate::Gate,
    listing::{self, Parameter},
    tool::{Kind, Permission, Phrases, Tool},
    translation::translate,
    view::View,
};

/// Who `help` was asked by. Never a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Context {
    pub caller_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_purpose: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    pub context: Context,
    pub available_tools: Vec<Line>,
    pub unavailable_info: BTreeMap<&'static str, String>,
    pub total_available: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    pub name: String,
    pub description: String,
    pub category: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    Available {
        #[serde(flatten)]
        line: Line,
        available: bool,
        parameters: Vec<Parameter>,
        #[serde(skip_serializing_if = "Option::is_none")]
        example: Option<serde_json::Value>,
        /// What decided in the tenant cascade, for whoever acts for a tenant.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    Unavailable {
        #[serde(flatten)]
        line: Line,
        available: bool,
        reason: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// Unknown, hidden, or not to be named to this caller.
    NotFound { context: Context, error: String },
}

impl Detail {
    /// Whether a call would pass the gate, if the tool may be named at all.
    pub fn available(&self) -> Option<bool> {
        match self {
            Self::Available { available, .. } | Self::Unavailable { available, .. } => Some(*available),
            Self::NotFound { .. } => None,
        }
    }
}

/// The argument by which an agent's session signs in.
const SESSION_TOKEN: &str = "session_token";

/// Which tools a line of `unavailable_info` speaks of.
const GROUPS: &[(Permission, &str)] = &[
    (Permission::ChatOnly, "chat_tools"),
    (Permission::TaskOnly, "task_tools"),
    (Permission::ManagerOnly, "manager_tools"),
    (Permission::WorkerOnly, "worker_tools"),
    (Permission::CoordinatorOnly, "coordinator_tools"),
];

impl Gate {
    /// Every tool this caller could call now, and what the others would take.
    pub fn help(&self, view: &View, caller: &Caller, lang: Lang) -> Overview {
        view.list_tools(self);
        let mut available_tools = Vec::new();
        let mut unavailable: BTreeMap<&'static str, Vec<&str>> = BTreeMap::new();
        for (index, tool) in self.catalog().tools().enumerate() {
            let verdict = self.verdict(view, index, false, false);
            if verdict.is_callable() {
                available_tools.push(line(tool, lang));
            } else if self.may_be_named(view, index, tool, &verdict)
                && let Some((_, group)) = GROUPS.iter().find(|(permission, _)| *permission == tool.facts.permission)
            {
                unavailable.entry(group).or_default().push(tool.wire_name.as_str());
            }
        }
        Overview {
            context: context(caller),
            total_available: available_tools.len(),
            available_tools,
            unavailable_info: unavailable
                .into_iter()
                .map(|(group, names)| (group, group_text(group, &names, lang)))
                .collect(),
        }
    }

    /// One tool by name.
    pub fn help_on(&self, view: &View, caller: &Caller, name: &str, lang: Lang) -> Detail {
        let not_found = || Detail::NotFound {
            context: context(caller),
            error: match lang {
                Lang::En => format!("Tool '{name}' not found"),
                Lang::Ja => format!("ツール'{name}'は見つかりません"),
            },
        };
        let Some(index) = self.catalog().index(name) else {
            self.decide_in_vain(view, Kind::Tool, name);
            return not_found();
        };
        let Some(entry) = self.catalog().entry(index) else {
            return not_found();
        };
        let verdict = self.verdict(view, index, false, false);
        if verdict.is_callable() {
            let phrases = entry.tool.facts.phrases.get(lang.as_str());
            let mut parameters = listing::parameters(&entry.listed);
            for description in parameters.iter_mut().filter_map(|parameter| parameter.description.as_mut()) {
                translate(description, phrases);
            }
            return Detail::Available {
                line: line(&entry.tool, lang),
                available: true,
                example: example(&entry.tool, &parameters, phrases),
                parameters,
                source: caller.tenant.as_ref().map(|_| self.source(&[], caller, &entry.tool)),
            };
        }
        if !self.may_be_named(view, index, &entry.tool, &verdict) {
            return not_found();
        }
        // no parameters and no example: who can't call it has no use for them
        let denial = self.denial(&verdict, caller, &entry.tool, lang);
        Detail::Unavailable {
            line: line(&entry.tool, lang),
            available: false,
            reason: denial.message,
            source: denial.source.map(String::from),
        }
    }

    /// A tool on the caller's list is no secret; another is named only where its facts say so and a call would explain.
    fn may_be_named(&self, view: &View, index: usize, tool: &Tool, verdict: &Verdict) -> bool {
        view.shows(self, index) || (tool.facts.help_names && !self.hides(view, index, tool, verdict))
    }
}

fn line(tool: &Tool, lang: Lang) -> Line {
    Line {
        name: tool.wire_name.to_string(),
        description: listing::description(tool, lang),
        category: tool.facts.permission.to_string(),
    }
}

/// The tool's example, with the session's token where the tool takes one: callers who sign in by argument copy it.
fn example(tool: &Tool, parameters: &[Parameter], phrases: Option<&Phrases>) -> Option<serde_json::Value> {
    let mut given: serde_json::Map<_, _> = serde_json::from_str(&tool.facts.example.as_ref()?.0).ok()?;
    given.values_mut().for_each(|value| translate_within(value, phrases));
    if parameters.iter().any(|parameter| parameter.name == SESSION_TOKEN) && !given.contains_key(SESSION_TOKEN) {
        let mut whole = serde_json::Map::new();
        whole.insert(SESSION_TOKEN.to_owned(), "sess_xxx".into());
        whole.append(&mut given);
        given = whole;
    }
    Some(given.into())
}

/// Translates the texts of an example, which its author wrote and bounded.
fn translate_within(value: &mut serde_json::Value, phrases: Option<&Phrases>) {
    match value {
        serde_json::Value::String(text) => translate(text, phrases),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| translate_within(item, phrases)),
        serde_json::Value::Object(members) => {
            members.values_mut().for_each(|member| translate_within(member, phrases));
        }
        _ => {}
    }
}

fn context(caller: &Caller) -> Context {
    let agent = caller.agent.as_ref();
    Context {
        caller_type: caller.kind().to_owned(),
        session_purpose: agent.and_then(|agent| agent.purpose).map(|purpose| purpose.to_string()),
        agent_id: agent.map(|agent| agent.id.clone()),
        project_id: agent.and_then(|agent| agent.project.clone()),
    }
}

fn group_text(group: &str, names: &[&str], lang: Lang) -> String {
    let names = names.join(", ");
    match (lang, group) {
        (Lang::En, "chat_tools") => {
            format!("Chat tools ({names}) are only available in a session with purpose=chat")
        }
        (Lang::En, "task_tools") => {
            format!("Task tools ({names}) are only available in a session with purpose=task")
        }
        (Lang::En, "manager_tools") => format!("Manager tools ({names}) require Manager privilege"),
        (Lang::En, "worker_tools") => format!("Worker tools ({names}) require Worker privilege"),
        (Lang::En, _) => format!("Coordinator tools ({names}) require Coordinator privilege"),
        (Lang::Ja, "chat_tools") => {
            format!("チャットツール（{names}）はpurpose=chatのセッションでのみ利用可能です")
        }
        (Lang::Ja, "task_tools") => {
            format!("タスクツール（{names}）はpurpose=taskのセッションでのみ利用可能です")
        }
        (Lang::Ja, "manager_tools") => {
            format!("Manager専用ツール（{names}）はManager権限が必要です")
        }
        (Lang::Ja, "worker_tools") => format!("Worker専用ツール（{names}）はWorker権限が必要です"),
        (Lang::Ja, _) => format!("Coordinator専用ツール（{names}）はCoordinator権限が必要です"),
    }
}
