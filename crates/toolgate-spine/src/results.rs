//! Results that were too large for their call, kept for a while for whoever called.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{json, value::RawValue};
use toolgate_core::{
    Caller, Facts, Kind, Tool, ToolName,
    tool::{BadToolName, Effect, Limits, Permission, WhenTooLarge},
};
use toolgate_store::{CutResultRoom, NewCutResult, Store};

use crate::{
    Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource,
    books::{now, scope_of},
};

const ADDRESS: &str = "toolgate://results/";
/// No upstream is called so: their names have no dots.
const SOURCE: &str = "toolgate.results";
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(15 * 60);
const ROOM: CutResultRoom = CutResultRoom { in_all: 64 << 20, of_one: 16 << 20 };

/// Keeps a result and says where. `None` where it is too large to be kept, or can't be kept now.
pub(crate) async fn keep(store: &Store, caller: &Caller, whole: &[u8]) -> Option<String> {
    let now = now();
    let new = NewCutResult {
        tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
        principal: caller.principal(),
        whole: whole.to_vec(),
        expires_at: now.saturating_add(i64::try_from(KEPT_FOR.as_millis()).unwrap_or(i64::MAX)),
    };
    match store.cut_results().keep(new, ROOM, now).await {
        Ok(id) => id.map(|id| format!("{ADDRESS}{id}")),
        Err(fault) => {
            tracing::error!(%fault, "a result that is too large can't be kept, so that it is not cut");
            None
        }
    }
}

/// Where kept results are read, for a gate some of whose tools cut theirs.
pub struct ResultsSource {
    store: Store,
}

impl ResultsSource {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Whether any of these needs it.
    pub fn is_needed<'a>(mut tools: impl Iterator<Item = &'a Tool>) -> bool {
        tools.any(|tool| tool.facts.limits.result == WhenTooLarge::Cut)
    }

    /// What the gate decides about: the addresses of all results, on no list. Everybody may ask; each finds its own.
    pub fn offered() -> Result<Tool, BadToolName> {
        let name = ToolName::free(&format!("{ADDRESS}*"))?;
        let limits = Limits { result_bytes: Some(u64::MAX), ..Limits::default() };
        Ok(Tool {
            kind: Kind::Address,
            wire_name: name.clone(),
            own_name: name.clone(),
            name,
            source: SOURCE.into(),
            definition: RawValue::NULL.to_owned().into(),
            facts: Facts { effect: Effect::Read, permission: Permission::Unauthenticated, limits, ..Facts::default() },
        })
    }
}

#[async_trait]
impl ToolSource for ResultsSource {
    fn name(&self) -> &str {
        SOURCE
    }

    fn tools(&self) -> Vec<ToolOffer> {
        Vec::new()
    }

    fn has_more(&self) -> bool {
        true
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let address = call.asked();
        let id = address.strip_prefix(ADDRESS).unwrap_or_default();
        let found = self.store.cut_results().whole(&scope_of(call.caller()), id, now()).await;
        let found = found.map_err(|fault| {
            tracing::error!(%fault, "a result that was cut can't be looked up");
            SourceFault::unavailable("results can't be looked up now; try again, and tell the operator if it stays")
        })?;
        let Some(whole) = found else {
            // another's, an old one and one that never was look alike
            let data = json!({ "uri": address }).to_string();
            return Err(SourceFault::Rejected {
                code: -32002,
                message: format!("Resource not found: {address}"),
                data: Some(data),
            });
        };
        let text = String::from_utf8_lossy(&whole);
        let contents = json!({"contents": [{"uri": address, "mimeType": "application/json", "text": text}]});
        let json = serde_json::to_vec(&contents).map_err(|fault| SourceFault::unavailable(fault.to_string()))?;
        Ok(ToolAnswer::raw(json.into()))
    }
}
