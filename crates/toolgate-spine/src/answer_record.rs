//! What the ledger is told of an answer to an approval: who said what, to which question, of whom.

use std::{sync::Arc, time::Instant};

use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_core::{
    Caller,
    redact::{Redactor, cut},
};
use toolgate_store::{
    Answer, AnswerFault, Approval,
    ledger::{Durability, Entry, Kind, LedgerUnavailable, Outcome},
};

use crate::{
    Books,
    books::{actor, call_id, now},
};

/// Longest of what the approver saw that is kept whole.
const SHOWN: usize = 8 << 10;

/// Who answers.
pub struct Approver<'a> {
    /// The name it is answered in.
    pub by: &'a str,
    pub who: &'a Caller,
    /// Digest of the rulebook that let it; empty where no rulebook was asked.
    pub rules: &'a str,
}

#[derive(Serialize)]
struct Said<'a> {
    approval: &'a str,
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uses: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    asked_by: &'a str,
    /// What the approver was shown.
    shown: Box<RawValue>,
}

/// One answer as the ledger has it.
pub(crate) struct AnswerRecord(Entry);

impl AnswerRecord {
    pub(crate) fn of(approval: &Approval, approver: &Approver<'_>, answer: &Answer) -> Self {
        let (word, uses, until, reason) = match answer {
            Answer::Grant { uses, until, .. } => ("yes", Some(*uses), Some(*until), None),
            Answer::GrantOnce { until, .. } => ("yes", Some(1), Some(*until), None),
            Answer::Deny { reason, .. } => ("no", None, None, reason.as_deref()),
        };
        let (bound, redactor) = (&approval.binding, Redactor::default());
        let shown = RawValue::from_string(cut(redactor.json(&approval.shown), SHOWN)).unwrap_or_default();
        let (approval, asked_by) = (approval.id.as_str(), bound.asked_by.as_str());
        let said = Said { approval, answer: word, uses, until, reason, asked_by, shown };
        let input = serde_json::to_string(&said).map(|said| redactor.json(&said));
        Self(Entry {
            kind: Kind::Answer,
            time: now(),
            call: call_id(now()),
            tool: bound.tool.as_str().into(),
            source: "".into(),
            principal: approver.by.into(),
            tenant: bound.tenant.as_deref().map(Into::into),
            flow: bound.flow.as_deref().map(Into::into),
            outcome: if matches!(answer, Answer::Deny { .. }) { Outcome::Denied } else { Outcome::Granted },
            asked: None,
            actor: actor(approver.who, None).into(),
            input: input.ok().and_then(|input| RawValue::from_string(input).ok()),
            approval: Some(approval.into()),
            plan: None,
            rule: None,
            code: None,
            result: None,
            revision: approver.rules.into(),
            duration_us: None,
        })
    }

    /// The answer was not the approver's to give. Nobody waits for this record, and a principal has so many a minute.
    pub(crate) fn not_allowed(self, books: &Books, code: &str, rule: Option<&str>) {
        if !books.refused_answers.takes(&self.0.principal, Instant::now()) {
            return;
        }
        let (code, rule) = (Some(code.into()), rule.map(Into::into));
        drop(books.ledger.submit(Entry { outcome: Outcome::Refused, code, rule, ..self.0 }, Durability::Ordered));
    }

    pub(crate) async fn said(&self, books: &Books) -> Result<(), LedgerUnavailable> {
        books.ledger.append(self.0.clone(), Durability::Durable).await.map(drop)
    }

    /// It was said, and does not count.
    pub(crate) async fn refused(self, books: &Books, fault: &AnswerFault) {
        let code: Arc<str> = fault.code().into();
        let entry = Entry { time: now(), outcome: Outcome::Refused, code: Some(code), input: None, ..self.0 };
        if let Err(unavailable) = books.ledger.append(entry, Durability::Durable).await {
            tracing::error!(%unavailable, "that an answer to an approval does not count could not be recorded");
        }
    }
}
