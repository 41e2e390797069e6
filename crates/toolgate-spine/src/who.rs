//! Callers as records name them: written once for each caller, not once for each call.
//!
//! INVARIANT: what is kept is found by the whole caller, every fact of it, and depends on nothing else.

use std::sync::Arc;

use quick_cache::sync::Cache;
use serde_json::value::RawValue;
use toolgate_core::{Caller, Tool};

use crate::books::actor;

/// Callers remembered; one that is forgotten is written again.
const REMEMBERED: usize = 1_000;

pub(crate) struct Who(Cache<Caller, Arc<Named>>);

/// One caller's names.
pub(crate) struct Named {
    pub(crate) principal: Arc<str>,
    pub(crate) tenant: Option<Arc<str>>,
    pub(crate) flow: Option<Arc<str>>,
    /// For every tool that nothing of the caller is about.
    actor: Arc<RawValue>,
}

impl Default for Who {
    fn default() -> Self {
        Self(Cache::new(REMEMBERED))
    }
}

impl Who {
    pub(crate) fn named(&self, caller: &Caller) -> Arc<Named> {
        if let Some(named) = self.0.get(caller) {
            return named;
        }
        let named = Arc::new(Named {
            principal: caller.principal().into(),
            tenant: caller.tenant.as_ref().map(|tenant| tenant.id.as_str().into()),
            flow: caller.flow.as_ref().map(|flow| flow.id.as_str().into()),
            actor: actor(caller, None).into(),
        });
        self.0.insert(caller.clone(), Arc::clone(&named));
        named
    }
}

impl Named {
    pub(crate) fn actor(&self, caller: &Caller, tool: Option<&Tool>) -> Arc<RawValue> {
        if is_of_the_tool(caller, tool) { actor(caller, tool).into() } else { Arc::clone(&self.actor) }
    }
}

/// Whether a record of this caller has something that is about the tool: its place in a flow's list, or a switch.
fn is_of_the_tool(caller: &Caller, tool: Option<&Tool>) -> bool {
    let switched = |tool: &Tool| {
        let switch = |name: &str| caller.tenant.as_ref()?.overrides.get(name).copied();
        tool.found_in(switch).is_some()
    };
    tool.is_some_and(|tool| caller.flow.is_some() || switched(tool))
}

#[cfg(test)]
mod tests {
    use toolgate_core::{
        Facts, Kind, SessionDigest, ToolName,
        caller::{Flow, Tenant, UserId},
    };

    use super::*;

    fn tool(name: &str) -> Tool {
        let name = ToolName::new(name).unwrap();
        Tool {
            kind: Kind::Tool,
            wire_name: name.clone(),
            own_name: name.clone(),
            name,
            source: "pack".into(),
            definition: RawValue::NULL.to_owned().into(),
            facts: Facts::default(),
        }
    }

    #[test]
    fn a_caller_with_another_fact_has_another_record() {
        let who = Who::default();
        let ann = Caller { user: UserId::own("ann").ok(), ..Caller::default() };
        let tenant =
            |id: &str| Tenant { id: id.to_owned(), role: Default::default(), plan: None, overrides: Arc::default() };
        let switching =
            |id: &str| Tenant { overrides: Arc::new([("echo".to_owned(), false)].into_iter().collect()), ..tenant(id) };
        let callers = [
            ann.clone(),
            Caller { operator: true, ..ann.clone() },
            Caller { scopes: ["approve".to_owned()].into(), ..ann.clone() },
            Caller { session: Some(SessionDigest::of(b"one")), ..ann.clone() },
            Caller { session: Some(SessionDigest::of(b"two")), ..ann.clone() },
            Caller { tenant: Some(tenant("a")), ..ann.clone() },
            Caller { tenant: Some(tenant("b")), ..ann.clone() },
            Caller { tenant: Some(switching("a")), ..ann.clone() },
            Caller {
                flow: Some(Flow { id: "f".to_owned(), allowlist: Some(["echo".to_owned()].into()) }),
                ..ann.clone()
            },
        ];
        let tools = ["echo", "other"].map(tool);
        let first = who.named(&callers[3]);
        assert!(Arc::ptr_eq(&first.actor, &who.named(&callers[3]).actor), "written once for each caller");
        for _ in 0..2 {
            for caller in &callers {
                let named = who.named(caller);
                for tool in tools.iter().map(Some).chain([None]) {
                    assert_eq!(named.actor(caller, tool).get(), actor(caller, tool).get());
                }
                assert_eq!(*named.principal, caller.principal());
                assert_eq!(named.tenant.as_deref(), caller.tenant.as_ref().map(|tenant| tenant.id.as_str()));
                assert_eq!(named.flow.as_deref(), caller.flow.as_ref().map(|flow| flow.id.as_str()));
            }
        }
    }
}
