//! `policy.evaluate`: what a call would get from the gate, without making it. A view of the one decision.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::to_raw_value};
use toolgate_core::{Caller, Decision, Denial, Found, Tool};
use toolgate_spine::Recorded;

use super::{
    failure::{Failure, short},
    reading::Answer,
};

#[derive(Deserialize)]
pub(super) struct Evaluate {
    tool: String,
    input: Option<Map<String, Value>>,
    actor: Option<Actor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Actor {
    user_id: Option<String>,
}

#[derive(Serialize)]
struct Evaluated {
    effect: &'static str,
    reasons: Vec<Denial>,
    obligations: Vec<&'static str>,
}

pub(super) fn evaluate(call: &Recorded, Evaluate { tool, input, actor }: Evaluate) -> Result<Answer, Failure> {
    let caller = call.caller();
    let own = caller.user.as_ref().map(|user| user.as_str());
    if actor.and_then(|actor| actor.user_id).is_some_and(|user| Some(user.as_str()) != own) {
        return Err(Failure::not_allowed("You can ask about your own calls only. Leave 'actor' out."));
    }
    let dry_run = input.as_ref().and_then(|input| input.get("dryRun")).and_then(Value::as_bool).unwrap_or(false);
    let (gate, view, lang) = (call.gate(), call.view(), call.lang());
    let (tool, decision) = match gate.find(view, caller, &tool, false, dry_run, lang) {
        Found::Tool { tool, decision } => (tool, decision),
        // unknown and hidden: one branch
        Found::Nothing => return Err(Failure::not_found(format!("There is no tool '{}'.", short(&tool)))),
    };
    let decision = match (decision, input) {
        (Decision::Allow, Some(input)) => {
            let arguments = to_raw_value(&bound(&tool, caller, input))
                .map_err(|_| Failure::invalid("Argument 'input' can't be read."))?;
            gate.decide_arguments(view, caller, &tool, (false, dry_run), Some(&arguments), lang)
        }
        (decision, _) => decision,
    };
    let (effect, reasons, obligations) = match decision {
        Decision::Allow => ("allow", vec![], vec![]),
        Decision::NeedsApproval(denial) => ("needs_approval", vec![denial], vec!["approval"]),
        Decision::Deny(denial) => ("deny", vec![denial], vec![]),
    };
    Answer::of(&Evaluated { effect, reasons, obligations })
}

/// The arguments as a call would have them: what is bound is filled in.
fn bound(tool: &Tool, caller: &Caller, mut input: Map<String, Value>) -> Map<String, Value> {
    for (argument, binding) in &tool.facts.bind {
        if let Some(value) = binding.value(caller) {
            input.insert(argument.clone(), Value::from(value));
        }
    }
    input
}
