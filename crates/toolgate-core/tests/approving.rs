//! Who may approve: the owner with an approving credential, whom the operator permits, and never an agent.

use toolgate_core::{
    AskedFacts, Blueprint, Caller, Decision, Gate, GateProblem, Lang, RuleFile, Tool,
    caller::{AgentKind, Role, Tenant},
    tool::Permission,
};

use crate::fixtures::{
    agent, code_of, explained, gate, gate_with,
    random::{Random, callers, tools},
    tenant, tool, user,
};

const SECURITY: &str = r#"
@id("security_approves_vault")
permit (principal, action == Action::"approve", resource)
when { principal.scopes.contains("security") && resource has group && resource.group == "vault" };
@id("admins_approve")
permit (principal, action == Action::"approve", resource == Tool::"move")
when { principal has tenant && principal.tenant.role == "admin" };
"#;

fn asked<'a>() -> AskedFacts<'a> {
    AskedFacts {
        asker: "user:ann agent:scribe",
        tenant: None,
        flow: None,
        owner: false,
        four_eyes: false,
        wide: false,
        at_client: false,
    }
}

fn owned<'a>() -> AskedFacts<'a> {
    AskedFacts { owner: true, ..asked() }
}

fn with_scopes(caller: Caller, scopes: &[&str]) -> Caller {
    Caller { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..caller }
}

fn approver() -> Caller {
    with_scopes(user("ann"), &["approve"])
}

fn house() -> Vec<Tool> {
    let mut move_it = tool("move", explained(Permission::SignedIn));
    move_it.facts.group = Some("vault".to_owned());
    vec![move_it, tool("other", explained(Permission::SignedIn))]
}

fn code(gate: &Gate, approver: &Caller, name: &str, asked: &AskedFacts<'_>) -> String {
    code_of(&gate.decide_approve(approver, name, asked, Lang::En))
}

#[test]
fn the_owner_approves_with_an_approving_credential_and_nobody_else_does() {
    let gate = gate(house());
    assert_eq!(code(&gate, &approver(), "move", &owned()), "allow");
    assert_eq!(code(&gate, &user("ann"), "move", &owned()), "approve_scope_required");
    assert_eq!(code(&gate, &approver(), "move", &asked()), "not_an_approver");
    assert_eq!(code(&gate, &Caller::anonymous(), "move", &asked()), "person_required");
    assert_eq!(code(&gate, &approver(), "gone", &owned()), "tool_gone");
}

#[test]
fn at_the_callers_own_client_no_scope_is_needed_but_the_person_is() {
    let gate = gate(house());
    let at_client = AskedFacts { at_client: true, ..owned() };
    assert_eq!(code(&gate, &user("ann"), "move", &at_client), "allow");
    let scribe = Caller { agent: agent(AgentKind::Worker, None).agent, ..user("ann") };
    assert_eq!(code(&gate, &scribe, "move", &at_client), "person_required");
    assert_eq!(code(&gate, &user("bob"), "move", &AskedFacts { owner: false, ..at_client }), "not_an_approver");
}

#[test]
fn four_eyes_are_someone_else_who_may() {
    let gate = gate(house());
    let operator = Caller { operator: true, ..with_scopes(user("kim"), &["approve"]) };
    let four_eyes = AskedFacts { four_eyes: true, ..asked() };
    assert_eq!(code(&gate, &approver(), "move", &AskedFacts { owner: true, ..four_eyes }), "four_eyes");
    assert_eq!(code(&gate, &operator, "move", &four_eyes), "allow");
    assert_eq!(code(&gate, &operator, "move", &AskedFacts { owner: true, ..four_eyes }), "four_eyes");
    assert_eq!(code(&gate, &with_scopes(user("bob"), &["approve"]), "move", &four_eyes), "not_an_approver");
}

#[test]
fn an_operator_permits_roles_and_what_ships_forbids_all_the_same() {
    let gate = gate_with(house(), SECURITY).unwrap();
    let security = with_scopes(user("sam"), &["approve", "security"]);
    assert_eq!(code(&gate, &security, "move", &asked()), "allow");
    assert_eq!(code(&gate, &security, "other", &asked()), "not_an_approver");
    assert_eq!(code(&gate, &with_scopes(user("sam"), &["security"]), "move", &asked()), "approve_scope_required");
    let acme = AskedFacts { tenant: Some("acme"), ..asked() };
    let admin = Caller { tenant: Some(tenant(Role::Admin, "starter", &[])), ..approver() };
    assert_eq!(code(&gate, &admin, "move", &acme), "allow");
    assert_eq!(code(&gate, &admin, "move", &AskedFacts { tenant: Some("rival"), ..asked() }), "other_tenant");
    assert_eq!(code(&gate, &admin, "move", &asked()), "other_tenant", "of no tenant is not of this one");
    assert_eq!(code(&gate, &security, "move", &acme), "other_tenant");
    let member =
        Caller { tenant: Some(Tenant { role: Role::Member, ..tenant(Role::Member, "starter", &[]) }), ..approver() };
    assert_eq!(code(&gate, &member, "move", &acme), "not_an_approver");
}

#[test]
fn a_permit_for_anything_else_is_refused_and_so_is_a_rule_that_reads_what_is_not_there() {
    let refused = |rules: &str| match gate_with(house(), rules) {
        Err(GateProblem::Rules(problems)) => problems.iter().map(|problem| format!("{problem:?}")).collect::<String>(),
        other => panic!("{other:?}"),
    };
    for action in ["action", "action in Action::\"call\"", "action in [Action::\"call\", Action::\"approve\"]"] {
        let text = refused(&format!("permit (principal, {action}, resource);"));
        assert!(text.contains("is a permit and would change nothing"), "{action}: {text}");
    }
    let when = |condition: &str| {
        refused(&format!("permit (principal, action == Action::\"approve\", resource) when {{ {condition} }};"))
    };
    assert!(when("context.allowlisted").contains("allowlisted"));
    assert!(when("context.tenant == \"acme\"").contains("tenant"), "optional: ask has first");
    assert!(when("context has tennant").contains("did you mean 'tenant'?"));
}

#[test]
fn rules_about_approving_leave_calls_lists_and_their_classes_alone() {
    let rules = r#"forbid (principal, action == Action::"approve", resource) when { principal has user && principal.user == "eve" };"#;
    let with = gate_with(house(), rules).unwrap();
    for name in ["move", "other"] {
        assert_eq!(crate::fixtures::code(&with, &user("eve"), name), "allow");
    }
    let first = with.view(&user("eve")).unwrap();
    let second = with.view(&user("ann")).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &second), "they share one view");
    let why = with.explain(&first, &user("eve"), "move", false, Lang::En).unwrap();
    assert!(why.conditions.iter().all(|condition| condition.code != "four_eyes" && condition.code != "forbidden"));
    assert_eq!(code(&with, &with_scopes(user("eve"), &["approve"]), "move", &owned()), "forbidden");
}

/// Whatever is permitted: what a further forbid lets through was let through before, and no agent, no task, no stranger
/// and nobody without the scope is ever let through.
#[test]
fn a_random_forbid_never_widens_and_no_permit_lets_an_agent_approve() {
    let mut random = Random::new(411);
    let tools = tools(&mut random, 8);
    let everyone = "permit (principal, action == Action::\"approve\", resource);\n";
    let before = gate_with(tools.clone(), everyone).unwrap();
    let conditions = [
        "principal has tenant && principal.tenant.role != \"owner\"",
        "resource.effect == \"write\"",
        "context.wide",
        "context has flow",
        "!(context has tenant)",
        "context.asker like \"* agent:*\"",
        "resource has group",
        "principal.runtime == \"client\"",
    ];
    let (mut narrowed, mut allowed) = (0, 0);
    for condition in conditions {
        let word = random.pick(&["when", "unless"]);
        let rule =
            format!("{everyone}forbid (principal, action == Action::\"approve\", resource) {word} {{ {condition} }};");
        let after = gate_with(tools.clone(), &rule).unwrap();
        for caller in callers(&mut random, 40, &tools) {
            let scopes = random.pick(&[&["approve"][..], &[]]);
            let caller = with_scopes(caller, scopes);
            let facts = AskedFacts {
                tenant: random.one_in(2).then_some("acme"),
                flow: random.one_in(2).then_some("f-1"),
                owner: random.one_in(2),
                four_eyes: random.one_in(3),
                wide: random.one_in(3),
                ..asked()
            };
            let tool = random.pick(&tools).name.to_string();
            let was = before.decide_approve(&caller, &tool, &facts, Lang::En) == Decision::Allow;
            let is = after.decide_approve(&caller, &tool, &facts, Lang::En) == Decision::Allow;
            assert!(was || !is, "widened: {rule}\n{caller:?}\n{facts:?}");
            let person = caller.user.is_some() && caller.agent.is_none() && caller.task.is_none();
            assert!(!was || (person && caller.scopes.contains("approve")), "{caller:?}");
            assert!(!(was && facts.four_eyes && facts.owner), "{facts:?}");
            narrowed += usize::from(was && !is);
            allowed += usize::from(is);
        }
    }
    assert!(narrowed > 5 && allowed > 5, "{narrowed} were narrowed, {allowed} allowed");
}

#[test]
fn each_shipped_rule_about_approving_is_missed_by_somebody() {
    let everyone = "permit (principal, action == Action::\"approve\", resource);";
    let rules = vec![RuleFile { name: "own.cedar".to_owned(), text: everyone.to_owned() }];
    let worker = Caller { agent: agent(AgentKind::Worker, None).agent, ..approver() };
    let admin = Caller { tenant: Some(tenant(Role::Admin, "starter", &[])), ..approver() };
    let four_eyes = AskedFacts { four_eyes: true, ..owned() };
    for (rule, caller, facts) in [
        ("approver_is_a_person", worker, asked()),
        ("approving_credential", user("ann"), asked()),
        ("approver_of_the_tenant", admin, asked()),
        ("four_eyes", approver(), four_eyes),
    ] {
        let whole = Blueprint { tools: house(), rules: rules.clone(), ..Blueprint::default() };
        let shipped = RuleFile::shipped();
        let start = shipped.text.find(&format!("@id(\"{rule}\")")).unwrap();
        let end = start + shipped.text[start..].find(";\n").unwrap() + 2;
        let text = format!("{}{}", &shipped.text[..start], &shipped.text[end..]);
        let lacking = Blueprint {
            tools: house(),
            rules: rules.clone(),
            shipped_rules: Some(RuleFile { text, ..shipped }),
            ..Blueprint::default()
        };
        assert_ne!(code(&Gate::new(whole).unwrap(), &caller, "move", &facts), "allow", "{rule}");
        assert_eq!(code(&Gate::new(lacking).unwrap(), &caller, "move", &facts), "allow", "{rule}");
    }
}
