//! First step: the rulebook's yes.

use std::sync::Arc;

use serde_json::value::RawValue;
use toolgate_core::{Caller, Decision, Found, Kind, Lang, Tool, View};

use crate::{Client, House, Outcome, Resumed};

/// A call as the wire hands it over: of a tool, or of a prompt or resource, which take the same path.
#[derive(Debug)]
pub struct Call<'a> {
    pub kind: Kind,
    /// A tool's wire or canonical name, a prompt's name, a resource's address.
    pub name: &'a str,
    pub arguments: Option<&'a RawValue>,
    pub dry_run: bool,
    pub lang: Lang,
    pub client: Client,
    /// The answers to what an earlier try of this call wanted to know.
    pub resumed: Option<Resumed>,
}

impl<'a> Call<'a> {
    /// A plain one, for a client that hears and answers nothing.
    pub fn of(kind: Kind, name: &'a str, arguments: Option<&'a RawValue>, lang: Lang) -> Self {
        Self { kind, name, arguments, dry_run: false, lang, client: Client::default(), resumed: None }
    }
}

/// A call that every rule not over arguments allows.
pub struct Decided {
    pub(crate) house: Arc<House>,
    pub(crate) view: Arc<View>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) dry_run: bool,
    pub(crate) lang: Lang,
    pub(crate) client: Client,
    pub(crate) resumed: Option<Resumed>,
    /// The name that was asked for: an address where the tool is a pattern of addresses.
    pub(crate) asked: String,
    // INVARIANT: made only by `decide`
    _by_decide: (),
}

impl Decided {
    pub(crate) fn decide(house: &Arc<House>, caller: &Arc<Caller>, call: &Call<'_>) -> Result<Self, Box<Outcome>> {
        let Some(view) = house.gate.view(caller) else { return Err(Box::new(Outcome::Unknown)) };
        // approvals are granted elsewhere; a client's word alone is never one
        let approved = false;
        let found = house.gate.find_any(&view, caller, (call.kind, call.name), (approved, call.dry_run), call.lang);
        let (tool, decision) = match found {
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
            client: call.client.clone(),
            resumed: call.resumed.clone(),
            asked: call.name.to_owned(),
            _by_decide: (),
        })
    }
}
