//! `plans list|show`: lists of calls that are approved and run as one, and how far each is.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_spine::{PlanShown, SpineDoor, plan_for_operator};
use toolgate_store::{IdKind, Plan, PlanFilter, Scope, StepState};

use super::{
    books::{block, ended, field, gathered, line, note_cut, store},
    print,
    short_id::whole_id,
    table::table,
    when,
};
use crate::{
    CommandResult, Ending,
    catalog::Catalog,
    cli::{Output, Place, PlansCommand},
    ground::Ground,
    raise,
    upstreams::Upstreams,
};

pub async fn run(command: PlansCommand) -> CommandResult {
    ended(match command {
        PlansCommand::List { state, flow, limit, place, output } => {
            list(&place, &PlanFilter { state, flow }, limit, output).await
        }
        PlansCommand::Show { id, place, output } => show(&place, &id, output).await,
    })
}

async fn list(place: &Place, filter: &PlanFilter, limit: u32, output: Output) -> CommandResult {
    let store = store(place).await?;
    let list = async |paging| store.plans().list(&Scope::Everything, filter, &paging).await;
    let (found, more) = gathered(limit, list).await?;
    store.close().await;
    let text = if found.is_empty() {
        "There are no such plans.\n".to_owned()
    } else {
        table(["PLAN", "STATE", "PROPOSED", "STEPS", "BY", "NAME"], found.iter().map(cells))
    };
    print(output, &found.iter().map(value).collect::<Vec<_>>(), &text)?;
    note_cut(more, limit);
    Ok(Ending::Good)
}

fn cells(plan: &Plan) -> [String; 6] {
    [
        plan.id.clone(),
        plan.state.as_str().to_owned(),
        when::second(plan.created),
        format!("{} of {} done", done(plan), plan.steps.len()),
        plan.owner.clone(),
        plan.name.clone().unwrap_or_default(),
    ]
}

fn done(plan: &Plan) -> usize {
    plan.steps.iter().filter(|step| step.state == StepState::Done).count()
}

fn value(plan: &Plan) -> Value {
    json!({
        "id": plan.id, "state": plan.state.as_str(), "name": plan.name, "created": plan.created,
        "owner": plan.owner, "tenant": plan.tenant, "flow": plan.flow, "approval": plan.approval,
        "steps": plan.steps.len(), "done": done(plan),
    })
}

async fn show(place: &Place, id: &str, output: Output) -> CommandResult {
    let ground = Ground::of(place)?;
    let store = store(place).await?;
    let id = &whole_id(&store, IdKind::Plan, id).await?;
    // the tools as far as they are known here say what of their arguments is secret
    let lock = ground.lock_file().read()?;
    let (upstreams, door) = (Upstreams::default(), Arc::<SpineDoor>::default());
    let house = raise::house(&ground, &lock, &store, &upstreams, &Catalog::default(), &door)?;
    let found = plan_for_operator(&house, &store, id).await;
    store.close().await;
    let Some((plan, shown)) = found? else {
        let text = format!("no plan has the id '{}'; see them all: toolgate plans list\n", line(id));
        print(output, &json!({"id": id, "found": false}), &text)?;
        return Ok(Ending::No);
    };
    let mut whole = value(&plan);
    if let Some(members) = whole.as_object_mut() {
        members.insert("approved_by".to_owned(), json!(shown.approved_by));
        members.insert("steps".to_owned(), serde_json::to_value(&shown.steps)?);
    }
    print(output, &whole, &text(&plan, &shown))?;
    Ok(Ending::Good)
}

fn text(plan: &Plan, shown: &PlanShown) -> String {
    let mut text = String::new();
    field(&mut text, "plan", &plan.id);
    field(&mut text, "state", plan.state);
    plan.name.iter().for_each(|name| field(&mut text, "name", name));
    field(&mut text, "proposed", when::told(plan.created));
    field(&mut text, "by", &plan.owner);
    let rest = [
        ("tenant", &plan.tenant),
        ("flow", &plan.flow),
        ("approval", &plan.approval),
        ("approved by", &shown.approved_by),
    ];
    for (name, known) in rest {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    for step in &shown.steps {
        let receipt = step.receipt.as_deref().map(|receipt| format!("  {receipt}")).unwrap_or_default();
        field(&mut text, &format!("step {}", step.step), format!("{:<7}  {}{receipt}", step.state, step.tool));
        block(&mut text, "  arguments", &super::books::json(step.arguments.get()));
        step.reason.iter().for_each(|reason| field(&mut text, "  because", &reason.message));
    }
    text
}
