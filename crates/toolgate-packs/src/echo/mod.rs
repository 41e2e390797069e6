//! The echo pack: tools from a definitions file that do nothing but answer with what they were given.
//!
//! For trying rules on real definitions before anything stands behind them, and for measuring the gate alone.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_core::{Facts, tool::Effect};
use toolgate_spine::{ProgressNote, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};

use crate::definitions::{BadPack, offers};

pub struct EchoPack {
    offers: Vec<ToolOffer>,
}

impl EchoPack {
    /// `json` is an array of MCP tool definitions; `place` says where it came from, for errors.
    pub fn new(place: &str, json: &str) -> Result<Self, BadPack> {
        // nothing happens in a call, so all of them are reads; who may use them is the default
        let facts = |_: &str| Facts { effect: Effect::Read, ..Facts::default() };
        Ok(Self { offers: offers(place, json, facts)? })
    }
}

/// The argument that is answered by itself.
#[derive(Deserialize)]
struct Given<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
}

#[async_trait]
impl ToolSource for EchoPack {
    fn name(&self) -> &str {
        "echo"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        call.client().report(ProgressNote { progress: 1.0, total: Some(1.0), message: None });
        let given = call.arguments().get();
        let text = serde_json::from_str::<Given<'_>>(given).ok().and_then(|given| given.text);
        Ok(match text.filter(|text| text.get().starts_with('"')) {
            Some(text) => ToolAnswer::quoted(text),
            None => ToolAnswer::text(given),
        })
    }
}
