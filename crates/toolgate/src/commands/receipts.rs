//! `receipts list|show`: what every write left behind.

use serde_json::{Value, json};
use toolgate_core::hex;
use toolgate_spine::arguments_summary;
use toolgate_store::{IdKind, Receipt, ReceiptFilter, Scope, UndoKind};

use super::{
    books::{SUMMARY, block, ended, field, gathered, json, line, note_cut, store},
    print,
    short_id::whole_id,
    when,
};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place, ReceiptsCommand},
};

pub async fn run(command: ReceiptsCommand) -> CommandResult {
    ended(match command {
        ReceiptsCommand::List { flow, tool, principal, state, limit, place, output } => {
            let filter = ReceiptFilter { principal, flow, tool, state, ..ReceiptFilter::default() };
            list(&place, &filter, limit, output).await
        }
        ReceiptsCommand::Show { id, place, output } => show(&place, &id, output).await,
    })
}

async fn list(place: &Place, filter: &ReceiptFilter, limit: u32, output: Output) -> CommandResult {
    let store = store(place).await?;
    let list = async |paging| store.receipts().list(&Scope::Everything, filter, &paging).await;
    let (found, more) = gathered(limit, list).await?;
    store.close().await;
    let mut text = String::new();
    for receipt in &found {
        text.push_str(&format!(
            "{}  {:<7}  {}  {}  by {}  {}  {}\n",
            receipt.id,
            receipt.state.as_str(),
            when::show(receipt.at),
            line(&receipt.tool),
            line(&receipt.principal),
            undo_word(receipt),
            arguments_summary(&json(&receipt.input), SUMMARY)
        ));
    }
    if found.is_empty() {
        text.push_str("There are no such receipts.\n");
    }
    print(output, &found.iter().map(value).collect::<Vec<_>>(), &text)?;
    note_cut(more, limit);
    Ok(Ending::Good)
}

/// Whether it can be taken back.
fn undo_word(receipt: &Receipt) -> &'static str {
    match receipt.undo.kind {
        _ if receipt.undone_by.is_some() => "undone",
        UndoKind::Native | UndoKind::Compensation => "can be undone",
        UndoKind::Impossible | UndoKind::Unknown => "can't be undone",
    }
}

async fn show(place: &Place, id: &str, output: Output) -> CommandResult {
    let store = store(place).await?;
    let id = &whole_id(&store, IdKind::Receipt, id).await?;
    let found = store.receipts().get(&Scope::Everything, id).await?;
    store.close().await;
    let Some(receipt) = found else {
        let text = format!("no receipt has the id '{}'; see them all: toolgate receipts list\n", line(id));
        print(output, &json!({"id": id, "found": false}), &text)?;
        return Ok(Ending::No);
    };
    print(output, &value(&receipt), &text(&receipt))?;
    Ok(Ending::Good)
}

fn value(receipt: &Receipt) -> Value {
    json!({
        "id": receipt.id, "state": receipt.state.as_str(), "at": receipt.at, "call": receipt.call_id,
        "tool": receipt.tool, "source": receipt.source, "input": json(&receipt.input),
        "principal": receipt.principal, "actor": json(&receipt.actor), "tenant": receipt.tenant,
        "flow": receipt.flow, "plan": receipt.plan, "approval": receipt.approval,
        "approved_by": receipt.approved_by, "summary": receipt.summary,
        "result_digest": receipt.result_digest.map(|digest| hex(&digest)),
        "undo": {"kind": receipt.undo.kind.as_str(), "why": receipt.undo.why, "began": receipt.undo_began},
        "undone_by": receipt.undone_by, "undoes": receipt.undoes,
    })
}

fn text(receipt: &Receipt) -> String {
    let mut text = String::new();
    field(&mut text, "receipt", &receipt.id);
    field(&mut text, "state", receipt.state);
    field(&mut text, "at", when::show(receipt.at));
    field(&mut text, "tool", format!("{} ({})", receipt.tool, receipt.source));
    block(&mut text, "input", &json(&receipt.input));
    field(&mut text, "result", &receipt.summary);
    field(&mut text, "call", &receipt.call_id);
    field(&mut text, "by", &receipt.principal);
    let rest = [
        ("tenant", &receipt.tenant),
        ("flow", &receipt.flow),
        ("plan", &receipt.plan),
        ("approval", &receipt.approval),
        ("approved by", &receipt.approved_by),
    ];
    for (name, known) in rest {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    let why = receipt.undo.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    field(&mut text, "undo", format!("{}{why}", receipt.undo.kind));
    for (name, known) in [("undone by", &receipt.undone_by), ("undoes", &receipt.undoes)] {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    text
}
