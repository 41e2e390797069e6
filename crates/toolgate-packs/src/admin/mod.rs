//! The admin pack: tenants, their members and switches, the catalogue of tools, and users.
//!
//! These tools are the only way any of that is changed: the REST addresses and the command line are doors to the same
//! calls. A change is a list of rows before and after, made together or not at all; its dry run is that list, and its
//! undo is that list backwards.

mod changing;
mod desk;
mod export;
mod facts;
mod import;
mod people;
mod reading;
mod saying;
mod shown;
mod standings;
mod wishes;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};
use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Previewed, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::{Store, tenants::Edit};

use crate::{
    definitions::{BadPack, compact, offers},
    failure::Failure,
    whole_numbers::read_arguments,
};
use changing::Stays;
use desk::Desk;

/// The pack's name, for those who lead to it.
pub const NAME: &str = "admin";

const DEFINITIONS: [&str; 3] =
    [include_str!("tenant.json"), include_str!("catalog.json"), include_str!("operator.json")];

/// The pack's tools, without the store that running them takes.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    let mut all = Vec::new();
    for definitions in DEFINITIONS {
        all.extend(offers("pack 'admin'", &compact(definitions), facts::facts)?);
    }
    Ok(all)
}

pub struct AdminPack {
    store: Store,
    offers: Vec<ToolOffer>,
}

impl AdminPack {
    pub fn new(store: Store) -> Result<Self, BadPack> {
        Ok(Self { store, offers: offered()? })
    }
}

#[async_trait]
impl ToolSource for AdminPack {
    fn name(&self) -> &str {
        NAME
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let desk = Desk { store: &self.store, gate: call.gate(), caller: call.caller() };
        let (tool, arguments) = (call.tool().own_name.as_str(), call.arguments());
        let answer = if facts::changes(tool) {
            changing::change(&desk, tool, arguments).await
        } else {
            reading::read(&desk, tool, arguments).await.and_then(|content| written(&content))
        };
        Ok(answer.unwrap_or_else(Failure::into_answer))
    }

    async fn preview(&self, call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        let desk = Desk { store: &self.store, gate: call.gate(), caller: call.caller() };
        let tool = call.tool().own_name.as_str();
        if !facts::changes(tool) {
            return Ok(None);
        }
        let shown = changing::preview(&desk, tool, call.arguments()).await;
        Ok(Some(shown.unwrap_or_else(Failure::into_answer)))
    }

    async fn undo(&self, call: Recorded, undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let unreadable = |fault| SourceFault::Conflict(format!("what takes it back can't be read: {fault}"));
        let edits: Vec<Edit> = serde_json::from_str(undo.get()).map_err(unreadable)?;
        let desk = Desk { store: &self.store, gate: call.gate(), caller: call.caller() };
        match changing::take_back(&desk, edits).await {
            Ok(answer) => Ok(answer),
            Err(Stays::Conflict(why)) => Err(SourceFault::Conflict(why)),
            Err(Stays::Failure(failure)) => Err(SourceFault::unavailable(failure.error)),
        }
    }

    fn word(&self, _tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        Some(Failure::of_arguments(fault).into_answer())
    }
}

fn arguments<T: DeserializeOwned>(given: &RawValue) -> Result<T, Failure> {
    read_arguments(given.get()).map_err(|fault| Failure::invalid(format!("Invalid arguments: {fault}.")))
}

fn written(content: &Value) -> Result<ToolAnswer, Failure> {
    ToolAnswer::structured(content, false).map_err(|_| Failure::internal("The answer can't be written."))
}
