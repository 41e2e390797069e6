//! Absent facts never widen.
//!
//! Of a call: to take away the user, the agent, its purpose, the task, its orchestrating, a role, a plan, a scope, a tenant's
//! "on" or being the operator never makes a call pass that did not pass, nor lifts an approval. Three facts can narrow
//! a call, so each is named with exactly what its loss may widen: a flow, the tools its allowlist lacks; a tenant, the tools
//! it switched off; the runtime, which is never absent and so is not taken away but compared both ways by the reference.
//!
//! Of a list: the same facts add nothing to it when they go, but for the agent, the task and the flow, whose presence
//! narrows, and the tenant, since a user of no tenant is shown what only a plan or a switch keeps from it.

use std::sync::Arc;

use toolgate_core::{
    Caller, Facts, Gate, Lang, Tool,
    caller::{Role, Tenant},
    explain::{Listed, Outcome},
    tool::{Permission, Scope},
};

use crate::fixtures::{
    explained, gate,
    random::{Random, callers, tools},
};

struct Loss {
    of: &'static str,
    apply: fn(&mut Caller),
    /// The tools whose call may pass because of it.
    may_widen_call: fn(&Caller, &str) -> bool,
    may_widen_list: bool,
}

fn never(_: &Caller, _: &str) -> bool {
    false
}

fn switched_off(caller: &Caller, name: &str) -> bool {
    caller.tenant.as_ref().is_some_and(|tenant| tenant.overrides.get(name) == Some(&false))
}

fn outside_allowlist(caller: &Caller, name: &str) -> bool {
    let allowlist = caller.flow.as_ref().and_then(|flow| flow.allowlist.as_ref());
    allowlist.is_some_and(|allowed| !allowed.contains(name))
}

fn in_tenant(caller: &mut Caller, change: impl FnOnce(&mut Tenant)) {
    if let Some(tenant) = &mut caller.tenant {
        change(tenant);
    }
}

fn switches_off(tenant: &mut Tenant, keep: bool) {
    let kept = tenant.overrides.iter().filter(|(_, on)| **on == keep).map(|(name, on)| (name.clone(), *on));
    tenant.overrides = Arc::new(kept.collect());
}

const LOSSES: &[Loss] = &[
    Loss { of: "user", apply: |c| c.user = None, may_widen_call: never, may_widen_list: false },
    Loss { of: "agent", apply: |c| c.agent = None, may_widen_call: never, may_widen_list: true },
    Loss {
        of: "purpose",
        apply: |c| c.agent.iter_mut().for_each(|agent| agent.purpose = None),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss {
        of: "project",
        apply: |c| c.agent.iter_mut().for_each(|agent| agent.project = None),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss { of: "task", apply: |c| c.task = None, may_widen_call: never, may_widen_list: true },
    Loss {
        of: "orchestrating",
        apply: |c| c.task.iter_mut().for_each(|task| task.orchestrator = false),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss { of: "scopes", apply: |c| c.scopes.clear(), may_widen_call: never, may_widen_list: false },
    Loss { of: "operator", apply: |c| c.operator = false, may_widen_call: never, may_widen_list: false },
    Loss {
        of: "role",
        apply: |c| in_tenant(c, |tenant| tenant.role = Role::default()),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss {
        of: "plan",
        apply: |c| in_tenant(c, |tenant| tenant.plan = None),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss {
        of: "switches on",
        apply: |c| in_tenant(c, |tenant| switches_off(tenant, false)),
        may_widen_call: never,
        may_widen_list: false,
    },
    Loss {
        of: "switches off",
        apply: |c| in_tenant(c, |tenant| switches_off(tenant, true)),
        may_widen_call: switched_off,
        may_widen_list: true,
    },
    Loss { of: "tenant", apply: |c| c.tenant = None, may_widen_call: switched_off, may_widen_list: true },
    Loss { of: "flow", apply: |c| c.flow = None, may_widen_call: outside_allowlist, may_widen_list: true },
    Loss {
        of: "allowlist",
        apply: |c| c.flow.iter_mut().for_each(|flow| flow.allowlist = None),
        may_widen_call: outside_allowlist,
        may_widen_list: true,
    },
];

/// Facts that ask for one thing of a caller, so that each loss tells.
fn one_condition_each() -> Vec<Facts> {
    let facts = || explained(Permission::SignedIn);
    let mut all: Vec<Facts> = Permission::ALL.iter().map(|permission| explained(*permission)).collect();
    all.push(Facts { scope: Scope::Task, ..facts() });
    all.push(Facts { scope: Scope::Orchestrator, ..facts() });
    all.push(Facts { oauth_scopes: ["read".to_owned()].into(), ..facts() });
    all.push(Facts { min_plan: Some("professional".to_owned()), ..facts() });
    all.push(Facts { requires_flow: true, ..facts() });
    all.push(Facts { enabled_by_default: false, ..facts() });
    all
}

fn asked(gate: &Arc<Gate>, caller: &Caller, tool: &Tool) -> (Outcome, Listed) {
    let view = gate.view(caller).unwrap();
    let why = gate.explain(&view, caller, tool.name.as_str(), false, Lang::En).unwrap();
    (why.outcome, why.listed)
}

#[test]
fn losing_a_fact_never_widens_a_call_or_a_list_beyond_what_that_fact_narrowed() {
    let mut random = Random::new(404);
    let mut tools = tools(&mut random, 40);
    for (tool, facts) in tools.iter_mut().zip(one_condition_each()) {
        tool.facts = facts;
    }
    let callers = callers(&mut random, 40, &tools);
    let gate = gate(tools.clone());
    for loss in LOSSES {
        let (mut narrowed, mut widened) = (0, 0);
        for caller in &callers {
            let mut poorer = caller.clone();
            (loss.apply)(&mut poorer);
            if poorer == *caller {
                continue;
            }
            for tool in &tools {
                let ((before, was_listed), (after, is_listed)) =
                    (asked(&gate, caller, tool), asked(&gate, &poorer, tool));
                let excused = (loss.may_widen_call)(caller, tool.name.as_str());
                assert!(
                    after >= before || excused,
                    "without its {}: {before:?} to {after:?}\n{caller:?}\n{tool:?}",
                    loss.of
                );
                assert!(
                    was_listed != Listed::No || is_listed == Listed::No || loss.may_widen_list,
                    "without its {}, it is listed\n{caller:?}\n{tool:?}",
                    loss.of
                );
                narrowed += usize::from(after > before);
                widened += usize::from(after < before);
            }
        }
        // the excuses are used, and the facts that give rights do give them
        let gives = !matches!(loss.of, "project" | "switches off" | "allowlist");
        assert_eq!(narrowed > 0, gives, "losing its {} narrowed {narrowed} calls", loss.of);
        let excuses = matches!(loss.of, "switches off" | "tenant" | "flow" | "allowlist");
        assert_eq!(widened > 0, excuses, "losing its {} widened {widened} calls", loss.of);
    }
}

#[test]
fn without_any_fact_only_what_needs_none_is_callable() {
    let mut random = Random::new(405);
    let tools = tools(&mut random, 60);
    let gate = gate(tools.clone());
    let mut callable = 0;
    for tool in &tools {
        let (outcome, _) = asked(&gate, &Caller::anonymous(), tool);
        if outcome != Outcome::Deny {
            assert_eq!(tool.facts.permission.as_str(), "unauthenticated");
            assert!(tool.facts.oauth_scopes.is_empty() && !tool.facts.requires_flow && tool.facts.enabled_by_default);
            callable += 1;
        }
    }
    assert!(callable > 0);
}
