//! An upstream as a source of tools, prompts and resources.

use async_trait::async_trait;
use serde_json::value::RawValue;
use toolgate_core::Facts;
use toolgate_spine::{Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource, Watch};

use crate::{Upstream, listed::Listed};

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
        self.inner.offers.of(Listed::Tools).load().all().iter().map(offer).collect()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        self.inner.run(&call).await
    }

    /// As it last said of itself; kept while it is away.
    fn has_more(&self) -> bool {
        true
    }

    async fn complete(&self, call: Recorded, params: &RawValue) -> Result<ToolAnswer, SourceFault> {
        self.inner.complete(&call, params).await
    }

    async fn watch(&self, call: Recorded) -> Result<Watch, SourceFault> {
        self.inner.watch(call.asked(), call.caller()).await
    }
}
