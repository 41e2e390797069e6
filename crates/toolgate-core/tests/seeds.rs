//! The conditions of the five seeds, one by one, by what they mean.

use toolgate_core::{
    Caller, Decision, Facts, Gate, Lang, Tool,
    caller::{AgentKind, Purpose, Role, Runtime},
    tool::{Approval, Binding, Permission, Scope, WhenDenied},
};

use crate::fixtures::{
    agent, call_with, code, code_of, denial, explained, flow, gate, hidden, line, of_tenant, task, tenant, tool, user,
};

fn source(gate: &std::sync::Arc<Gate>, caller: &Caller, name: &str) -> String {
    gate.explain(&gate.view(caller).unwrap(), caller, name, false, Lang::En).unwrap().source
}

fn for_task(orchestrator: bool) -> Caller {
    Caller { task: Some(task(orchestrator)), ..Caller::default() }
}

// seed 0: tasks and orchestrators

fn process_tools() -> Vec<Tool> {
    let orchestrators = Facts { scope: Scope::Orchestrator, help_names: false, ..explained(Permission::SignedIn) };
    vec![tool("write_result", explained(Permission::SignedIn)), tool("get_process_state", orchestrators)]
}

#[test]
fn a_regular_task_neither_sees_nor_calls_an_orchestrators_tool_and_is_told_in_the_seeds_words() {
    let gate = gate(process_tools());
    assert_eq!(line(&gate, &for_task(false)), "write_result");
    let denial = denial(&gate, &for_task(false), "get_process_state");
    assert_eq!(denial.message, "Tool 'get_process_state' is not available for this task type.");
    assert_eq!(denial.code, "orchestrator_required");
}

#[test]
fn an_orchestrator_sees_and_calls_every_tool() {
    let gate = gate(process_tools());
    assert_eq!(line(&gate, &for_task(true)), "get_process_state write_result");
    assert_eq!(code(&gate, &for_task(true), "get_process_state"), "allow");
}

#[test]
fn help_does_not_name_an_orchestrators_tool_to_a_regular_task() {
    let gate = gate(process_tools());
    let caller = for_task(false);
    assert_eq!(gate.help_on(&gate.view(&caller).unwrap(), &caller, "get_process_state", Lang::En).available(), None);
}

#[test]
fn a_tool_for_tasks_is_nobody_elses() {
    let gate = gate(vec![tool("write_result", Facts { scope: Scope::Task, ..explained(Permission::SignedIn) })]);
    assert_eq!([for_task(false), for_task(true)].map(|caller| line(&gate, &caller)), ["write_result"; 2]);
    assert_eq!([user("ann"), Caller::anonymous()].map(|caller| line(&gate, &caller)), [""; 2]);
    let denial = denial(&gate, &user("ann"), "write_result");
    assert_eq!(
        (denial.code.as_str(), denial.message.as_str()),
        ("task_required", "Missing X-Toolgate-Task-ID header.")
    );
    assert_eq!(code(&gate, &Caller::anonymous(), "write_result"), "authentication_required");
    for caller in [Caller::anonymous(), user("ann")] {
        let denial = self::denial(&gate, &Caller { unknown_task: true, ..caller }, "write_result");
        assert_eq!(denial.code, "task_not_found");
        assert!(denial.message.starts_with("Task not found in task_log. "), "{denial:?}");
    }
}

#[test]
fn shared_tools_can_be_open_to_callers_without_a_task() {
    let gate = gate(vec![tool("write_result", explained(Permission::Unauthenticated))]);
    assert_eq!(line(&gate, &Caller::anonymous()), "write_result");
}

// seed 1: allowlists, approvals, runtimes, dry runs

fn spine_tools() -> Vec<Tool> {
    let sensitive = || Facts {
        approval: Approval::Required,
        runtimes: [Runtime::Server].into(),
        ..explained(Permission::SignedIn)
    };
    vec![
        tool("vault.search", explained(Permission::SignedIn)),
        tool("vault.move", sensitive()),
        tool("db.query", sensitive()),
    ]
}

fn in_flow(allowlist: Option<&[&str]>) -> Caller {
    Caller { flow: Some(flow(allowlist)), ..user("ann") }
}

#[test]
fn an_absent_allowlist_limits_nothing_and_an_empty_one_allows_nothing() {
    let gate = gate(spine_tools());
    assert_eq!(line(&gate, &in_flow(None)), "db_query vault_move vault_search");
    assert_eq!(line(&gate, &in_flow(Some(&[]))), "");
    assert_eq!(code(&gate, &in_flow(Some(&[])), "vault.search"), "not_in_allowlist");
    assert_eq!(line(&gate, &in_flow(Some(&["vault.search"]))), "vault_search");
    assert_eq!(code(&gate, &in_flow(Some(&["vault.search"])), "vault_move"), "not_in_allowlist");
}

#[test]
fn sensitive_tools_are_listed_unmarked_and_need_approval() {
    let gate = gate(spine_tools());
    assert_eq!(line(&gate, &user("ann")), "db_query vault_move vault_search");
    assert_eq!(code(&gate, &user("ann"), "vault.move"), "approval: approval_required");
    assert_eq!(call_with(&gate, &user("ann"), "vault.move", (true, false)), Some(Decision::Allow));
}

#[test]
fn a_dry_run_skips_the_approval_and_nothing_else() {
    let gate = gate(spine_tools());
    let dry = |caller: &Caller, name: &str| code_of(&call_with(&gate, caller, name, (false, true)).unwrap());
    assert_eq!(dry(&user("ann"), "vault.move"), "allow");
    assert_eq!(dry(&Caller::anonymous(), "vault.move"), "authentication_required");
    assert_eq!(dry(&in_flow(Some(&[])), "vault.move"), "not_in_allowlist");
    assert_eq!(dry(&Caller { runtime: Runtime::Client, ..user("ann") }, "vault.move"), "runtime_not_allowed");
}

#[test]
fn an_approval_lifts_nothing_but_the_approval() {
    let gate = gate(spine_tools());
    let approved = |caller: &Caller| code_of(&call_with(&gate, caller, "vault.move", (true, false)).unwrap());
    assert_eq!(approved(&in_flow(Some(&["vault.search"]))), "not_in_allowlist");
    assert_eq!(approved(&Caller { runtime: Runtime::Client, ..user("ann") }), "runtime_not_allowed");
}

#[test]
fn a_server_only_tool_is_not_for_a_client() {
    let gate = gate(spine_tools());
    let client = Caller { runtime: Runtime::Client, ..user("ann") };
    let denial = denial(&gate, &client, "db.query");
    assert_eq!(denial.message, "Tool 'db_query' is not allowed in runtime 'client'.");
    assert!(denial.remedy.unwrap().contains("Origin"));
    assert_eq!(code(&gate, &client, "vault.search"), "allow");
    let member = Caller { tenant: Some(tenant(Role::Member, "starter", &[])), ..client };
    assert_eq!(line(&gate, &member), "vault_search");
}

#[test]
fn a_tool_can_be_callable_in_a_flow_only() {
    let facts = Facts { requires_flow: true, ..explained(Permission::SignedIn) };
    let gate = gate(vec![tool("step", facts)]);
    assert_eq!(code(&gate, &user("ann"), "step"), "flow_required");
    assert_eq!(code(&gate, &in_flow(None), "step"), "allow");
}

// seed 2: todo

#[test]
fn the_user_id_comes_from_the_caller_and_from_nowhere_else() {
    assert_eq!(Binding::User.value(&user("ann")), Some("ann"));
    assert_eq!(Binding::User.value(&Caller::anonymous()), None);
    assert_eq!(Binding::User.value(&agent(AgentKind::Worker, None)), None);
}

// seed 3: agents and purposes

fn team_tools() -> Vec<Tool> {
    vec![
        tool("authenticate", explained(Permission::Unauthenticated)),
        tool("health_check", explained(Permission::CoordinatorOnly)),
        tool("assign_task", explained(Permission::ManagerOnly)),
        tool("start_work", explained(Permission::WorkerOnly)),
        tool("get_my_task", explained(Permission::Authenticated)),
        tool("respond_chat", explained(Permission::ChatOnly)),
        tool("delegate_to_chat_session", explained(Permission::TaskOnly)),
    ]
}

#[test]
fn each_agent_sees_its_own_tools() {
    let gate = gate(team_tools());
    for (kind, purpose, wanted) in [
        (AgentKind::Coordinator, None, "authenticate health_check"),
        (AgentKind::Manager, Some(Purpose::Task), "assign_task authenticate delegate_to_chat_session get_my_task"),
        (AgentKind::Manager, Some(Purpose::Chat), "assign_task authenticate get_my_task respond_chat"),
        (AgentKind::Worker, Some(Purpose::Task), "authenticate delegate_to_chat_session get_my_task start_work"),
        (AgentKind::Worker, Some(Purpose::Chat), "authenticate get_my_task respond_chat start_work"),
        (AgentKind::Worker, None, "authenticate get_my_task start_work"),
    ] {
        assert_eq!(line(&gate, &agent(kind, purpose)), wanted, "{kind} {purpose:?}");
    }
    assert_eq!(line(&gate, &Caller::anonymous()), "authenticate");
}

#[test]
fn a_coordinator_is_neither_a_manager_nor_authenticated() {
    let gate = gate(team_tools());
    let coordinator = agent(AgentKind::Coordinator, Some(Purpose::Chat));
    assert_eq!(code(&gate, &coordinator, "assign_task"), "manager_required");
    assert_eq!(code(&gate, &coordinator, "get_my_task"), "authentication_required");
    assert_eq!(code(&gate, &coordinator, "respond_chat"), "authentication_required");
}

#[test]
fn the_wrong_purpose_is_told_in_the_seeds_words() {
    let gate = gate(team_tools());
    let said = |purpose, name: &str| denial(&gate, &agent(AgentKind::Worker, purpose), name).message;
    assert_eq!(
        said(Some(Purpose::Task), "respond_chat"),
        "Tool 'respond_chat' requires a chat session. Current session purpose is 'task'."
    );
    assert_eq!(
        said(Some(Purpose::Chat), "delegate_to_chat_session"),
        "Tool 'delegate_to_chat_session' requires a task session. Current session purpose is 'chat'."
    );
    assert!(said(None, "respond_chat").ends_with("Current session purpose is 'none'."));
}

#[test]
fn the_wrong_kind_is_told_which_privilege_it_takes() {
    let gate = gate(team_tools());
    let worker = agent(AgentKind::Worker, Some(Purpose::Task));
    assert_eq!(denial(&gate, &worker, "assign_task").message, "Tool 'assign_task' requires Manager privilege");
    assert_eq!(denial(&gate, &worker, "health_check").message, "Tool 'health_check' requires Coordinator privilege");
    let manager = agent(AgentKind::Manager, Some(Purpose::Task));
    assert_eq!(denial(&gate, &manager, "start_work").message, "Tool 'start_work' requires Worker privilege");
}

#[test]
fn a_stranger_is_told_how_to_sign_in() {
    let with = gate(team_tools());
    let said = denial(&with, &Caller::anonymous(), "get_my_task").message;
    assert_eq!(said, "Tool 'get_my_task' requires authentication. Call authenticate first.");
    let without = gate(team_tools().split_off(1));
    assert!(denial(&without, &Caller::anonymous(), "get_my_task").message.contains("token mint"));
}

// seed 4: tiers, tenants, plans

fn tier_tools() -> Vec<Tool> {
    let plan = |plan: &str| Facts { min_plan: Some(plan.to_owned()), ..explained(Permission::SignedIn) };
    let off = Facts { enabled_by_default: false, ..explained(Permission::SignedIn) };
    let advertised = Facts { advertised: true, ..plan("professional") };
    vec![
        tool("basic", explained(Permission::SignedIn)),
        tool("top", plan("enterprise")),
        tool("public", advertised),
        tool("beta", off),
        tool("gone", Facts { disabled: true, ..explained(Permission::SignedIn) }),
        tool("admin_users", hidden(Permission::AdminOnly)),
    ]
}

fn switched(role: Role, plan: &str, switches: &[(&str, bool)]) -> Caller {
    Caller { tenant: Some(tenant(role, plan, switches)), ..user("ann") }
}

#[test]
fn a_stranger_sees_the_public_tools_marked_and_a_call_asks_it_to_sign_in() {
    let gate = gate(tier_tools());
    assert_eq!(line(&gate, &Caller::anonymous()), "public[authentication_required]");
    assert_eq!(code(&gate, &Caller::anonymous(), "public"), "authentication_required");
}

#[test]
fn a_user_of_no_tenant_sees_all_but_admin_tools_those_above_the_lowest_plan_marked() {
    let gate = gate(tier_tools());
    assert_eq!(line(&gate, &user("ann")), "basic beta[off_by_default] public[plan_restricted] top[plan_restricted]");
    assert_eq!(code(&gate, &user("ann"), "top"), "plan_restricted");
    assert_eq!(code(&gate, &user("ann"), "admin_users"), "unknown");
}

#[test]
fn a_member_sees_what_passes_and_nothing_else() {
    let gate = gate(tier_tools());
    assert_eq!(line(&gate, &of_tenant(Role::Member, "starter")), "basic");
    let off = switched(Role::Member, "professional", &[("public", false)]);
    assert_eq!(line(&gate, &off), "basic", "also where its own tenant switched it off");
    assert_eq!(code(&gate, &off, "public"), "disabled_for_tenant", "a call is told why");
    assert_eq!(line(&gate, &of_tenant(Role::Billing, "professional")), "basic public");
    assert_eq!(line(&gate, &of_tenant(Role::Member, "enterprise")), "basic public top");
    assert_eq!(code(&gate, &of_tenant(Role::Member, "enterprise"), "admin_users"), "unknown");
}

#[test]
fn an_unknown_plan_is_the_lowest() {
    let gate = gate(tier_tools());
    assert_eq!(line(&gate, &of_tenant(Role::Member, "platinum")), line(&gate, &of_tenant(Role::Member, "starter")));
    assert_eq!(Role::from_claim("superuser"), Role::Member);
}

#[test]
fn an_admin_sees_every_tool_and_what_it_can_not_call_is_marked() {
    let gate = gate(tier_tools());
    for role in [Role::Admin, Role::Owner] {
        assert_eq!(
            line(&gate, &of_tenant(role, "starter")),
            "admin_users basic beta[off_by_default] gone[globally_disabled] public[plan_restricted] top[plan_restricted]"
        );
    }
}

#[test]
fn a_task_a_session_or_a_flow_narrows_an_admins_list_as_anyones() {
    let gate = gate([tier_tools(), team_tools().split_off(1), process_tools()].concat());
    let admin = of_tenant(Role::Admin, "starter");
    let callable = "admin_users basic";
    let with_task = Caller { task: Some(task(false)), ..admin.clone() };
    assert_eq!(line(&gate, &with_task), format!("{callable} write_result"));
    let with_flow = Caller { flow: Some(flow(Some(&["basic"]))), ..admin.clone() };
    assert_eq!(line(&gate, &with_flow), "basic");
    let session = Caller { agent: agent(AgentKind::Worker, Some(Purpose::Task)).agent, ..admin };
    let list = line(&gate, &session);
    assert!(list.contains("delegate_to_chat_session") && !list.contains("respond_chat"), "{list}");
}

#[test]
fn globally_disabled_beats_everything() {
    let gate = gate(tier_tools());
    for caller in [
        Caller::anonymous(),
        user("ann"),
        switched(Role::Owner, "enterprise", &[("gone", true)]),
        Caller { operator: true, ..user("op") },
    ] {
        assert_eq!(code(&gate, &caller, "gone"), "globally_disabled");
        assert_eq!(source(&gate, &caller, "gone"), "global_disabled");
    }
}

#[test]
fn a_disabled_tool_is_not_advertised() {
    let gate = gate(vec![tool("gone", Facts { disabled: true, advertised: true, ..explained(Permission::SignedIn) })]);
    assert_eq!(line(&gate, &Caller::anonymous()), "");
    assert_eq!(line(&gate, &user("ann")), "");
}

#[test]
fn an_override_switches_but_lifts_neither_plan_nor_global_block() {
    let gate = gate(tier_tools());
    let on = switched(Role::Member, "starter", &[("beta", true), ("top", true), ("gone", true)]);
    assert_eq!((code(&gate, &on, "beta"), source(&gate, &on, "beta")), ("allow".into(), "tenant_override".into()));
    assert_eq!(
        (code(&gate, &on, "top"), source(&gate, &on, "top")),
        ("plan_restricted".into(), "plan_restriction".into())
    );
    assert_eq!(code(&gate, &on, "gone"), "globally_disabled");
    let off = switched(Role::Member, "enterprise", &[("basic", false), ("top", false)]);
    assert_eq!(source(&gate, &off, "basic"), "tenant_override");
    assert_eq!(code(&gate, &off, "top"), "disabled_for_tenant");
    assert_eq!(
        denial(&gate, &off, "basic").message,
        "Tool 'basic' is not available for your tenant. Contact your administrator to enable it."
    );
}

#[test]
fn the_default_decides_last() {
    let gate = gate(tier_tools());
    let member = of_tenant(Role::Member, "starter");
    assert_eq!(
        (code(&gate, &member, "beta"), source(&gate, &member, "beta")),
        ("off_by_default".into(), "default".into())
    );
    assert_eq!((code(&gate, &member, "basic"), source(&gate, &member, "basic")), ("allow".into(), "default".into()));
}

#[test]
fn a_tools_plan_must_be_one_of_the_plans() {
    let facts = Facts { min_plan: Some("platinum".into()), ..Facts::default() };
    let problem = crate::fixtures::gate_with(vec![tool("x", facts)], "").unwrap_err().to_string();
    assert!(
        problem.contains("'x'")
            && problem.contains("'platinum'")
            && problem.contains("starter professional enterprise")
    );
}

#[test]
fn a_hidden_tool_is_unknown_until_the_caller_could_see_it() {
    let narrow =
        Facts { min_plan: Some("enterprise".into()), oauth_scopes: ["files".to_owned()].into(), ..Facts::default() };
    assert_eq!(narrow.when_denied, WhenDenied::Hidden);
    let gate = gate(vec![tool("files", narrow)]);
    assert_eq!(code(&gate, &Caller::anonymous(), "files"), "unknown");
    assert_eq!(code(&gate, &user("ann"), "files"), "unknown", "its scope is missing");
    let scoped = Caller { scopes: ["files".to_owned()].into(), ..user("ann") };
    assert_eq!(code(&gate, &scoped, "files"), "plan_restricted", "a plan is always explained");
}
