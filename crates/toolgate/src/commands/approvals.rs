//! `approvals list|show|approve|deny`: what waits for a person's yes, and the operator's answer.

use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_spine::{AnswerProblem, Approver, BookSettings, Books, Say, approval_json, arguments_summary};
use toolgate_store::{AnswerFault, Approval, ApprovalFilter, ApprovalState, Scope, Store};

use super::{
    books::{SUMMARY, block, ended, field, gathered, json, line, note_cut, store},
    print, serve, when,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{ApprovalsCommand, Output, Place},
    ground::{self, Ground},
};

pub async fn run(command: ApprovalsCommand) -> CommandResult {
    ended(match command {
        ApprovalsCommand::List { state, flow, by, limit, place, output } => {
            let filter = ApprovalFilter { state, flow, asked_by: by, owner: None };
            list(&place, &filter, limit, output).await
        }
        ApprovalsCommand::Show { id, place, output } => show(&place, &id, output).await,
        ApprovalsCommand::Approve { id, by, until, once, place, output } => {
            let holds = until.as_deref().map(ground::duration).transpose()?;
            say(&place, &id, operator(by)?, Say::Yes { once, holds }, output).await
        }
        ApprovalsCommand::Deny { id, by, reason, place, output } => {
            say(&place, &id, operator(by)?, Say::No { reason }, output).await
        }
    })
}

async fn list(place: &Place, filter: &ApprovalFilter, limit: u32, output: Output) -> CommandResult {
    let store = store(place).await?;
    let list = async |paging| store.approvals().list(&Scope::Everything, filter, ground::now(), &paging).await;
    let (found, more) = gathered(limit, list).await?;
    store.close().await;
    let mut text = String::new();
    for approval in &found {
        text.push_str(&format!(
            "{}  {:<7}  {}  {}  by {}  {}\n",
            approval.id,
            approval.state.as_str(),
            when::show(approval.asked_at),
            line(&approval.binding.tool),
            line(&approval.binding.asked_by),
            arguments_summary(json(&approval.shown).get("arguments").unwrap_or(&Value::Null), SUMMARY)
        ));
    }
    if found.is_empty() {
        text.push_str("There are no such approvals.\n");
    }
    print(output, &found.iter().map(approval_json).collect::<Vec<_>>(), &text)?;
    note_cut(more, limit);
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
    print(output, &approval_json(&approval), &text(&approval))?;
    Ok(Ending::Good)
}

async fn say(place: &Place, id: &str, by: String, say: Say, output: Output) -> CommandResult {
    let settings = serve::book_settings(&Ground::of(place)?.config)?;
    let store = store(place).await?;
    let answered = said(&store, settings, id, &by, say).await;
    store.close().await;
    report(id, answered?, output)
}

async fn said(
    store: &Store,
    settings: BookSettings,
    id: &str,
    by: &str,
    say: Say,
) -> Result<Result<Approval, AnswerProblem>, Misuse> {
    let Some(asked) = store.approvals().get(&Scope::Everything, id, ground::now()).await? else {
        return Ok(Err(AnswerFault::Unknown { id: id.chars().take(100).collect() }.into()));
    };
    let books = Books::open(store.clone(), settings).await?;
    let operator = Caller { operator: true, ..Caller::default() };
    // the command line is not asked about: no rulebook decides here
    let approver = Approver { by, who: &operator, rules: "" };
    let answered = books.answer(&Scope::Everything, &asked, &approver, say).await;
    books.ledger().close().await;
    Ok(answered)
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

fn report(id: &str, answered: Result<Approval, AnswerProblem>, output: Output) -> CommandResult {
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
            print(output, &approval_json(&approval), &text)?;
            Ok(Ending::Good)
        }
        Err(AnswerProblem::Fault(AnswerFault::Store(fault))) => Err(fault.into()),
        Err(problem) => {
            let code = match &problem {
                AnswerProblem::Denied(denial) => denial.code.as_str(),
                AnswerProblem::Fault(fault) => fault.code(),
                AnswerProblem::Unrecorded(_) => "unrecorded",
            };
            let value = json!({"id": id, "answered": false, "code": code, "message": problem.to_string()});
            print(output, &value, &format!("{}\n", line(&problem)))?;
            Ok(Ending::No)
        }
    }
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
            let flow = bound.flow.as_deref().unwrap_or_default();
            let until = when::show(wide.until);
            let what = format!("this tool with ANY arguments, up to {} times until {until} in flow {flow}", wide.uses);
            field(&mut text, "wide", what);
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
