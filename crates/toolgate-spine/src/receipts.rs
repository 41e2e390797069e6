//! Every write leaves a receipt: what was done, by whom, who allowed it, and how to take it back.

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::{Caller, Lang, Tool, tool::Effect};
use toolgate_store::{Approval, NewReceipt, Receipt, StoreError, UndoKind, UndoRecord};

use crate::{
    Books, House, Outcome, Spine, Undo,
    answer::OUTCOME_UNKNOWN,
    books::{actor, now},
    noting::noted,
    planning::PlanLink,
    spine::unrecorded,
};

/// What a receipt is made from, beside the outcome.
pub(crate) struct Done<'a> {
    pub(crate) house: &'a House,
    pub(crate) caller: &'a Caller,
    pub(crate) tool: &'a Arc<Tool>,
    pub(crate) call: &'a str,
    /// Redacted.
    pub(crate) input: &'a str,
    pub(crate) undo: &'a Undo,
    pub(crate) approval: Option<&'a Approval>,
    pub(crate) undoes: Option<&'a str>,
    /// The plan it belongs to.
    pub(crate) plan: Option<&'a str>,
}

/// What is known of a call once it ran.
pub(crate) struct After {
    pub(crate) undo: Undo,
    pub(crate) approval: Option<Box<Approval>>,
    /// The plan it is a step of.
    pub(crate) plan: Option<PlanLink>,
    pub(crate) lang: Lang,
}

impl Spine {
    /// The outcome of a write, its receipt named in it. A plan names the receipts of its steps itself.
    pub(crate) async fn with_receipt(
        &self,
        house: &House,
        caller: &Caller,
        tool: &Arc<Tool>,
        (call, input): (&str, &str),
        outcome: Outcome,
        After { undo, approval, plan: link, lang }: After,
    ) -> Outcome {
        let Some(books) = self.books.as_ref().filter(|_| tool.facts.effect == Effect::Write) else { return outcome };
        let plan = link.as_ref().map(|link| link.plan.as_str());
        let approval = approval.as_deref();
        let done = Done { house, caller, tool, call, input, undo: &undo, approval, undoes: None, plan };
        let linked = |receipt: &Receipt| link.iter().for_each(|link| link.left(receipt));
        let named = |result: &Bytes, receipt: &Receipt| match link {
            Some(_) => receipted(result, receipt),
            None => house.receipted(caller, result, receipt, lang),
        };
        match outcome {
            Outcome::Answered(result) if !is_error(&result) => match leave(books, &done, Some(&result)).await {
                Ok(receipt) => {
                    linked(&receipt);
                    Outcome::Answered(named(&result, &receipt))
                }
                Err(fault) => unrecorded(true, &fault),
            },
            Outcome::Refused { tool, code: OUTCOME_UNKNOWN, message, answer } => {
                let left = leave(books, &done, None).await;
                left.iter().for_each(linked);
                let answer = match left {
                    Ok(receipt) => {
                        let named = named(answer.bytes(), &receipt);
                        answer.with_bytes(named)
                    }
                    Err(_) => answer,
                };
                Outcome::Refused { tool, code: OUTCOME_UNKNOWN, message, answer }
            }
            outcome if outcome.may_have_taken_effect() => {
                leave(books, &done, None).await.iter().for_each(linked);
                outcome
            }
            outcome => outcome,
        }
    }
}

/// Why a call can't be undone whose tool does not say how, and the cure.
fn unsaid(tool: &str) -> String {
    format!(
        "the tool does not say how it is undone; the operator can, in toolgate.toml: [tools.\"{tool}\".undo] with tool = \"…\" and arguments = \"…\""
    )
}

/// `None` where it is not known what came of the call.
pub(crate) async fn leave(books: &Books, done: &Done<'_>, result: Option<&Bytes>) -> Result<Receipt, StoreError> {
    let (kind, why, record) = match done.undo {
        Undo::Native(record) => (UndoKind::Native, None, Some(UndoRecord::new(record.get().to_owned()))),
        Undo::Counterpart(call) => (UndoKind::Compensation, None, Some(UndoRecord::new(call.get().to_owned()))),
        Undo::Impossible(why) => (UndoKind::Impossible, Some(why.clone()), None),
        Undo::Unsaid => (UndoKind::Unknown, Some(unsaid(done.tool.name.as_str())), None),
    };
    let note = result.map(|result| noted(done.house, Some(done.tool), result));
    books
        .store
        .receipts()
        .add(NewReceipt {
            call_id: done.call.to_owned(),
            at: now(),
            principal: done.caller.principal(),
            actor: actor(done.caller, Some(done.tool)).get().to_owned(),
            tenant: done.caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
            flow: done.caller.flow.as_ref().map(|flow| flow.id.clone()),
            plan: done.plan.map(str::to_owned),
            tool: done.tool.name.to_string(),
            source: done.tool.source.to_string(),
            input: done.input.to_owned(),
            approval: done.approval.map(|approval| approval.id.clone()),
            approved_by: done.approval.and_then(|approval| approval.answered_by.clone()),
            result_digest: note.as_ref().map(|note| note.digest),
            summary: note.map(|note| note.summary).unwrap_or_default(),
            undo: toolgate_store::Undo { kind, why },
            undo_record: record,
            known: result.is_some(),
            undoes: done.undoes.map(str::to_owned),
        })
        .await
}

pub(crate) type RawObject = IndexMap<String, Box<RawValue>>;

/// A tool that failed did nothing that could be taken back.
pub(crate) fn is_error(result: &Bytes) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Result {
        #[serde(default)]
        is_error: bool,
    }
    // most results do not fail, and need not be read to know it
    if !says_error(result) {
        return false;
    }
    serde_json::from_slice::<Result>(result).is_ok_and(|result| result.is_error)
}

/// Whether `"isError": true` may stand anywhere, in any member, however its name is written.
fn says_error(result: &[u8]) -> bool {
    const NAME: &str = "\"isError\"";
    /// A letter of the name as an escape.
    const ESCAPED: [&str; 6] = ["69", "73", "45", "72", "6f", "6F"];
    let Ok(text) = std::str::from_utf8(result) else { return true };
    let is_escaped = |(at, escape): (usize, &str)| {
        let letter = text.get(at + escape.len()..at + escape.len() + 2).unwrap_or_default();
        ESCAPED.contains(&letter)
    };
    if text.match_indices("\\u00").any(is_escaped) {
        return true;
    }
    text.match_indices(NAME).any(|(at, _)| {
        let value = text.get(at + NAME.len()..).unwrap_or_default().trim_start();
        value.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with('t'))
    })
}

pub(crate) fn receipted(result: &Bytes, receipt: &Receipt) -> Bytes {
    with_meta(result, "toolgate/receipt", &receipt.id)
}

/// The same result with a member of `_meta` put in, or put in another's place.
pub(crate) fn with_meta(result: &Bytes, key: &str, value: &str) -> Bytes {
    let named = || {
        let mut members: RawObject = serde_json::from_slice(result).ok()?;
        let mut meta: RawObject = match members.get("_meta") {
            Some(meta) => serde_json::from_str(meta.get()).ok()?,
            None => RawObject::new(),
        };
        meta.insert(key.to_owned(), to_raw_value(value).ok()?);
        members.insert("_meta".to_owned(), to_raw_value(&meta).ok()?);
        serde_json::to_vec(&members).ok()
    };
    named().map_or_else(|| result.clone(), Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_however_its_name_is_written() {
        for result in [
            r#"{"isError":true}"#,
            r#"{"content":[], "isError" : true}"#,
            r#"{"is\u0045rror":true}"#,
            r#"{"\u0069\u0073\u0045\u0072\u0072\u006F\u0072":true}"#,
        ] {
            assert!(is_error(&Bytes::from_static(result.as_bytes())), "{result}");
        }
        for result in [
            r#"{"isError":false}"#,
            r#"{"content":[{"text":"\"isError\":true"}]}"#,
            r#"{"structuredContent":{"is\u0045rror":true}}"#,
            r#"{"content":[{"text":"is\u0045rror"}]}"#,
        ] {
            assert!(!is_error(&Bytes::from_static(result.as_bytes())), "{result}");
        }
    }
}
