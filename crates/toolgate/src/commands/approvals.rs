//! `approvals list|show|approve|deny`: what waits for a person's yes, and the operator's answer.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_store::{Answer, AnswerFault, Approval, ApprovalFilter, ApprovalState, Paging, Scope};

use super::{
    books::{block, ended, field, hex, json, line, note_cut, store},
    print, when,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{ApprovalsCommand, Output, Place},
    ground,
};

/// How long a yes holds where nobody said.
const HOLDS: Duration = Duration::from_secs(60 * 60);

pub async fn run(command: ApprovalsCommand) -> CommandResult {
    ended(match command {
        ApprovalsCommand::List { state, flow, by, limit, place, output } => {
            let filter = ApprovalFilter { state, flow, asked_by: by, owner: None };
            list(&place, &filter, limit, output).await
        }
        ApprovalsCommand::Show { id, place, output } => show(&place, &id, output).await,
        ApprovalsCommand::Approve { id, by, until, place, output } => {
            approve(&place, &id, by, until.as_deref(), output).await
        }
        ApprovalsCommand::Deny { id, by, reason, place, output } => {
            let answer = Answer::Deny { by: operator(by)?, reason };
            let store = store(&place).await?;
            let answered = store.approvals().answer(&Scope::Everything, &id, answer, ground::now()).await;
            store.close().await;
            report(&id, answered, output)
        }
    })
}

async fn list(place: &Place, filter: &ApprovalFilter, limit: u32, output: Output) -> CommandResult {
    let store = store(place).await?;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let left = limit.saturating_sub(u32::try_from(found.len())?);
        let paging = Paging { limit: left, after };
        let page = store.approvals().list(&Scope::Everything, filter, ground::now(), &paging).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() || found.len() >= usize::try_from(limit)? {
            break;
        }
    }
    store.close().await;
    let mut text = String::new();
    for approval in &found {
        text.push_str(&format!(
            "{}  {:<7}  {}  {}  by {}\n",
            approval.id,
            approval.state.as_str(),
            when::show(approval.asked_at),
            line(&approval.binding.tool),
            line(&approval.binding.asked_by)
        ));
    }
    if found.is_empty() {
        text.push_str("There are no such approvals.\n");
    }
    print(output, &found.iter().map(value).collect::<Vec<_>>(), &text)?;
    note_cut(after.is_some(), limit);
    Ok(Ending::Good)
}

async fn show(place: &Place, id: &str, output: Output) -> CommandResult {
    let store = store(place).await?;
    let found = store.approvals().get(&Scope::Everything, id, ground::now()).await?;
    store.close().await;
    let Some(approval) = found else {
        let text = format!("no approval has the id '{}'; see them all: toolgate approvals list\n", line(id));
        print(output, &json!({"id": id, "found": false}), &text)?;
        return Ok(Ending::No);
    };
    print(output, &value(&approval), &text(&approval))?;
    Ok(Ending::Good)
}

async fn approve(place: &Place, id: &str, by: Option<String>, until: Option<&str>, output: Output) -> CommandResult {
    let by = operator(by)?;
    let holds = until.map(ground::duration).transpose()?;
    let store = store(place).await?;
    let (now, approvals) = (ground::now(), store.approvals());
    let answered = match approvals.get(&Scope::Everything, id, now).await? {
        None => Err(AnswerFault::Unknown { id: id.chars().take(100).collect() }),
        Some(asked) => {
            let end = now.saturating_add(i64::try_from(holds.unwrap_or(HOLDS).as_millis())?);
            // Who names no time means no more than what was asked for.
            let until = asked.wide.filter(|_| holds.is_none()).map_or(end, |wide| end.min(wide.until));
            let uses = asked.wide.map_or(1, |wide| wide.uses);
            approvals.answer(&Scope::Everything, id, Answer::Grant { by, uses, until }, now).await
        }
    };
    store.close().await;
    report(id, answered, output)
}

/// The command line is the operator's; the name says which of them.
pub fn operator(by: Option<String>) -> Result<String, Misuse> {
    let name = match by {
        Some(name) if name.trim().is_empty() || name.chars().any(char::is_control) => {
            return Err("--by needs a name, without control characters".into());
        }
        Some(name) => name,
        None => std::env::var("USER").ok().filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "operator".into()),
    };
    Ok(format!("operator:{name}"))
}

fn report(id: &str, answered: Result<Approval, AnswerFault>, output: Output) -> CommandResult {
    match answered {
        Ok(approval) => {
            let by = approval.answered_by.as_deref().unwrap_or_default();
            let text = match approval.state {
                ApprovalState::Granted => {
                    let uses = if approval.uses_left == 1 { "once" } else { &format!("{} times", approval.uses_left) };
                    format!(
                        "{} is granted by {}: {uses}, until {}\n",
                        approval.id,
                        line(by),
                        when::show(approval.expires)
                    )
                }
                state => format!("{} is {state} by {}\n", approval.id, line(by)),
            };
            print(output, &value(&approval), &text)?;
            Ok(Ending::Good)
        }
        Err(AnswerFault::Store(fault)) => Err(fault.into()),
        Err(fault) => {
            let value = json!({"id": id, "answered": false, "code": code(&fault), "message": fault.to_string()});
            print(output, &value, &format!("{}\n", line(&fault)))?;
            Ok(Ending::No)
        }
    }
}

/// What programs read.
fn code(fault: &AnswerFault) -> &'static str {
    match fault {
        AnswerFault::Unknown { .. } => "unknown",
        AnswerFault::Answered { .. } => "answered",
        AnswerFault::Expired { .. } => "expired",
        AnswerFault::Ended { .. } => "ended",
        AnswerFault::NotOwner { .. } => "not_owner",
        AnswerFault::FourEyes { .. } => "four_eyes",
        AnswerFault::TooWide { .. } => "too_wide",
        AnswerFault::Over { .. } => "over",
        AnswerFault::Store(_) => "store",
    }
}

fn value(approval: &Approval) -> Value {
    let bound = &approval.binding;
    json!({
        "id": approval.id, "state": approval.state.as_str(), "tool": bound.tool, "shown": json(&approval.shown),
        "asked_by": bound.asked_by, "owner": approval.owner, "tenant": bound.tenant, "flow": bound.flow,
        "asked_at": approval.asked_at, "expires": approval.expires, "four_eyes": approval.four_eyes,
        "uses_left": approval.uses_left,
        "wide": approval.wide.map(|wide| json!({"uses": wide.uses, "until": wide.until})),
        "answered_by": approval.answered_by, "answered_at": approval.answered_at, "reason": approval.reason,
        "tool_digest": hex(&bound.tool_digest), "arguments_digest": hex(&bound.arguments_digest),
        "rulebook_digest": hex(&bound.rulebook_digest),
    })
}

/// What will run comes from what the caller was bound to; the rest is what the approver was meant to see.
fn text(approval: &Approval) -> String {
    let (bound, mut text) = (&approval.binding, String::new());
    let shown = json(&approval.shown);
    field(&mut text, "approval", &approval.id);
    field(&mut text, "state", approval.state);
    field(&mut text, "tool", &bound.tool);
    match &approval.wide {
        Some(wide) => {
            let what = format!("any, up to {} times until {}", wide.uses, when::show(wide.until));
            field(&mut text, "arguments", what);
            block(&mut text, "this call", shown.get("arguments").unwrap_or(&shown));
        }
        None => block(&mut text, "arguments", shown.get("arguments").unwrap_or(&shown)),
    }
    if let Some(why) = shown.get("why").and_then(Value::as_str) {
        field(&mut text, "why", why);
    }
    for (name, part) in shown.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "tool" | "arguments" | "why") {
            block(&mut text, &line(name), part);
        }
    }
    field(&mut text, "asked by", &bound.asked_by);
    field(&mut text, "owner", &approval.owner);
    for (name, known) in [("tenant", &bound.tenant), ("flow", &bound.flow)] {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    field(&mut text, "asked at", when::show(approval.asked_at));
    let until = if approval.answered_by.is_some() { "good until" } else { "answer by" };
    field(&mut text, until, when::show(approval.expires));
    if approval.four_eyes {
        field(&mut text, "four eyes", "neither who asked nor the owner can grant it");
    }
    if let Some(by) = &approval.answered_by {
        field(&mut text, "answered by", by);
        approval.answered_at.iter().for_each(|at| field(&mut text, "answered at", when::show(*at)));
        approval.reason.iter().for_each(|reason| field(&mut text, "reason", reason));
        field(&mut text, "uses left", approval.uses_left);
    }
    text
}
