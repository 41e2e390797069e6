//! `receipts list|show`: what every write left behind.

use serde_json::{Value, json};
use toolgate_core::hex;
use toolgate_spine::arguments_summary;
use toolgate_store::{IdKind, Receipt, ReceiptFilter, Scope, UndoKind};

use super::{
    books::{SUMMARY, block, ended, field, gathered, json, line, note_cut, store},
    print,
    short_id::whole_id,
    table::table,
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
    let text = if found.is_empty() {
        "There are no such receipts.\n".to_owned()
    } else {
        table(["RECEIPT", "STATE", "TIME", "TOOL", "BY", "UNDO", "ARGUMENTS"], found.iter().map(cells))
    };
    print(output, &found.iter().map(value).collect::<Vec<_>>(), &text)?;
    note_cut(more, limit);
    Ok(Ending::Good)
}

fn cells(receipt: &Receipt) -> [String; 7] {
    [
        receipt.id.clone(),
        receipt.state.as_str().to_owned(),
        when::second(receipt.at),
        receipt.tool.clone(),
        receipt.principal.clone(),
        undo_word(receipt).to_owned(),
        arguments_summary(&json(&receipt.input), SUMMARY),
    ]
}

/// Whether what was done can be undone.
fn undo_word(receipt: &Receipt) -> &'static str {
    match receipt.undo.kind {
        _ if receipt.undone_by.is_some() => "undone",
        UndoKind::Native | UndoKind::Compensation => "possible",
        UndoKind::Impossible => "impossible",
        UndoKind::Unknown => "not known",
    }
}

/// How what was done is undone, for people.
fn undo_text(kind: UndoKind) -> &'static str {
    match kind {
        UndoKind::Native => "possible, by the tool itself",
        UndoKind::Compensation => "possible, by another call",
        UndoKind::Impossible => "impossible",
        UndoKind::Unknown => "not known",
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
    field(&mut text, "at", when::told(receipt.at));
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
    field(&mut text, "undo", format!("{}{why}", undo_text(receipt.undo.kind)));
    for (name, known) in [("undone by", &receipt.undone_by), ("undoes", &receipt.undoes)] {
        known.iter().for_each(|known| field(&mut text, name, known));
    }
    text
}
