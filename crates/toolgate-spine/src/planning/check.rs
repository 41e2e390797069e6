//! A call that is planned: decided and fitted as any other, as far as its arguments are known.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolgate_core::{Caller, Denial, Kind, Lang, Tool};

use super::{PlanProblem, Reason, call::PlannedCall};
use crate::{Call, Decided, House};

pub(super) struct Checked {
    pub(super) tool: Arc<Tool>,
    /// Complete but for its references: bound arguments are in it, credentials are not.
    pub(super) arguments: Box<RawValue>,
    /// What a person must say yes to first.
    pub(super) needs: Option<Denial>,
}

/// Every call in order; the first that can't be is the problem.
pub(super) fn check(
    house: &Arc<House>,
    caller: &Arc<Caller>,
    calls: &[PlannedCall],
    lang: Lang,
) -> Result<Vec<Checked>, PlanProblem> {
    let checked = calls.iter().enumerate().map(|(index, call)| {
        one(house, caller, call, lang).map_err(|reason| PlanProblem::Step { step: index + 1, reason })
    });
    checked.collect()
}

pub(super) fn one(
    house: &Arc<House>,
    caller: &Arc<Caller>,
    planned: &PlannedCall,
    lang: Lang,
) -> Result<Checked, Reason> {
    let refused = |outcome: &crate::Outcome| {
        Reason::of(outcome, &planned.tool).unwrap_or_else(|| Reason::new("invalid_plan", "it can't be planned"))
    };
    let call = Call::of(Kind::Tool, &planned.tool, Some(&planned.arguments), lang);
    let decided = Decided::decide(house, caller, &call).map_err(|outcome| refused(&outcome))?;
    let tool = Arc::clone(&decided.tool);
    if house.sources.get(&tool.source).is_some_and(|source| !source.plannable(&tool)) {
        let what = format!("{} can't be a step of a plan; call it by itself", tool.called());
        return Err(Reason::new("not_plannable", what));
    }
    let fitted = decided.fitted(Some(&planned.arguments), &planned.unknown());
    let (decided, arguments) = fitted.map_err(|outcome| refused(&outcome))?;
    let needs = decided.needs.filter(|_| !decided.dry_run);
    Ok(Checked { tool, arguments, needs })
}
