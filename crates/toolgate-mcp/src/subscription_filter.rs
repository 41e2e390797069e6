//! What a subscription of the stateless protocol asks to be told.

use serde::{Deserialize, Serialize};
use toolgate_core::Kind;

use crate::{message::Message, refusal::Refusal};

/// The kinds of notification a subscription asks for, as far as we have them.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Filter {
    #[serde(skip_serializing_if = "is_false")]
    tools_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resource_subscriptions: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Filter {
    pub(crate) fn read(message: &Message<'_>) -> Result<Self, Refusal> {
        let filter = message.params.notifications.filter(|raw| raw.starts_with('{'));
        filter.and_then(|raw| serde_json::from_str(raw).ok()).ok_or_else(|| {
            Refusal::params("params.notifications must be an object such as {\"toolsListChanged\": true}")
        })
    }

    /// Clients of the older era do not choose; what they watch they say elsewhere.
    pub(crate) fn all() -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            resource_subscriptions: Vec::new(),
        }
    }

    pub(crate) fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tool => self.tools_list_changed,
            Kind::Prompt => self.prompts_list_changed,
            _ => self.resources_list_changed,
        }
    }
}
