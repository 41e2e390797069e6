//! Previewing: a dry run of every step in order. Nothing has an effect, so each sees the world as it is now.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use tokio::time::{Instant, timeout_at};
use toolgate_core::{Caller, Kind, Lang, redact::cut};

use super::{
    PlanProblem, Reason,
    call::{self, PlannedCall},
    check, plan_of,
    show::redacted,
    step::{content_text, member_text},
};
use crate::{Call, Decided, House, Outcome, Spine, answer::said, exact_numbers::exact_value, receipts::is_error};

const SHOWN: usize = 8 << 10;
/// How long previews of all steps may take, while the caller waits for the question to be asked.
const APPROVER_WITHIN: Duration = Duration::from_secs(5);

#[derive(Debug, Serialize)]
pub struct PlanPreview {
    pub plan: String,
    pub state: &'static str,
    /// Whether executing asks a person first.
    pub needs_approval: bool,
    pub steps: Vec<StepPreview>,
}

#[derive(Debug, Serialize)]
pub struct StepPreview {
    /// Counted from 1.
    pub step: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub tool: String,
    pub arguments: Box<RawValue>,
    pub needs_approval: bool,
    pub preview: Kinds,
    /// What the tool itself says that it would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// And what it says beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<RawValue>>,
    /// The earlier steps whose results it takes.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub waits_for: BTreeSet<usize>,
    /// Why it would not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// What an approver is shown of a step, beside the call itself.
#[derive(Serialize)]
struct ApproverPreview {
    kind: Kinds,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    waits_for: BTreeSet<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

/// How much a preview knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinds {
    /// The tool said what it would do.
    Native,
    /// The tool can't say: the call as it would be made.
    Static,
    /// Some arguments come from steps that have not run.
    NotYetKnown,
    /// It would not run.
    Refused,
}

impl Spine {
    pub async fn preview_plan(&self, caller: &Arc<Caller>, id: &str, lang: Lang) -> Result<PlanPreview, PlanProblem> {
        let books = self.plan_books()?;
        let plan = plan_of(books, caller, id).await?;
        let caller = &self.within_flow_of(caller, &plan).await?;
        let house = self.house();
        let mut steps = Vec::new();
        for (index, call) in call::kept(&plan)?.iter().enumerate() {
            steps.push(self.step_preview(&house, caller, (index, call), lang).await);
        }
        let needs_approval = steps.iter().any(|step| step.needs_approval);
        Ok(PlanPreview { plan: plan.id, state: plan.state.as_str(), needs_approval, steps })
    }

    /// What each step would do, for who is asked to approve the plan; as many as there is time for. The steps themselves are
    /// neither counted nor recorded, since nobody called them. A tool that shows what a step would do (the attribute
    /// `preview`) is called for it, and that call is counted and recorded as any.
    pub(super) async fn previews_for_approver(
        &self,
        house: &Arc<House>,
        caller: &Arc<Caller>,
        calls: &[PlannedCall],
        lang: Lang,
    ) -> Vec<Value> {
        let until = Instant::now() + APPROVER_WITHIN;
        let mut previews = Vec::new();
        for call in calls {
            let waits_for: BTreeSet<usize> = call.references.iter().map(|reference| reference.from + 1).collect();
            let told = if waits_for.is_empty() {
                match timeout_at(until, self.looked_at(house, caller, call, lang)).await {
                    Ok(outcome) => Told::by(house, call, &outcome),
                    Err(_) => break,
                }
            } else {
                Told::of(Kinds::NotYetKnown)
            };
            let Told { kind, result, details, reason } = told;
            let shown = ApproverPreview { kind, result, details, waits_for, reason };
            previews.push(exact_value(&serde_json::to_string(&shown).unwrap_or_default()));
        }
        previews
    }

    async fn looked_at(&self, house: &Arc<House>, caller: &Arc<Caller>, call: &PlannedCall, lang: Lang) -> Outcome {
        let made = Call { dry_run: true, ..Call::of(Kind::Tool, &call.tool, Some(&call.arguments), lang) };
        let decided = match Decided::decide(house, caller, &made) {
            Ok(decided) => decided,
            Err(outcome) => return *outcome,
        };
        let tool = Arc::clone(&decided.tool);
        let Some(source) = house.sources.get(&tool.source).cloned() else { return Outcome::Unknown };
        match decided.previewed(Some(&call.arguments)) {
            Ok(previewed) => Box::pin(self.preview(house, caller, &tool, &*source, &previewed)).await,
            Err(outcome) => *outcome,
        }
    }

    async fn step_preview(
        &self,
        house: &Arc<House>,
        caller: &Arc<Caller>,
        (index, call): (usize, &PlannedCall),
        lang: Lang,
    ) -> StepPreview {
        let checked = check::one(house, caller, call, lang);
        let needs_approval = checked.as_ref().is_ok_and(|checked| checked.needs.is_some());
        let waits_for: BTreeSet<usize> = call.references.iter().map(|reference| reference.from + 1).collect();
        let told = match checked {
            Err(reason) => Told::refused(Some(reason)),
            Ok(_) if !waits_for.is_empty() => Told::of(Kinds::NotYetKnown),
            Ok(_) => {
                let made = Call { dry_run: true, ..Call::of(Kind::Tool, &call.tool, Some(&call.arguments), lang) };
                Told::by(house, call, &Box::pin(self.call(caller, made)).await)
            }
        };
        StepPreview {
            step: index + 1,
            id: call.id.clone(),
            tool: call.tool.clone(),
            arguments: redacted(house, call),
            needs_approval,
            preview: told.kind,
            result: told.result,
            details: told.details,
            waits_for,
            reason: told.reason,
        }
    }
}

struct Told {
    kind: Kinds,
    result: Option<Box<RawValue>>,
    details: Option<Box<RawValue>>,
    reason: Option<Reason>,
}

impl Told {
    fn of(kind: Kinds) -> Self {
        Self { kind, result: None, details: None, reason: None }
    }

    fn refused(reason: Option<Reason>) -> Self {
        Self { reason, ..Self::of(Kinds::Refused) }
    }

    fn by(house: &House, call: &PlannedCall, outcome: &Outcome) -> Self {
        let result = match outcome {
            Outcome::Answered(result) if !is_error(result) => result,
            Outcome::Answered(result) => {
                let said = said(result).unwrap_or_else(|| "the tool failed".to_owned());
                return Self::refused(Some(Reason::new("tool_failed", said)));
            }
            outcome => return Self::refused(Reason::of(outcome, &call.tool)),
        };
        let whole: Value = serde_json::from_slice(result).unwrap_or_default();
        if whole.pointer("/_meta/toolgate~1dryRun").and_then(Value::as_str) == Some("static") {
            // the arguments are all it says
            return Self::of(Kinds::Static);
        }
        let guard = house.gate.catalog().find(&call.tool).and_then(|tool| house.guard(tool));
        let redactor = guard.map_or(&house.plain, |guard| &guard.redactor);
        let shown = |json: &str| to_raw_value(&exact_value(&cut(redactor.json(json), SHOWN))).ok();
        let details = member_text(result, &["_meta", "toolgate/preview"]).as_deref().and_then(shown);
        Self { result: shown(&content_text(result)), details, ..Self::of(Kinds::Native) }
    }
}
