//! A decision that was made, as the ledger has it: who asked for what, and how the rules decided.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::{Caller, Kind};
use toolgate_store::ledger::{LONGEST_ASKED, Record};

use super::again::Open;

/// What the rules say to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Allowed,
    NeedsApproval,
    Denied,
    /// Answered as for an unknown tool.
    Hidden,
}

impl Word {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::NeedsApproval => "needs_approval",
            Self::Denied => "denied",
            Self::Hidden => "hidden",
        }
    }
}

/// One recorded decision. Where the record leaves something open, it has each way it can have been.
#[derive(Debug)]
pub struct Past {
    pub callers: Vec<Caller>,
    /// The reason to give where these callers get different answers.
    pub unknown_facts: Open,
    pub dry_runs: &'static [bool],
    pub word: Word,
    pub rule: Option<String>,
    pub arguments: Arguments,
    /// `None` for a tool.
    pub asked: Option<Asked>,
    /// Empty where the call led to nothing.
    pub source: String,
}

/// A prompt or resource as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// What it was found as.
    pub kind: Kind,
    pub name: String,
}

impl Asked {
    fn read(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        Some(Self { kind: kind.parse().ok()?, name: name.to_owned() })
    }

    /// What a request for it says.
    pub fn request(&self) -> Kind {
        if self.kind == Kind::Prompt { Kind::Prompt } else { Kind::Resource }
    }

    /// Nothing was taken out or cut off.
    pub fn is_whole(&self) -> bool {
        !self.name.contains("[redacted") && self.name.chars().count() < LONGEST_ASKED
    }
}

/// As flows' lists name it.
impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.request(), self.name)
    }
}

#[derive(Debug)]
pub enum Arguments {
    Whole(Option<Box<RawValue>>),
    /// Something was taken out or cut off.
    Redacted,
    /// The call took an earlier one back.
    Undo,
    /// They did not fit, so that no rule over arguments was asked.
    Unfit,
}

#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    source: String,
    #[serde(default)]
    asked: Option<String>,
    actor: Box<RawValue>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    approval: Option<String>,
    #[serde(default)]
    rule: Option<String>,
    #[serde(default)]
    code: Option<String>,
}

/// `None` for records that decide nothing: a beginning, and the end of a call whose intent has the decision.
pub fn read(record: &Record) -> Option<Result<Past, &'static str>> {
    let decides = matches!(record.kind.as_str(), "intent" | "read" | "decision");
    decides.then(|| parse(record).ok_or("the record can't be read"))
}

fn parse(record: &Record) -> Option<Past> {
    let parts: Parts = serde_json::from_str(&record.text).ok()?;
    let code = parts.code.as_deref().unwrap_or_default();
    let word = match (record.outcome.as_str(), code) {
        ("denied", _) | ("refused", "unbound_argument") => Word::Denied,
        ("refused", "unknown_tool") => Word::Hidden,
        ("needs_approval", _) => Word::NeedsApproval,
        _ if parts.approval.is_some() => Word::NeedsApproval,
        _ => Word::Allowed,
    };
    let mut callers = callers(&parts.actor)?;
    let mut unknown_facts = Open::Facts;
    if word == Word::Hidden {
        let variants = of_a_hidden_tool(&callers, &record.tool);
        if !variants.is_empty() {
            unknown_facts = Open::Overrides;
            callers.extend(variants);
        }
    }
    Some(Past {
        callers,
        unknown_facts,
        dry_runs: match (record.kind.as_str(), record.outcome.as_str()) {
            ("decision", "previewed") => &[true],
            ("decision", "denied" | "refused" | "failed") => &[false, true],
            _ => &[false],
        },
        word,
        rule: parts.rule,
        arguments: match code {
            "invalid_arguments" | "argument_too_large" | "schema_unusable" => Arguments::Unfit,
            _ => arguments(parts.input),
        },
        asked: parts.asked.as_deref().map(|asked| Asked::read(asked).ok_or(())).transpose().ok()?,
        source: parts.source,
    })
}

fn arguments(input: Option<Box<RawValue>>) -> Arguments {
    let text = input.as_deref().map_or("", RawValue::get);
    if text.starts_with("{\"undo\":\"rcpt_") {
        Arguments::Undo
    } else if text.starts_with("{\"completes\":{") || text == "{\"watches\":true}" {
        // about a prompt or a resource, and decided without arguments
        Arguments::Whole(None)
    } else if text.contains("[redacted") || text.starts_with("{\"cut\":true,") {
        Arguments::Redacted
    } else {
        Arguments::Whole(input)
    }
}

/// The other callers that a record of a hidden tool can stand for. It has none of the tenant's overrides, and an empty
/// allowlist for each flow that had one, because it leads to no tool.
fn of_a_hidden_tool(callers: &[Caller], tool: &str) -> Vec<Caller> {
    let mut variants: Vec<Caller> = callers.to_vec();
    for caller in callers.iter().filter(|caller| caller.tenant.is_some()) {
        for is_on in [true, false] {
            let mut switched = caller.clone();
            if let Some(tenant) = &mut switched.tenant {
                tenant.overrides = Arc::new([(tool.to_owned(), is_on)].into_iter().collect());
            }
            variants.push(switched);
        }
    }
    let is_limited = |caller: &&Caller| caller.flow.as_ref().is_some_and(|flow| flow.allowlist.is_some());
    let allowlisted: Vec<_> = variants.iter().filter(is_limited).cloned().collect();
    variants.extend(allowlisted.into_iter().map(|mut caller| {
        if let Some(flow) = &mut caller.flow {
            flow.allowlist = Some([tool.to_owned()].into());
        }
        caller
    }));
    variants.split_off(callers.len())
}

/// A flow without a word on its limit may have had one that let the tool in, or one that did not.
fn callers(actor: &RawValue) -> Option<Vec<Caller>> {
    #[derive(Deserialize)]
    struct Actor {
        #[serde(default)]
        flow: Option<serde_json::Map<String, serde_json::Value>>,
    }
    let caller: Caller = serde_json::from_str(actor.get()).ok()?;
    let recorded: Actor = serde_json::from_str(actor.get()).ok()?;
    if recorded.flow.is_none_or(|flow| flow.contains_key("allowlist")) {
        return Some(vec![caller]);
    }
    let mut kept_out = caller.clone();
    if let Some(flow) = &mut kept_out.flow {
        flow.allowlist = Some(std::collections::BTreeSet::new());
    }
    Some(vec![caller, kept_out])
}
