//! `approvals show`: one approval with everything that its approver needs.

use serde_json::{Value, json};
use toolgate_spine::approval_json;
use toolgate_store::Approval;

use super::answer::find;
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    commands::{
        books::{block, field, json, line, store},
        print, when,
    },
};

pub async fn run(place: &Place, id: &str, output: Output) -> CommandResult {
    let store = store(place).await?;
    let found = find(&store, id).await;
    store.close().await;
    let Some(approval) = found? else {
        let text = format!("no approval has the id '{}'; see them all: toolgate approvals list\n", line(id));
        print(output, &json!({"id": id, "found": false}), &text)?;
        return Ok(Ending::No);
    };
    print(output, &approval_json(&approval), &text(&approval))?;
    Ok(Ending::Good)
}

/// The approval for people: the tool is the one that the approval is bound to, the rest is what was kept for its approver.
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
    if let Some(rule) = shown.get("rule").and_then(Value::as_str) {
        field(&mut text, "rule", rule);
    }
    for (name, part) in shown.as_object().into_iter().flatten() {
        if !matches!(name.as_str(), "tool" | "arguments" | "why" | "rule") {
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
