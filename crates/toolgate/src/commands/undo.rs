//! `undo`: takes back what was done, in the operator's name. It is a call like any other: the gate decides it, the ledger has it,
//! and it leaves a receipt. A server may run on the same store meanwhile: each receipt is taken back by one of them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_spine::{Spine, TakenBack, UndoProblem};
use toolgate_store::{IdKind, Scope, Store};

use super::{
    books::{self, line},
    print,
    short_id::whole_id,
};
use crate::{
    CommandResult, Ending, Misuse, cli::UndoArgs, gateway_files::GatewayFiles, ground::Ground, operator,
    upstreams::Upstreams,
};

pub async fn run(mut asked: UndoArgs) -> CommandResult {
    let caller = operator::caller(asked.by.clone())?;
    let ground = operator::ground(&asked.place)?;
    let store = books::store(&asked.place).await?;
    let ended = async {
        for (kind, id) in [(IdKind::Receipt, &mut asked.receipt), (IdKind::Plan, &mut asked.plan)] {
            if let Some(id) = id {
                *id = whole_id(&store, kind, id).await?;
            }
        }
        taken_back(&ground, &store, &asked, &caller).await
    };
    let ended = books::ended(ended.await);
    store.close().await;
    ended
}

async fn taken_back(ground: &Ground, store: &Store, asked: &UndoArgs, operator: &Arc<Caller>) -> CommandResult {
    let mut upstreams = Upstreams::beside(GatewayFiles::of(ground)?);
    if needs_upstreams(ground, store, asked).await? {
        upstreams.follow(&ground.config).await?;
    }
    let spine = operator::spine(ground, store, &upstreams).await?;
    let report = undone(&spine, asked, operator).await;
    spine.drain().await;
    upstreams.stop().await;
    print(asked.output, &report.to_json(), &report.to_text())?;
    Ok(if report.failed.is_none() { Ending::Good } else { Ending::No })
}

/// Servers are started only for what they did themselves.
async fn needs_upstreams(ground: &Ground, store: &Store, asked: &UndoArgs) -> Result<bool, Misuse> {
    let Some(receipt) = &asked.receipt else { return Ok(!ground.config.upstreams.is_empty()) };
    let found = store.receipts().get(&Scope::Everything, receipt).await?;
    Ok(found.is_some_and(|receipt| !ground.config.packs.contains_key(receipt.source.as_str())))
}

struct Report {
    undone: Vec<String>,
    /// The receipt that could not be taken back, if it came to one, and why.
    failed: Option<(Option<String>, String)>,
}

async fn undone(spine: &Spine, asked: &UndoArgs, operator: &Arc<Caller>) -> Report {
    if let Some(plan) = &asked.plan {
        return match spine.undo_plan_as_operator(operator, plan, spine.gate().lang()).await {
            Ok(TakenBack { undone, failed, .. }) => Report { undone, failed },
            Err(problem) => Report { undone: Vec::new(), failed: Some((None, problem.to_string())) },
        };
    }
    let mut report = Report { undone: Vec::new(), failed: None };
    let receipts = match (&asked.receipt, &asked.flow) {
        (Some(receipt), _) => Ok(vec![receipt.clone()]),
        (None, flow) => spine.receipts_of_flow_as_operator(flow.as_deref().unwrap_or_default()).await,
    };
    let nothing = || UndoProblem::Refused("nothing of this flow can be taken back".to_owned());
    let receipts = receipts.and_then(|found| if found.is_empty() { Err(nothing()) } else { Ok(found) });
    let receipts = receipts.unwrap_or_else(|problem| {
        report.failed = Some((None, problem.to_string()));
        Vec::new()
    });
    for receipt in receipts {
        match spine.undo_as_operator(operator, &receipt, spine.gate().lang()).await {
            Ok(_) => report.undone.push(receipt),
            // what came before it may build on it, so that the rest stays
            Err(problem) => {
                report.failed = Some((Some(receipt), problem.to_string()));
                break;
            }
        }
    }
    report
}

impl Report {
    fn to_json(&self) -> Value {
        let failed = self.failed.iter().map(|(receipt, why)| json!({"receipt": receipt, "reason": why}));
        json!({"undone": self.undone, "failed": failed.collect::<Vec<_>>()})
    }

    fn to_text(&self) -> String {
        let mut text: String = self.undone.iter().map(|receipt| format!("{receipt} is undone.\n")).collect();
        if let Some((receipt, why)) = &self.failed {
            // most reasons name the receipt themselves
            let receipt = receipt.as_ref().filter(|receipt| !why.contains(receipt.as_str()));
            let receipt = receipt.map(|receipt| format!("{receipt}: ")).unwrap_or_default();
            text.push_str(&line(format!("{receipt}{why}")));
            text.push('\n');
        }
        text
    }
}
