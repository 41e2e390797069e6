//! First step: the rulebook's yes.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use toolgate_core::{Caller, Decision, Denial, Found, Kind, Lang, Tool, View};

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
    /// How long to wait for a person where one must say yes; absent: the answer says what to wait for.
    pub wait: Option<Duration>,
    /// The approval it comes back with: no other is used.
    pub approval: Option<&'a str>,
    /// How much more than this one call is to be approved, if more is.
    pub breadth: Option<Breadth>,
}

/// A wider approval than for one call: this tool in this flow with any arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breadth {
    pub uses: u32,
    /// From when it is asked for.
    pub lasts: Duration,
}

impl<'a> Call<'a> {
    /// A plain one, for a client that hears and answers nothing.
    pub fn of(kind: Kind, name: &'a str, arguments: Option<&'a RawValue>, lang: Lang) -> Self {
        let client = Client::default();
        Self {
            kind,
            name,
            arguments,
            dry_run: false,
            lang,
            client,
            resumed: None,
            wait: None,
            approval: None,
            breadth: None,
        }
    }
}

/// A call that every rule not over arguments allows.
#[derive(Clone)]
pub struct Decided {
    pub(crate) house: Arc<House>,
    pub(crate) view: Arc<View>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) dry_run: bool,
    /// Allowed, once somebody approves of it.
    pub(crate) needs: Option<Denial>,
    pub(crate) lang: Lang,
    pub(crate) client: Client,
    pub(crate) resumed: Option<Resumed>,
    pub(crate) wait: Option<Duration>,
    /// The name that was asked for: an address where the tool is a pattern of addresses.
    pub(crate) asked: String,
    // INVARIANT: made only by `decide`
    _by_decide: (),
}

impl Decided {
    pub(crate) fn decide(house: &Arc<House>, caller: &Arc<Caller>, call: &Call<'_>) -> Result<Self, Box<Outcome>> {
        let Some(view) = house.gate.view(caller) else { return Err(Box::new(Outcome::Unknown)) };
        // whether it is approved is asked later, once the call is complete: an approval is for this very call
        let approved = false;
        let found = house.gate.find_any(&view, caller, (call.kind, call.name), (approved, call.dry_run), call.lang);
        let (tool, decision) = match found {
            Found::Nothing => return Err(Box::new(Outcome::Unknown)),
            Found::Tool { tool, decision } => (tool, decision),
        };
        let mut needs = None;
        match decision {
            Decision::Allow => {}
            Decision::NeedsApproval(denial) => needs = Some(denial),
            Decision::Deny(denial) if denial.code == "unbound_argument" => {
                let argument = tool.unbound(caller).next().unwrap_or_default().to_owned();
                return Err(Box::new(Outcome::Unbound { tool, argument }));
            }
            Decision::Deny(denial) => return Err(Box::new(Outcome::denied(tool, denial, caller))),
        }
        let dry_run = call.dry_run || wants_preview(house, &tool, call.arguments);
        Ok(Self {
            house: Arc::clone(house),
            view,
            caller: Arc::clone(caller),
            tool,
            dry_run,
            needs,
            lang: call.lang,
            client: call.client.clone(),
            resumed: call.resumed.clone(),
            wait: call.wait,
            asked: call.name.to_owned(),
            _by_decide: (),
        })
    }
}

/// A tool that declares `dryRun` takes it as an argument; for all others that is an argument like any.
fn wants_preview(house: &House, tool: &Tool, arguments: Option<&RawValue>) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wish {
        #[serde(default)]
        dry_run: bool,
    }
    let Some(arguments) = arguments.filter(|arguments| arguments.get().contains("dryRun")) else { return false };
    house.guard(tool).is_some_and(|guard| guard.declares("dryRun"))
        && serde_json::from_str::<Wish>(arguments.get()).is_ok_and(|wish| wish.dry_run)
}
