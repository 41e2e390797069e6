//! An upstream as a source of tools.

use async_trait::async_trait;
use serde_json::value::RawValue;
use toolgate_core::Facts;
use toolgate_spine::{Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};

use crate::Upstream;

#[async_trait]
impl ToolSource for Upstream {
    fn name(&self) -> &str {
        &self.inner.config.name
    }

    /// With the facts of an unknown tool: what an upstream says of itself decides nothing.
    fn tools(&self) -> Vec<ToolOffer> {
        let offer = |definition: &crate::Definition| ToolOffer {
            name: definition.name.clone(),
            definition: RawValue::to_owned(&definition.raw),
            facts: Facts::default(),
        };
        self.inner.definitions.load().all().iter().map(offer).collect()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let answer = self.inner.call(call.tool().own_name.as_str(), call.arguments(), call.client()).await;
        answer.map_err(|fault| SourceFault::Unavailable(fault.about(&self.inner.config.name)))
    }
}
