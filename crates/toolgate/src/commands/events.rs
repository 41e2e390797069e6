//! `events`: what a caller noted with `events.log`, as the operator sees it.

use serde_json::{Value, json};
use toolgate_store::Event;

use super::{books, print, table::table, when};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
};

pub async fn run(principal: &str, limit: u32, place: &Place, output: Output) -> CommandResult {
    let store = books::store(place).await?;
    let events = store.events(principal).newest(i64::from(limit)).await?;
    store.close().await;
    let text = if events.is_empty() {
        format!("'{}' noted nothing.\n", books::line(principal))
    } else {
        table(["TIME", "NAME", "FLOW", "PAYLOAD"], events.iter().map(cells))
    };
    print(output, &events.iter().map(event_json).collect::<Vec<_>>(), &text)?;
    Ok(Ending::Good)
}

fn cells(event: &Event) -> [String; 4] {
    let flow = event.flow.clone().unwrap_or_default();
    [when::second(event.at), event.name.clone(), flow, event.payload.clone()]
}

fn event_json(event: &Event) -> Value {
    json!({"at": when::show(event.at), "principal": event.principal, "flow": event.flow, "name": event.name,
        "payload": books::json(&event.payload)})
}
