//! Callers share a view exactly as long as no rule tells them apart, and tools a decision likewise.

use std::sync::Arc;

use toolgate_core::{
    Caller, Facts,
    caller::{Agent, AgentKind, Purpose, Role},
    tool::Permission,
};

use crate::fixtures::{agent, code, explained, gate, gate_with, of_tenant, task, tenant, tool, user};

fn notes() -> Vec<toolgate_core::Tool> {
    vec![tool("notes", explained(Permission::SignedIn)), tool("other", explained(Permission::SignedIn))]
}

#[test]
fn callers_of_one_kind_share_one_view() {
    let gate = gate(notes());
    let same = |a: &Caller, b: &Caller| Arc::ptr_eq(&gate.view(a).unwrap(), &gate.view(b).unwrap());
    assert!(same(&user("ann"), &user("bob")));
    let mut elsewhere = of_tenant(Role::Member, "starter");
    elsewhere.tenant.as_mut().unwrap().id = "beta".to_owned();
    assert!(same(&of_tenant(Role::Member, "starter"), &elsewhere));
    assert!(
        same(&of_tenant(Role::Member, "starter"), &of_tenant(Role::Member, "unheard of")),
        "both are the lowest plan"
    );
    let project = Some("p-9".to_owned());
    let other =
        Agent { id: "a-9".into(), kind: AgentKind::Worker, project, purpose: Some(Purpose::Task), session: None };
    assert!(same(&agent(AgentKind::Worker, Some(Purpose::Task)), &Caller { agent: Some(other), ..Caller::default() }));
}

#[test]
fn callers_of_different_kinds_do_not() {
    let gate = gate(notes());
    let same = |a: &Caller, b: &Caller| Arc::ptr_eq(&gate.view(a).unwrap(), &gate.view(b).unwrap());
    let member = of_tenant(Role::Member, "starter");
    let switched = Caller { tenant: Some(tenant(Role::Member, "starter", &[("notes", false)])), ..user("ann") };
    assert!(!same(&user("ann"), &Caller::anonymous()));
    assert!(!same(&user("ann"), &member));
    assert!(!same(&member, &of_tenant(Role::Owner, "starter")));
    assert!(!same(&member, &of_tenant(Role::Member, "professional")));
    assert!(!same(&member, &switched));
    let mut nowhere = agent(AgentKind::Worker, Some(Purpose::Task));
    nowhere.agent.as_mut().unwrap().project = None;
    assert!(!same(&agent(AgentKind::Worker, Some(Purpose::Task)), &nowhere), "a bound argument may need a project");
    assert!(!same(&agent(AgentKind::Worker, Some(Purpose::Task)), &agent(AgentKind::Worker, Some(Purpose::Chat))));
}

#[test]
fn a_rule_that_reads_the_user_decides_for_each_user() {
    let rule = r#"forbid (principal, action in Action::"call", resource)
        when { principal has user && principal.user == "bob" };"#;
    // either asked first, so that neither can lend the other its view
    for callers in [["ann", "bob"], ["bob", "ann"]] {
        let gate = gate_with(notes(), rule).unwrap();
        for name in callers {
            let wanted = if name == "bob" { "forbidden" } else { "allow" };
            assert_eq!(code(&gate, &user(name), "notes"), wanted);
        }
    }
    let gate = gate_with(notes(), rule).unwrap();
    assert!(!Arc::ptr_eq(&gate.view(&user("ann")).unwrap(), &gate.view(&user("bob")).unwrap()));
}

#[test]
fn a_rule_that_asks_whether_there_is_a_project_or_a_process_tells_callers_apart() {
    let with = agent(AgentKind::Worker, None);
    let mut without = with.clone();
    without.agent.as_mut().unwrap().project = None;
    let rule = r#"forbid (principal, action in Action::"call", resource)
        when { principal has agent && principal.agent has project };"#;
    let gate = gate_with(notes(), rule).unwrap();
    assert_eq!(code(&gate, &without, "notes"), "allow");
    assert_eq!(code(&gate, &with, "notes"), "forbidden");

    let with = Caller { task: Some(task(false)), ..Caller::default() };
    let mut without = with.clone();
    without.task.as_mut().unwrap().process = None;
    let rule = r#"forbid (principal, action in Action::"call", resource) unless { principal has task.process };"#;
    let gate = gate_with(notes(), rule).unwrap();
    assert_eq!(code(&gate, &without, "notes"), "forbidden");
    assert_eq!(code(&gate, &with, "notes"), "allow");
}

#[test]
fn a_rule_that_names_a_tool_leaves_tools_of_equal_facts_alone() {
    for rule in [
        r#"forbid (principal, action in Action::"call", resource == Tool::"notes");"#,
        r#"forbid (principal, action in Action::"call", resource) when { resource.name == "notes" };"#,
        r#"forbid (principal, action in Action::"call", resource) when { resource == Tool::"notes" };"#,
        r#"forbid (principal, action in Action::"call", resource) when { resource.name like "no*" };"#,
    ] {
        let gate = gate_with(notes(), rule).unwrap();
        assert_eq!(code(&gate, &user("ann"), "notes"), "forbidden", "{rule}");
        assert_eq!(code(&gate, &user("ann"), "other"), "allow", "{rule}");
    }
}

#[test]
fn tools_of_one_kind_from_two_sources_can_be_told_apart() {
    let mut theirs = tool("theirs", Facts { group: Some("mail".into()), ..explained(Permission::SignedIn) });
    theirs.source = "mail-server".into();
    let rule = r#"forbid (principal, action in Action::"call", resource) when { resource.source == "mail-server" };"#;
    let gate = gate_with([notes(), vec![theirs]].concat(), rule).unwrap();
    assert_eq!(code(&gate, &user("ann"), "theirs"), "forbidden");
    assert_eq!(code(&gate, &user("ann"), "notes"), "allow");
}
