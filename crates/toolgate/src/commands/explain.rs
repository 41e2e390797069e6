//! `explain`: may this caller use this tool, and which rule says so.

use std::sync::Arc;

use serde_json::{json, value::RawValue};
use toolgate_core::{
    AskedFacts, Caller, Decision, Gate,
    explain::{Explanation, Listed, Outcome},
};
use toolgate_store::Store;

use super::print;
use crate::{
    CommandResult, Ending, Misuse,
    caller_facts::CallerFacts,
    cli::{Output, Place},
    ground::Ground,
};

pub async fn run(
    place: &Place,
    tool: &str,
    facts: &[String],
    dry_run: bool,
    arguments: Option<&str>,
    output: Output,
) -> CommandResult {
    let (gate, caller) = asked(place, facts).await?;
    let view = gate.view(&caller).ok_or("this caller can't be put to the rulebook")?;
    let Some(mut explanation) = gate.explain(&view, &caller, tool, dry_run, gate.lang()) else {
        return Err(gate.catalog().not_registered(tool).into());
    };
    if let Some(arguments) = arguments {
        with_arguments(&gate, &caller, &mut explanation, dry_run, arguments)?;
    }
    print(output, &json!({"caller": caller, "explanation": explanation}), &text(&explanation))?;
    Ok(if explanation.outcome == Outcome::Allow { Ending::Good } else { Ending::No })
}

/// The gate with what the store says of tools, and the caller with what it says of the user, the tenant and the task.
async fn asked(place: &Place, facts: &[String]) -> Result<(Arc<Gate>, Caller), Misuse> {
    let facts = CallerFacts::from_pairs(facts)?;
    let mut caller = facts.caller()?;
    let look_up = async |store: &Store| Ok((facts.tenant_of_store(store).await?, facts.task_of_store(store).await?));
    let (gate, stored) = Ground::of(place)?.stored_gate(look_up).await?;
    let (tenant, task) = stored.unwrap_or_default();
    caller.tenant = tenant.or(caller.tenant);
    caller.task = task.or(caller.task);
    Ok((gate, caller))
}

/// Whether the caller may approve a call that somebody asked for, in the caller's own tenant.
pub async fn approving(place: &Place, tool: &str, facts: &[String], asker: &str, output: Output) -> CommandResult {
    let (gate, caller) = asked(place, facts).await?;
    let Some(found) = gate.catalog().find(tool) else { return Err(gate.catalog().not_registered(tool).into()) };
    let person = caller.person();
    let asked = AskedFacts {
        asker,
        tenant: caller.tenant.as_ref().map(|tenant| tenant.id.as_str()),
        flow: None,
        owner: asker == caller.principal() || person.is_some_and(|person| asker.split(' ').any(|part| part == person)),
        four_eyes: found.facts.four_eyes,
        wide: false,
        at_client: false,
    };
    let (ending, outcome, reason) = match gate.decide_approve(&caller, found.name.as_str(), &asked, gate.lang()) {
        Decision::Allow => (Ending::Good, "may approve", None),
        Decision::Deny(denial) | Decision::NeedsApproval(denial) => (Ending::No, "may not approve", Some(denial)),
    };
    let mut text = format!("{}: {outcome} what '{asker}' asked for\n", found.name);
    if let Some(reason) = &reason {
        text.push_str(&format!("  {} ({})\n", reason.message, reason.code));
        text.extend(reason.remedy.iter().map(|remedy| format!("  {remedy}\n")));
    }
    let value = json!({"caller": caller, "tool": found.name, "asked_by": asker, "approves": reason.is_none(), "reason": reason});
    print(output, &value, &text)?;
    Ok(ending)
}

/// The rules over arguments have a say only where all others let the call pass.
fn with_arguments(
    gate: &Gate,
    caller: &Caller,
    explanation: &mut Explanation,
    dry_run: bool,
    arguments: &str,
) -> Result<(), Misuse> {
    let arguments =
        RawValue::from_string(arguments.to_owned()).map_err(|fault| format!("--arguments is no JSON: {fault}"))?;
    let (Some(view), Some(tool)) = (gate.view(caller), gate.catalog().find(&explanation.tool)) else { return Ok(()) };
    if explanation.outcome == Outcome::Deny {
        return Ok(());
    }
    let (outcome, denial) =
        match gate.decide_arguments(&view, caller, tool, (false, dry_run), Some(&arguments), gate.lang()) {
            Decision::Allow => return Ok(()),
            Decision::NeedsApproval(denial) => (Outcome::NeedsApproval, denial),
            Decision::Deny(denial) => (Outcome::Deny, denial),
        };
    for condition in explanation.conditions.iter_mut().filter(|condition| condition.rule == denial.rule) {
        condition.passed = false;
    }
    explanation.outcome = outcome;
    explanation.reason = Some(denial);
    Ok(())
}

fn text(explanation: &Explanation) -> String {
    let outcome = match explanation.outcome {
        Outcome::Allow => "allowed",
        Outcome::NeedsApproval => "needs approval",
        Outcome::Deny => "denied",
    };
    let listed = match explanation.listed {
        Listed::Yes => "listed",
        Listed::Marked => "listed, marked as not callable",
        Listed::No => "not listed",
    };
    let mut text = format!("{}: {outcome}, {listed}\n", explanation.tool);
    if let Some(reason) = &explanation.reason {
        text.push_str(&format!("  {} ({})\n", reason.message, reason.code));
        text.extend(reason.remedy.iter().map(|remedy| format!("  {remedy}\n")));
    }
    if explanation.hidden {
        text.push_str("  hidden: a call is answered as for an unknown tool\n");
    }
    text.push_str(&format!("  source: {}\n", explanation.source));
    for condition in &explanation.conditions {
        let mark = match (condition.passed, condition.on_arguments) {
            (false, _) => "fails",
            (true, true) => "with arguments",
            (true, false) => "passes",
        };
        text.push_str(&format!("  {mark:<15} {} ({})\n", condition.rule, condition.file));
    }
    text
}
