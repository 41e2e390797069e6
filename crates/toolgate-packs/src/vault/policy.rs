//! `policy.evaluate`: what a call would get from the gate, without making it. A view of the one decision.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_spine::{Evaluated, Reason, Recorded};

use super::{
    failure::{Failure, short},
    reading::Answer,
};

#[derive(Deserialize)]
pub(super) struct Evaluate {
    tool: String,
    input: Option<Box<RawValue>>,
    actor: Option<Actor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Actor {
    user_id: Option<String>,
}

#[derive(Serialize)]
struct Verdict {
    effect: &'static str,
    reasons: Vec<Reason>,
    obligations: Vec<&'static str>,
}

pub(super) fn evaluate(call: &Recorded, Evaluate { tool, input, actor }: Evaluate) -> Result<Answer, Failure> {
    let own = call.caller().user.as_ref().map(|user| user.as_str());
    if actor.and_then(|actor| actor.user_id).is_some_and(|user| Some(user.as_str()) != own) {
        return Err(Failure::not_allowed("You can ask about your own calls only. Leave 'actor' out."));
    }
    let (effect, reasons, obligations) = match call.evaluate(&tool, input.as_deref()) {
        Evaluated::Allowed => ("allow", vec![], vec![]),
        Evaluated::NeedsApproval(denial) => ("needs_approval", vec![denial.into()], vec!["approval"]),
        Evaluated::Refused(reason) => ("deny", vec![reason], vec![]),
        // unknown and hidden: one branch
        Evaluated::Unknown => return Err(Failure::not_found(format!("There is no tool '{}'.", short(&tool)))),
    };
    Answer::of(&Verdict { effect, reasons, obligations })
}
