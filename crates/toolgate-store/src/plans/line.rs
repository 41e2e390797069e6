//! A plan as rows: one for each step, with the plan's own columns in each.

use super::{Plan, PlanState, Step, StepState};
use crate::{
    error::Fault,
    statement::{FromRow, Row},
};

/// A plan with one of its steps.
pub(super) struct Line(Plan);

/// Lines of the same plan, which follow each other, become one plan.
pub(super) fn fold(lines: Vec<Line>) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for Line(mut line) in lines {
        match plans.last_mut() {
            Some(plan) if plan.id == line.id => plan.steps.append(&mut line.steps),
            _ => plans.push(line),
        }
    }
    plans
}

impl FromRow for Line {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Line(Plan {
            id: row.text()?,
            name: row.maybe_text()?,
            owner: row.text()?,
            tenant: row.maybe_text()?,
            flow: row.maybe_text()?,
            calls: row.maybe_text()?.unwrap_or_default(),
            digest: row.digest()?,
            state: PlanState::from_cell(row)?,
            approval: row.maybe_text()?,
            executor: row.maybe_text()?,
            created: row.int()?,
            steps: vec![Step {
                index: row.count()?,
                state: StepState::from_cell(row)?,
                receipt: row.maybe_text()?,
                result: row.maybe_text()?,
            }],
        }))
    }
}
