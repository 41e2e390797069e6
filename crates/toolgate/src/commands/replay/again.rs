//! A past decision once more, by the gate itself. What the record leaves open is tried each way; only what comes out the same
//! is an answer.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::{Caller, Decision, Denial, Found, Gate, Kind, Tool};

use super::past::{Arguments, Asked, Past, Word};

/// What would be said, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    pub word: Word,
    pub rule: Option<String>,
}

/// Why a decision can't be made again exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Open {
    Unreadable,
    ToolGone,
    Redacted,
    Undo,
    Facts,
    Overrides,
    DryRun,
}

impl Open {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::ToolGone => "tool_gone",
            Self::Redacted => "input_redacted",
            Self::Undo => "undo",
            Self::Facts => "facts_not_recorded",
            Self::Overrides => "override_not_recorded",
            Self::DryRun => "dry_run_not_recorded",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Unreadable => "the record can't be read",
            Self::ToolGone => {
                "nothing of this name is known here now: it is gone, or its record is older than those of prompts and resources"
            }
            Self::Redacted => "a rule reads the arguments, or the address, and a part of it was redacted or cut",
            Self::Undo => "a rule reads the arguments, and the call took an earlier one back",
            Self::Facts => "the flow's allowlist was not recorded, and the answer depends on it",
            Self::Overrides => {
                "the caller was told that there is no such tool, the tenant's override for it and its place in the flow's \
                 allowlist are then not recorded, and the answer depends on them"
            }
            Self::DryRun => "whether it was a dry run was not recorded, and the answer depends on it",
        }
    }
}

/// What a decision was about.
#[derive(Clone, Copy)]
pub enum About<'a> {
    /// By its name.
    Tool(&'a str),
    /// With what is known of it here, where no gate has it while its server does not run.
    More(&'a Asked, Option<&'a Arc<Tool>>),
}

pub fn decide(gate: &Gate, about: About<'_>, past: &Past) -> Result<Again, Open> {
    let mut answer = None;
    for caller in &past.callers {
        let mut by_mode = None;
        for dry_run in past.dry_runs {
            let again = once(gate, (caller, about), *dry_run, past)?;
            if by_mode.get_or_insert_with(|| again.clone()).word != again.word {
                return Err(Open::DryRun);
            }
        }
        let Some(again) = by_mode else { return Err(Open::Unreadable) };
        if answer.get_or_insert_with(|| again.clone()).word != again.word {
            return Err(past.unknown_facts);
        }
    }
    answer.ok_or(Open::Unreadable)
}

fn once(gate: &Gate, (caller, about): (&Caller, About<'_>), dry_run: bool, past: &Past) -> Result<Again, Open> {
    let said = |word: Word, denial: Option<Denial>| Again { word, rule: denial.map(|denial| denial.rule) };
    let view = gate.view(caller).ok_or(Open::Unreadable)?;
    let known = |kind: Kind, name: &str| gate.find_any(&view, caller, (kind, name), (false, dry_run), gate.lang());
    let found = match about {
        About::Tool(name) if gate.catalog().has(Kind::Tool, name) => known(Kind::Tool, name),
        About::More(asked, _) if !asked.is_whole() => return Err(Open::Redacted),
        About::More(asked, None) if gate.catalog().has(asked.request(), &asked.name) => {
            known(asked.request(), &asked.name)
        }
        About::More(asked, Some(tool)) => {
            gate.find_absent(&view, caller, (tool, &asked.name), (false, dry_run), gate.lang())
        }
        // what nobody has stays unknown, whatever the rules
        _ if past.word == Word::Hidden => Found::Nothing,
        _ => return Err(Open::ToolGone),
    };
    let (tool, needs) = match found {
        Found::Nothing => return Ok(said(Word::Hidden, None)),
        Found::Tool { decision: Decision::Deny(denial), .. } => return Ok(said(Word::Denied, Some(denial))),
        Found::Tool { decision: Decision::NeedsApproval(denial), tool } => (tool, Some(denial)),
        Found::Tool { decision: Decision::Allow, tool } => (tool, None),
    };
    let passed = |needs: Option<Denial>| match needs {
        Some(denial) => said(Word::NeedsApproval, Some(denial)),
        None => said(Word::Allowed, None),
    };
    if !gate.rulebook().reads_arguments_of(tool.name.as_str()) {
        return Ok(passed(needs));
    }
    let arguments = match &past.arguments {
        Arguments::Whole(given) => bound(given.as_deref(), &tool, caller).ok_or(Open::Unreadable)?,
        Arguments::Unfit => return Ok(passed(needs)),
        Arguments::Redacted => return Err(Open::Redacted),
        Arguments::Undo => return Err(Open::Undo),
    };
    Ok(match gate.decide_arguments(&view, caller, &tool, (false, dry_run), Some(&arguments), gate.lang()) {
        Decision::Allow => passed(needs),
        Decision::NeedsApproval(denial) => passed(Some(denial)),
        Decision::Deny(denial) => said(Word::Denied, Some(denial)),
    })
}

/// A call that was turned away was recorded before its bound arguments were filled in.
fn bound<'a>(given: Option<&'a RawValue>, tool: &Tool, caller: &Caller) -> Option<Cow<'a, RawValue>> {
    if let (Some(given), true) = (given, tool.facts.bind.is_empty()) {
        return Some(Cow::Borrowed(given));
    }
    let mut arguments: BTreeMap<String, Box<RawValue>> =
        given.map_or_else(|| Some(BTreeMap::new()), |given| serde_json::from_str(given.get()).ok())?;
    for (name, binding) in &tool.facts.bind {
        if let Some(value) = binding.value(caller) {
            arguments.insert(name.clone(), to_raw_value(value).ok()?);
        }
    }
    to_raw_value(&arguments).ok().map(Cow::Owned)
}
