//! Flows: a chain of calls with a name, and a list of what it may call.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use toolgate_core::{Caller, caller::Flow, tool::is_of_more};
use toolgate_store::NewFlow;

use crate::{
    Spine,
    book_limits::has_room,
    books::{now, scope_of},
};

/// How long a flow stays open where nothing says.
const AN_HOUR: Duration = Duration::from_secs(60 * 60);

/// Why a flow can't be entered, opened or closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowProblem {
    #[error("flow '{0}' is not open for this caller; open one, or leave it out")]
    NotOpen(String),
    #[error("there is no tool '{0}' for this caller; a flow can only allow what its caller may use")]
    UnknownTool(String),
    #[error("{0} flows of this caller are open, and no more are opened; close some of them before")]
    TooMany(i64),
    #[error("flows can't be kept now: {0}; try again")]
    Unavailable(String),
}

/// A flow that was opened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Opened {
    pub flow: String,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowlist: Option<Vec<String>>,
    /// Unix milliseconds.
    pub expires: i64,
}

impl Spine {
    /// The caller within a flow of its own. A flow its credential carries can't be dropped by it: both limits hold.
    pub async fn enter_flow(&self, caller: &Arc<Caller>, id: &str) -> Result<Arc<Caller>, FlowProblem> {
        if caller.flow.as_ref().is_some_and(|flow| flow.id == id) {
            return Ok(Arc::clone(caller));
        }
        let not_open = || FlowProblem::NotOpen(id.chars().take(80).collect());
        let books = self.books.as_ref().ok_or_else(not_open)?;
        let found = books.store.flows().get(&scope_of(caller), id).await;
        let flow =
            found.map_err(|fault| FlowProblem::Unavailable(fault.to_string()))?.filter(|flow| flow.is_open(now()));
        let flow = flow.ok_or_else(not_open)?;
        let own = flow.allowlist.map(BTreeSet::from_iter);
        let carried = caller.flow.as_ref().and_then(|flow| flow.allowlist.clone());
        let mut within = Caller::clone(caller);
        within.flow = Some(Flow { id: flow.id, allowlist: narrowed(carried, own) });
        Ok(Arc::new(within))
    }

    /// The caller within what the configuration allows the flow that its credential names, now: a token that is older than
    /// the configuration, or names more, allows no more than that.
    pub fn within_configured_flow(&self, caller: Arc<Caller>) -> Arc<Caller> {
        let Some(flow) = &caller.flow else { return caller };
        let house = self.house();
        let Some(named) = house.flows.get(&flow.id).and_then(|named| named.allowlist.as_ref()) else { return caller };
        if flow.allowlist.as_ref().is_some_and(|carried| carried.is_subset(named)) {
            return caller;
        }
        let canonical =
            |name: &String| house.gate.catalog().find(name).map_or_else(|| name.clone(), |tool| tool.name.to_string());
        let carried = flow.allowlist.as_ref().map(|names| names.iter().map(canonical).collect());
        let mut within = Caller::clone(&caller);
        within.flow = Some(Flow { id: flow.id.clone(), allowlist: narrowed(carried, Some(named.clone())) });
        Arc::new(within)
    }

    pub async fn open_flow(
        &self,
        caller: &Caller,
        name: &str,
        allowlist: Option<Vec<String>>,
        ttl: Option<Duration>,
    ) -> Result<Opened, FlowProblem> {
        let unavailable = |fault: String| FlowProblem::Unavailable(fault);
        let books = self.books.as_ref().ok_or_else(|| unavailable("there is no store".to_owned()))?;
        let house = self.house();
        let gate = house.gate();
        // what is hidden from the caller is as unknown here as anywhere
        let listing = gate.listing(caller);
        let listed = |name: &str| listing.as_ref().is_some_and(|listing| listing.definition(name).is_some());
        let canonical = |name: String| match gate.catalog().find(&name).filter(|_| listed(&name)) {
            Some(tool) => Ok(tool.name.to_string()),
            None if is_of_more(&name) => Ok(name),
            None => Err(FlowProblem::UnknownTool(name.chars().take(140).collect())),
        };
        let allowlist =
            allowlist.map(|names| names.into_iter().map(canonical).collect::<Result<Vec<_>, _>>()).transpose()?;
        let carried = caller.flow.as_ref().and_then(|flow| flow.allowlist.clone());
        let named = house.flows.get(name).cloned().unwrap_or_default();
        let named_list =
            named.allowlist.map(|names| names.into_iter().filter(|name| is_of_more(name) || listed(name)).collect());
        let allowlist = narrowed(narrowed(carried, named_list), allowlist.map(BTreeSet::from_iter)).map(Vec::from_iter);
        let wanted = ttl.or(named.longest).unwrap_or(AN_HOUR);
        let ttl = named.longest.map_or(wanted, |longest| wanted.min(longest));
        let opened = now();
        let usage = books.store.usage().flows(&caller.principal(), opened).await;
        let usage = usage.map_err(|fault| unavailable(fault.to_string()))?;
        if !has_room(usage.count, books.settings.limits.open_flows) {
            return Err(FlowProblem::TooMany(usage.count));
        }
        let new = NewFlow {
            name: name.to_owned(),
            owner: caller.principal(),
            tenant: caller.tenant.as_ref().map(|tenant| tenant.id.clone()),
            allowlist,
            opened,
            expires: opened.saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)),
        };
        let flow = books.store.flows().open(new).await.map_err(|fault| unavailable(fault.to_string()))?;
        Ok(Opened { flow: flow.id, name: flow.name, allowlist: flow.allowlist, expires: flow.expires })
    }

    /// Ends a flow, and every approval in it.
    pub async fn close_flow(&self, caller: &Caller, id: &str) -> Result<(), FlowProblem> {
        let not_open = || FlowProblem::NotOpen(id.chars().take(80).collect());
        let books = self.books.as_ref().ok_or_else(not_open)?;
        match books.store.flows().close(&scope_of(caller), id, now()).await {
            Ok(_) => Ok(()),
            Err(toolgate_store::FlowFault::Store(fault)) => Err(FlowProblem::Unavailable(fault.to_string())),
            Err(_) => Err(not_open()),
        }
    }
}

/// What both allow; no list is no limit, an empty one allows nothing.
fn narrowed(one: Option<BTreeSet<String>>, other: Option<BTreeSet<String>>) -> Option<BTreeSet<String>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.intersection(&other).cloned().collect()),
        (one, other) => one.or(other),
    }
}
