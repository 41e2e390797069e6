//! First step: the rulebook's yes.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolgate_core::{Caller, Decision, Found, Lang, Tool, View};

use crate::{House, Outcome, Progress};

/// A call as the wire hands it over.
#[derive(Debug)]
pub struct Call<'a> {
    /// Wire or canonical name.
    pub name: &'a str,
    pub arguments: Option<&'a RawValue>,
    pub dry_run: bool,
    pub lang: Lang,
    pub progress: Progress,
}

/// A call that every rule not over arguments allows.
pub struct Decided {
    pub(crate) house: Arc<House>,
    pub(crate) view: Arc<View>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) dry_run: bool,
    pub(crate) lang: Lang,
    pub(crate) progress: Progress,
    // INVARIANT: made only by `decide`
    _by_decide: (),
}

impl Decided {
    pub(crate) fn decide(house: &Arc<House>, caller: &Arc<Caller>, call: &Call<'_>) -> Result<Self, Box<Outcome>> {
        let Some(view) = house.gate.view(caller) else { return Err(Box::new(Outcome::Unknown)) };
        // approvals are granted elsewhere; a client's word alone is never one
        let approved = false;
        let (tool, decision) = match house.gate.find(&view, caller, call.name, approved, call.dry_run, call.lang) {
            Found::Nothing => return Err(Box::new(Outcome::Unknown)),
            Found::Tool { tool, decision } => (tool, decision),
        };
        match decision {
            Decision::Allow => {}
            Decision::NeedsApproval(denial) => return Err(Box::new(Outcome::NeedsApproval { tool, denial })),
            Decision::Deny(denial) if denial.code == "unbound_argument" => {
                let argument = tool.unbound(caller).next().unwrap_or_default().to_owned();
                return Err(Box::new(Outcome::Unbound { tool, argument }));
            }
            Decision::Deny(denial) => return Err(Box::new(Outcome::denied(tool, denial, caller))),
        }
        Ok(Self {
            house: Arc::clone(house),
            view,
            caller: Arc::clone(caller),
            tool,
            dry_run: call.dry_run,
            lang: call.lang,
            progress: call.progress.clone(),
            _by_decide: (),
        })
    }
}
