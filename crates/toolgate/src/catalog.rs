//! What the operator says of tools in the store, over what their source and the configuration say.

use toolgate_core::{Facts, Tool};
use toolgate_store::{Store, StoreError, tenants::CatalogRow};

use crate::config::Config;

/// The rows as they were read.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    rows: Vec<CatalogRow>,
    /// A pack whose tools are left as they are.
    spared: Option<&'static str>,
}

impl Catalog {
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        Ok(Self { rows: store.catalog().list().await?, spared: None })
    }

    /// Leaves one pack's tools alone, so that what was said of them can always be taken back.
    pub fn sparing(self, pack: &'static str) -> Self {
        Self { spared: Some(pack), ..self }
    }

    /// Rows are about canonical names. One about a tool that is not here waits for it.
    pub fn apply(&self, config: &Config, tools: &mut [Tool]) {
        for tool in tools.iter_mut().filter(|tool| self.spared != Some(&*tool.source)) {
            if let Ok(at) = self.rows.binary_search_by(|row| row.tool.as_str().cmp(tool.name.as_str())) {
                self.rows.get(at).into_iter().for_each(|row| say(config, row, &mut tool.facts));
            }
        }
    }
}

fn say(config: &Config, row: &CatalogRow, facts: &mut Facts) {
    if let Some(group) = &row.says.group {
        facts.group = Some(group.clone());
    }
    if let Some(enabled) = row.says.enabled_by_default {
        facts.enabled_by_default = enabled;
    }
    if let Some(plan) = &row.says.min_plan {
        let known = config.plans.iter().find(|known| *known == plan);
        if known.is_none() {
            tracing::warn!(
                tool = row.tool,
                plan,
                "the catalogue asks for a plan that is not there; the highest is taken"
            );
        }
        facts.min_plan = known.or(config.plans.last()).cloned();
    }
    facts.disabled |= row.says.disabled;
}
