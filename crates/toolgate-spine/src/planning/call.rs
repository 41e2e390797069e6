//! The calls of a plan, as they are proposed and as they are kept.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use toolgate_core::pin::Canonical;
use toolgate_store::Plan;

use super::{
    PlanProblem, Reason,
    reference::{Reference, references},
};
use crate::exact_numbers::exact_value;

/// The most calls of a plan.
const MOST_CALLS: usize = 64;
/// The largest a plan may be, as JSON: a person is to read it.
const MOST_BYTES: usize = 256 << 10;
const LONGEST_ID: usize = 64;

/// A call as it is proposed.
#[derive(Debug, Clone, Deserialize)]
pub struct ProposedCall {
    /// By which later calls refer to its result.
    pub id: Option<String>,
    /// Its canonical or wire name.
    pub tool: String,
    pub arguments: Option<Box<RawValue>>,
}

/// A call as it is kept, and run as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlannedCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// Its canonical name.
    pub(super) tool: String,
    pub(super) arguments: Box<RawValue>,
    #[serde(skip)]
    pub(super) references: Vec<Reference>,
}

impl PlannedCall {
    /// The pointers to what is not known before earlier steps ran.
    pub(super) fn unknown(&self) -> Vec<String> {
        self.references.iter().map(|reference| reference.at.clone()).collect()
    }
}

/// What is proposed, with its references found; the tools are not looked at.
pub(super) fn proposed(calls: Vec<ProposedCall>) -> Result<Vec<PlannedCall>, PlanProblem> {
    if !(1..=MOST_CALLS).contains(&calls.len()) {
        let what = format!("a plan has between 1 and {MOST_CALLS} calls, and this one has {}", calls.len());
        return Err(PlanProblem::Unfit(what));
    }
    let mut ids = HashSet::new();
    for (index, id) in calls.iter().enumerate().filter_map(|(index, call)| Some((index, call.id.as_deref()?))) {
        let unfit = |what: &str| {
            let id: String = id.chars().take(80).collect();
            PlanProblem::Step { step: index + 1, reason: Reason::new("invalid_plan", format!("its id '{id}' {what}")) }
        };
        if !is_id(id) {
            return Err(unfit("is not a letter or _, followed by at most 63 letters, digits, _ or -"));
        }
        if !ids.insert(id) {
            return Err(unfit("is that of an earlier step already"));
        }
    }
    let none = || RawValue::from_string("{}".to_owned()).unwrap_or_default();
    let calls = calls.into_iter().map(|ProposedCall { id, tool, arguments }| PlannedCall {
        id,
        tool,
        arguments: arguments.unwrap_or_else(none),
        references: Vec::new(),
    });
    referring(calls.collect())
}

/// The calls of a plan that was kept.
pub(super) fn kept(plan: &Plan) -> Result<Vec<PlannedCall>, PlanProblem> {
    let unfit = || PlanProblem::Unfit(format!("the calls of plan '{}' are not those that were proposed", plan.id));
    let digest = digest(&plan.calls).filter(|digest| *digest == plan.digest);
    digest.ok_or_else(unfit)?;
    referring(serde_json::from_str(&plan.calls).map_err(|_| unfit())?)
}

/// The text that is kept, and its digest.
pub(super) fn written(calls: &[PlannedCall]) -> Result<(String, [u8; 32]), PlanProblem> {
    let text = serde_json::to_string(calls).map_err(|fault| PlanProblem::Unfit(fault.to_string()))?;
    if text.len() > MOST_BYTES {
        let what = format!("the plan is larger than {MOST_BYTES} bytes; propose it in parts");
        return Err(PlanProblem::Unfit(what));
    }
    match Canonical::of(&text) {
        Ok(canonical) => Ok((text, canonical.digest().into())),
        Err(fault) => Err(PlanProblem::Unfit(format!("the plan can't be bound to an approval: {fault}"))),
    }
}

fn digest(calls: &str) -> Option<[u8; 32]> {
    Canonical::of(calls).ok().map(|canonical| canonical.digest().into())
}

fn referring(mut calls: Vec<PlannedCall>) -> Result<Vec<PlannedCall>, PlanProblem> {
    let ids: Vec<Option<String>> = calls.iter().map(|call| call.id.clone()).collect();
    for (index, call) in calls.iter_mut().enumerate() {
        let refused =
            |message: String| PlanProblem::Step { step: index + 1, reason: Reason::new("invalid_reference", message) };
        let arguments: Value =
            serde_json::from_str(call.arguments.get()).map_err(|fault| refused(fault.to_string()))?;
        let earlier: Vec<Option<&str>> = ids.iter().take(index).map(Option::as_deref).collect();
        call.references = references(&arguments, &earlier).map_err(refused)?;
    }
    Ok(calls)
}

fn is_id(id: &str) -> bool {
    let starts = |first: char| first.is_ascii_alphabetic() || first == '_';
    id.len() <= LONGEST_ID
        && id.starts_with(starts)
        && id.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '_' | '-'))
}

/// The calls for people: redacted, numbered, in order.
pub(super) fn shown(calls: &[PlannedCall], redacted: impl Fn(&PlannedCall) -> String) -> Vec<Value> {
    let numbered = calls.iter().enumerate().map(|(index, call)| {
        let arguments = exact_value(&redacted(call));
        let mut shown = serde_json::json!({ "step": index + 1, "tool": call.tool, "arguments": arguments });
        if let (Some(id), Some(members)) = (&call.id, shown.as_object_mut()) {
            members.insert("id".to_owned(), Value::String(id.clone()));
        }
        shown
    });
    numbered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approver_of_a_plan_sees_every_digit() {
        let arguments = r#"{"amount":123456789012345678901234567890,"rate":0.1000000000000000055,"n":3}"#;
        let call = PlannedCall {
            id: None,
            tool: "pay".to_owned(),
            arguments: RawValue::from_string(arguments.to_owned()).unwrap(),
            references: Vec::new(),
        };
        let shown = shown(&[call], |call| call.arguments.get().to_owned());
        let expected =
            serde_json::json!({"amount": "123456789012345678901234567890", "rate": "0.1000000000000000055", "n": 3});
        assert_eq!(shown[0]["arguments"], expected);
    }
}
