//! The rules once more, as plain ifs, written from the decisions and not from the rulebook: what the gate must answer.

use toolgate_core::{
    Caller, Tool,
    caller::{AgentKind, Purpose, Role},
    tool::{Approval, Binding, Permission, Scope, WhenDenied},
};

use crate::fixtures::{PLANS, agent, explained, of_tenant, tool, user};

/// One condition that says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct No {
    pub(crate) rule: &'static str,
    pub(crate) code: &'static str,
    /// Whoever fails it may not learn that the tool exists.
    secret: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Allow,
    Approval,
    Deny(No),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Plainly,
    Marked,
    Not,
}

fn rank(plan: Option<&str>) -> usize {
    plan.and_then(|plan| PLANS.iter().position(|known| *known == plan)).unwrap_or(0)
}

fn can_fill(caller: &Caller, binding: Binding) -> bool {
    match binding {
        Binding::User => caller.user.is_some(),
        Binding::Tenant => caller.tenant.is_some(),
        Binding::Agent => caller.agent.is_some(),
        Binding::Project => caller.agent.as_ref().is_some_and(|agent| agent.project.is_some()),
        Binding::Task => caller.task.is_some(),
        Binding::Process => caller.task.as_ref().is_some_and(|task| task.process.is_some()),
        Binding::Flow => caller.flow.is_some(),
    }
}

/// Everything that keeps the caller from the tool but an approval, in the order it is asked.
pub(crate) fn refusals(caller: &Caller, tool: &Tool) -> Vec<No> {
    let facts = &tool.facts;
    let mut refusals = Vec::new();
    let mut open = |rule, code| refusals.push(No { rule, code, secret: false });
    if facts.disabled {
        open("globally_disabled", "globally_disabled");
    }
    let mut secret = |rule, code| refusals.push(No { rule, code, secret: true });
    let kind = caller.agent.as_ref().map(|agent| agent.kind);
    let purpose = caller.agent.as_ref().and_then(|agent| agent.purpose);
    let role = caller.tenant.as_ref().map(|tenant| tenant.role);
    let has_session = kind == Some(AgentKind::Manager) || kind == Some(AgentKind::Worker);
    let anonymous = caller.user.is_none() && caller.agent.is_none() && caller.task.is_none() && !caller.operator;
    if caller.unknown_task && caller.task.is_none() && facts.scope == Scope::Task {
        secret("known_task", "task_not_found");
    }
    // these two have a condition of their own that no anonymous caller meets, and its words help more
    let says_more = facts.permission == Permission::CoordinatorOnly || facts.scope == Scope::Orchestrator;
    if anonymous && facts.permission != Permission::Unauthenticated && !says_more {
        secret("authentication", "authentication_required");
    }
    match facts.permission {
        Permission::Authenticated | Permission::ChatOnly | Permission::TaskOnly if !has_session => {
            secret("agent_session", "authentication_required");
        }
        Permission::CoordinatorOnly if kind != Some(AgentKind::Coordinator) => {
            secret("coordinator_only", "coordinator_required");
        }
        Permission::ManagerOnly if kind != Some(AgentKind::Manager) => secret("manager_only", "manager_required"),
        Permission::WorkerOnly if kind != Some(AgentKind::Worker) => secret("worker_only", "worker_required"),
        Permission::AdminOnly if !caller.operator && role != Some(Role::Owner) && role != Some(Role::Admin) => {
            secret("admin_only", "admin_required");
        }
        Permission::OperatorOnly if !caller.operator => secret("operator_only", "operator_required"),
        _ => {}
    }
    if facts.oauth_scopes.iter().any(|scope| !caller.scopes.contains(scope)) {
        secret("oauth_scope", "insufficient_scope");
    }
    if facts.scope == Scope::Task && caller.task.is_none() {
        secret("task_scope", "task_required");
    }
    let orchestrates = caller.task.as_ref().is_some_and(|task| task.orchestrator);
    if facts.scope == Scope::Orchestrator && !orchestrates {
        secret("orchestrator_scope", "orchestrator_required");
    }
    if facts.permission == Permission::ChatOnly && purpose != Some(Purpose::Chat) {
        secret("chat_session", "chat_session_required");
    }
    if facts.permission == Permission::TaskOnly && purpose != Some(Purpose::Task) {
        secret("task_session", "task_session_required");
    }
    let mut open = |rule, code| refusals.push(No { rule, code, secret: false });
    if facts.bind.values().any(|binding| !can_fill(caller, *binding)) {
        open("bound_facts", "unbound_argument");
    }
    let needed = rank(facts.min_plan.as_deref());
    let bought = caller.tenant.as_ref().map_or(0, |tenant| rank(tenant.plan.as_deref()));
    if bought < needed {
        open("plan", "plan_restricted");
    }
    match caller.tenant.as_ref().and_then(|tenant| tenant.overrides.get(tool.name.as_str())) {
        Some(false) => {
            open("tenant_override", "disabled_for_tenant");
            if !facts.enabled_by_default {
                open("default", "off_by_default");
            }
        }
        Some(true) => {}
        None if facts.enabled_by_default => {}
        None => open("default", "off_by_default"),
    }
    if !facts.runtimes.contains(&caller.runtime) {
        open("runtime", "runtime_not_allowed");
    }
    match &caller.flow {
        None if facts.requires_flow => open("flow_required", "flow_required"),
        None => {}
        Some(flow) => match &flow.allowlist {
            Some(allowed) if !allowed.contains(tool.name.as_str()) => open("flow_allowlist", "not_in_allowlist"),
            _ => {}
        },
    }
    refusals
}

pub(crate) fn answer(caller: &Caller, tool: &Tool, approved: bool, dry_run: bool) -> Answer {
    match refusals(caller, tool).first() {
        Some(no) => Answer::Deny(*no),
        None if tool.facts.approval == Approval::Required && !approved && !dry_run => Answer::Approval,
        None => Answer::Allow,
    }
}

pub(crate) fn callable(caller: &Caller, tool: &Tool) -> bool {
    refusals(caller, tool).is_empty()
}

fn is_secret(caller: &Caller, tool: &Tool) -> bool {
    refusals(caller, tool).iter().any(|no| no.secret)
}

pub(crate) fn shown(caller: &Caller, tool: &Tool) -> Shown {
    if callable(caller, tool) {
        return Shown::Plainly;
    }
    // a tenant's members are listed what a call would pass
    if tool.facts.advertised && !tool.facts.disabled && caller.tenant.is_none() {
        return Shown::Marked;
    }
    // a task, an agent's session or a flow narrows: only what a call would pass
    if caller.task.is_some() || caller.agent.is_some() || caller.flow.is_some() {
        return Shown::Not;
    }
    match &caller.tenant {
        Some(tenant) if tenant.role == Role::Owner || tenant.role == Role::Admin => Shown::Marked,
        Some(_) => Shown::Not,
        None if caller.user.is_some() && !is_secret(caller, tool) && !tool.facts.disabled => Shown::Marked,
        None => Shown::Not,
    }
}

/// A call is answered as for an unknown tool.
pub(crate) fn hidden(caller: &Caller, tool: &Tool) -> bool {
    tool.facts.when_denied == WhenDenied::Hidden && is_secret(caller, tool) && shown(caller, tool) == Shown::Not
}

/// What `help` says of availability; `None` where it answers as for an unknown name.
pub(crate) fn help(caller: &Caller, tool: &Tool) -> Option<bool> {
    if callable(caller, tool) {
        return Some(true);
    }
    let named = shown(caller, tool) != Shown::Not || (tool.facts.help_names && !hidden(caller, tool));
    named.then_some(false)
}

#[test]
fn the_reference_itself_says_what_the_seeds_tables_say() {
    let chat = tool("respond_chat", explained(Permission::ChatOnly));
    let rule = |caller: &Caller| match answer(caller, &chat, false, false) {
        Answer::Deny(no) => no.rule,
        Answer::Allow => "allow",
        Answer::Approval => "approval",
    };
    assert_eq!(rule(&Caller::anonymous()), "authentication");
    assert_eq!(rule(&user("ann")), "agent_session");
    assert_eq!(rule(&agent(AgentKind::Coordinator, None)), "agent_session");
    assert_eq!(rule(&agent(AgentKind::Worker, Some(Purpose::Task))), "chat_session");
    assert_eq!(rule(&agent(AgentKind::Worker, Some(Purpose::Chat))), "allow");
    let admin = tool("admin_list", explained(Permission::AdminOnly));
    assert_eq!(shown(&of_tenant(Role::Owner, "starter"), &admin), Shown::Plainly);
    assert_eq!(shown(&of_tenant(Role::Member, "enterprise"), &admin), Shown::Not);
    assert_eq!(shown(&of_tenant(Role::Owner, "starter"), &chat), Shown::Marked);
}
