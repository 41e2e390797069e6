//! Prompts and resources stand behind the same gate as tools: same facts, same rules, lists of their own.

use std::sync::Arc;

use serde_json::Value;
use toolgate_core::{
    Blueprint, Caller, Decision, Facts, Found, Gate, Kind, Lang, RuleFile, Tool, ToolName,
    caller::{Flow, Role, Tenant},
    tool::{Effect, Permission, WhenDenied},
};

use crate::fixtures::{raw, tool, user};

fn offered(kind: Kind, name: &str, definition: &str, facts: Facts) -> Tool {
    let name = ToolName::free(name).unwrap();
    Tool {
        kind,
        wire_name: name.clone(),
        own_name: name.clone(),
        name,
        source: "docs".into(),
        definition: raw(definition),
        facts,
    }
}

fn facts(permission: Permission) -> Facts {
    Facts { permission, effect: Effect::Read, ..Facts::default() }
}

fn prompt(name: &str, permission: Permission) -> Tool {
    offered(Kind::Prompt, name, &format!(r#"{{"name":"{name}","x":1.10}}"#), facts(permission))
}

fn resource(uri: &str, permission: Permission) -> Tool {
    offered(Kind::Resource, uri, &format!(r#"{{"uri":"{uri}","name":"n"}}"#), facts(permission))
}

fn template(text: &str, permission: Permission) -> Tool {
    offered(Kind::Template, text, &format!(r#"{{"uriTemplate":"{text}","name":"t"}}"#), facts(permission))
}

fn address(text: &str, permission: Permission) -> Tool {
    offered(Kind::Address, text, "{}", facts(permission))
}

fn gate(tools: Vec<Tool>, rules: &str) -> Arc<Gate> {
    let rules = vec![RuleFile { name: "policy/own.cedar".to_owned(), text: rules.to_owned() }];
    Gate::new(Blueprint { tools, rules, ..Blueprint::default() }).unwrap()
}

/// The code of what a request gets; `None` where it is answered as for something unknown.
fn asked(gate: &Gate, caller: &Caller, kind: Kind, name: &str) -> Option<String> {
    let view = gate.view(caller).unwrap();
    said(gate.find_any(&view, caller, (kind, name), (false, false), Lang::En))
}

fn said(found: Found) -> Option<String> {
    match found {
        Found::Nothing => None,
        Found::Tool { decision: Decision::Allow, .. } => Some("allow".to_owned()),
        Found::Tool { decision: Decision::NeedsApproval(denial) | Decision::Deny(denial), .. } => Some(denial.code),
    }
}

fn listed(gate: &Arc<Gate>, caller: &Caller, kind: Kind) -> Vec<Value> {
    let listing = gate.listing(caller).unwrap();
    listing.page(kind, 0).map(|page| serde_json::from_slice(&page.items).unwrap()).unwrap_or_default()
}

fn names(gate: &Arc<Gate>, caller: &Caller, kind: Kind) -> Vec<String> {
    let name = |item: &Value| {
        let name = ["uri", "uriTemplate", "name"].iter().find_map(|key| item.get(key));
        name.unwrap().as_str().unwrap().to_owned()
    };
    listed(gate, caller, kind).iter().map(name).collect()
}

#[test]
fn each_kind_has_a_list_of_its_own_with_only_what_the_caller_may_use() {
    let gate = gate(
        vec![
            tool("search", facts(Permission::Unauthenticated)),
            prompt("review", Permission::Unauthenticated),
            prompt("Fire everyone!", Permission::SignedIn),
            resource("file:///a", Permission::Unauthenticated),
            resource("file:///b", Permission::SignedIn),
            template("notes://{id}", Permission::SignedIn),
            address("notes://secret*", Permission::AdminOnly),
        ],
        "",
    );
    let (stranger, alice) = (Caller::anonymous(), user("alice"));
    assert_eq!(names(&gate, &stranger, Kind::Tool), ["search"]);
    assert_eq!(names(&gate, &stranger, Kind::Prompt), ["review"]);
    assert_eq!(names(&gate, &stranger, Kind::Resource), ["file:///a"]);
    assert!(names(&gate, &stranger, Kind::Template).is_empty());
    assert_eq!(names(&gate, &alice, Kind::Prompt), ["Fire everyone!", "review"]);
    assert_eq!(names(&gate, &alice, Kind::Resource), ["file:///a", "file:///b"]);
    assert_eq!(names(&gate, &alice, Kind::Template), ["notes://{id}"]);
    // the definitions are the source's own bytes
    let page = gate.listing(&stranger).unwrap().page(Kind::Prompt, 0).unwrap().items.clone();
    assert_eq!(page, r#"[{"name":"review","x":1.10}]"#);
    // tools are counted and searched alone
    assert_eq!(gate.catalog().len(), 1);
    assert!(gate.catalog().find("review").is_none());
}

#[test]
fn what_is_listed_can_be_had_and_what_is_not_is_unknown() {
    let everything = vec![
        prompt("review", Permission::SignedIn),
        resource("file:///b", Permission::SignedIn),
        template("notes://{id}", Permission::SignedIn),
    ];
    let gate = gate(everything, "");
    let (stranger, alice) = (Caller::anonymous(), user("alice"));
    for (kind, name) in [
        (Kind::Prompt, "review"),
        (Kind::Resource, "file:///b"),
        (Kind::Resource, "notes://7"),
        (Kind::Template, "notes://{id}"),
    ] {
        assert_eq!(asked(&gate, &alice, kind, name).as_deref(), Some("allow"), "{name}");
        assert_eq!(asked(&gate, &stranger, kind, name), None, "{name}");
    }
    for (kind, name) in [
        (Kind::Prompt, "file:///b"),
        (Kind::Resource, "review"),
        (Kind::Tool, "review"),
        (Kind::Resource, "notes://7/8"),
        (Kind::Resource, "notes://{id}"),
    ] {
        assert_eq!(asked(&gate, &alice, kind, name), None, "{kind} {name}");
    }
}

#[test]
fn only_the_normal_form_of_an_address_is_found_by_a_pattern() {
    let secret = Tool {
        own_name: ToolName::free("file:///docs/{+path}").unwrap(),
        ..address("file:///docs/salaries*", Permission::OperatorOnly)
    };
    let tools = vec![
        template("file:///docs/{+path}", Permission::SignedIn),
        secret,
        resource("file:///odd/%61", Permission::SignedIn),
    ];
    let (open, alice) = (gate(tools.clone(), ""), user("alice"));
    let of = |gate: &Gate, name: &str| asked(gate, &alice, Kind::Resource, name);
    assert_eq!(of(&open, "file:///docs/minutes.txt").as_deref(), Some("allow"));
    for spelling in [
        "file:///docs/salaries.txt",
        "file:///docs/%73alaries.txt",
        "file:///docs/./salaries.txt",
        "file:///docs/x/../salaries.txt",
        "file:///docs//salaries.txt",
        "file:///docs/x/%2e%2e/salaries.txt",
        "file:///docs/x\\..\\salaries.txt",
        "FILE:///docs/salaries.txt",
        "file:///docs/minutes.txt#",
    ] {
        assert_eq!(of(&open, spelling), None, "{spelling}");
    }
    // a server's own spelling is its address, unless a rule knows it by the normal one
    assert_eq!(of(&open, "file:///odd/%61").as_deref(), Some("allow"));
    assert_eq!(of(&open, "file:///odd/a"), None);
    for rule in [
        r#"resource == Resource::"file:///odd/a""#,
        r#"resource is Resource) when { resource.name like "file:///odd/a*" "#,
    ] {
        let end = if rule.contains("when") { "};" } else { ");" };
        let text = format!(
            "@id(\"own\") @message(\"No.\") @hides(\"no\") forbid (principal, action in Action::\"call\", {rule}{end}"
        );
        assert_eq!(of(&gate(tools.clone(), &text), "file:///odd/%61"), None, "{rule}");
    }
}

#[test]
fn facts_about_an_address_beat_the_template_that_leads_there() {
    let everything = vec![
        template("notes://{id}", Permission::Unauthenticated),
        address("notes://secret*", Permission::AdminOnly),
        address("*", Permission::SignedIn),
    ];
    let gate = gate(everything, "");
    let (stranger, alice) = (Caller::anonymous(), user("alice"));
    let tenant = Tenant { id: "t".into(), role: Role::Admin, plan: None, overrides: Default::default() };
    let admin = Caller { tenant: Some(tenant), ..user("root") };
    assert_eq!(asked(&gate, &stranger, Kind::Resource, "notes://7"), None, "the star is about every address");
    assert_eq!(asked(&gate, &alice, Kind::Resource, "notes://7").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &alice, Kind::Resource, "notes://secret-7"), None);
    assert_eq!(asked(&gate, &admin, Kind::Resource, "notes://secret-7").as_deref(), Some("allow"));
    assert!(names(&gate, &admin, Kind::Address).is_empty(), "an address is on no list");
}

#[test]
fn an_address_of_a_template_leads_nowhere_the_template_does_not() {
    let mut within = address("*", Permission::Unauthenticated);
    within.own_name = ToolName::free("notes://{id}").unwrap();
    let gate = gate(vec![template("notes://{id}", Permission::SignedIn), within], "");
    let stranger = Caller::anonymous();
    assert_eq!(asked(&gate, &stranger, Kind::Resource, "notes://7").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &stranger, Kind::Resource, "file:///etc/passwd"), None);
}

#[test]
fn facts_about_an_address_hold_under_whichever_template_leads_there() {
    let within = |template: &str| {
        let template = ToolName::free(template).unwrap();
        Tool { own_name: template, ..address("notes://secret*", Permission::AdminOnly) }
    };
    let templates = ["files://{id}", "notes://{id}"];
    let mut everything: Vec<Tool> = templates.map(|text| template(text, Permission::SignedIn)).into();
    everything.extend(templates.map(within));
    let gate = gate(everything, "");
    assert_eq!(asked(&gate, &user("alice"), Kind::Resource, "notes://7").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &user("alice"), Kind::Resource, "notes://secret-7"), None);
}

#[test]
fn facts_about_an_address_hold_within_a_wider_one_too() {
    let secret =
        Tool { own_name: ToolName::free("files://*").unwrap(), ..address("*://secret*", Permission::AdminOnly) };
    let wide = [address("files://*", Permission::SignedIn), address("notes://*", Permission::SignedIn)];
    let gate = gate(wide.into_iter().chain([secret]).collect(), "");
    let alice = user("alice");
    assert_eq!(asked(&gate, &alice, Kind::Resource, "files://7").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &alice, Kind::Resource, "files://secret"), None);
    assert_eq!(
        asked(&gate, &alice, Kind::Resource, "notes://secret").as_deref(),
        Some("allow"),
        "said within the other"
    );
    assert_eq!(asked(&gate, &alice, Kind::Resource, "none://secret"), None, "it leads nowhere by itself");
}

#[test]
fn what_no_source_offers_now_is_decided_as_it_would_be_if_one_did() {
    let explained = Facts { when_denied: WhenDenied::Explained, ..facts(Permission::AdminOnly) };
    let everything = || {
        vec![
            prompt("review", Permission::SignedIn),
            prompt("named", Permission::Unauthenticated),
            offered(Kind::Prompt, "shown", r#"{"name":"shown"}"#, explained.clone()),
            Tool {
                facts: Facts { advertised: true, ..facts(Permission::AdminOnly) },
                ..resource("file:///a", Permission::AdminOnly)
            },
            resource("file:///b", Permission::SignedIn),
            template("notes://{id}", Permission::Unauthenticated),
            address("notes://advertised", Permission::AdminOnly),
            Tool {
                facts: Facts { advertised: true, ..facts(Permission::AdminOnly) },
                ..address("kept://*", Permission::AdminOnly)
            },
        ]
    };
    let rules = r#"
        @hides("yes") forbid (principal, action in Action::"call", resource == Prompt::"named") unless { principal has user };
        @hides("no") forbid (principal, action in Action::"call", resource == Resource::"notes://7");
        @obligation("approval") forbid (principal, action in Action::"call", resource == Resource::"file:///b");
        @hides("yes") forbid (principal, action in Action::"call", resource == Resource::"notes://{id}")
        when { principal has user && principal.user == "bob" };"#;
    let (full, empty) = (gate(everything(), rules), gate(Vec::new(), rules));
    let tenant = Tenant { id: "t".into(), role: Role::Admin, plan: None, overrides: Default::default() };
    let allowlist = Some(["prompt:review", "resource:notes://{id}"].map(str::to_owned).into());
    let callers = [
        Caller::anonymous(),
        user("alice"),
        user("bob"),
        Caller { tenant: Some(tenant), ..user("root") },
        Caller { flow: Some(Flow { id: "f".into(), allowlist }), ..user("alice") },
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (found_by, name) in [
        ("review", "review"),
        ("named", "named"),
        ("shown", "shown"),
        ("file:///a", "file:///a"),
        ("file:///b", "file:///b"),
        ("notes://{id}", "notes://7"),
        ("notes://{id}", "notes://8"),
        ("notes://advertised", "notes://advertised"),
        ("kept://*", "kept://1"),
    ] {
        let tool = Arc::new(everything().into_iter().find(|tool| tool.name.as_str() == found_by).unwrap());
        let kind = if tool.kind == Kind::Prompt { Kind::Prompt } else { Kind::Resource };
        for (caller, dry_run) in callers.iter().flat_map(|caller| [(caller, false), (caller, true)]) {
            let there = {
                let view = full.view(caller).unwrap();
                said(full.find_any(&view, caller, (kind, name), (false, dry_run), Lang::En))
            };
            let view = empty.view(caller).unwrap();
            let gone = said(empty.find_absent(&view, caller, (&tool, name), (false, dry_run), Lang::En));
            assert_eq!(gone, there, "{name} {caller:?}");
            seen.insert(gone);
        }
    }
    let seen: Vec<_> = seen.iter().map(|code| code.as_deref().unwrap_or("hidden")).collect();
    assert!(["hidden", "allow"].iter().all(|word| seen.contains(word)) && seen.len() > 4, "{seen:?}");
}

#[test]
fn a_rule_can_hide_a_prompt_or_a_resource_by_its_name_also_where_a_template_leads_to_it() {
    let everything = || {
        vec![
            tool("review", facts(Permission::Unauthenticated)),
            prompt("review", Permission::Unauthenticated),
            resource("file:///a", Permission::Unauthenticated),
            template("notes://{id}", Permission::Unauthenticated),
        ]
    };
    let stranger = Caller::anonymous();
    let rules = r#"
        @hides("yes") forbid (principal, action in Action::"call", resource == Prompt::"review");
        @hides("yes") forbid (principal, action in Action::"call", resource == Resource::"notes://7");"#;
    let named = gate(everything(), rules);
    assert_eq!(asked(&named, &stranger, Kind::Prompt, "review"), None);
    assert!(names(&named, &stranger, Kind::Prompt).is_empty());
    assert_eq!(asked(&named, &stranger, Kind::Tool, "review").as_deref(), Some("allow"), "the tool has another type");
    assert_eq!(asked(&named, &stranger, Kind::Resource, "notes://8").as_deref(), Some("allow"));
    assert_eq!(asked(&named, &stranger, Kind::Resource, "notes://7").as_deref(), None);

    let read = gate(
        everything(),
        r#"@hides("yes") forbid (principal, action in Action::"call", resource is Resource)
           when { resource.name like "notes://secret*" };"#,
    );
    assert_eq!(asked(&read, &stranger, Kind::Resource, "notes://8").as_deref(), Some("allow"));
    assert_eq!(asked(&read, &stranger, Kind::Resource, "file:///a").as_deref(), Some("allow"));
    assert_eq!(asked(&read, &stranger, Kind::Resource, "notes://secret-8"), None);
}

#[test]
fn a_denial_names_the_kind_in_the_callers_language() {
    let explained = Facts { when_denied: WhenDenied::Explained, ..facts(Permission::AdminOnly) };
    let gate = gate(vec![offered(Kind::Prompt, "review", r#"{"name":"review"}"#, explained)], "");
    let alice = user("alice");
    let view = gate.view(&alice).unwrap();
    let said = |lang| match gate.find_any(&view, &alice, (Kind::Prompt, "review"), (false, false), lang) {
        Found::Tool { decision: Decision::Deny(denial), .. } => denial.message,
        other => panic!("{other:?}"),
    };
    assert_eq!(said(Lang::En), "Prompt 'review' requires an admin or owner of the tenant");
    assert!(said(Lang::Ja).starts_with("プロンプト'review'"), "{}", said(Lang::Ja));
}

#[test]
fn a_flow_that_allows_a_tool_does_not_allow_a_prompt_of_that_name() {
    let gate = gate(
        vec![
            tool("review", facts(Permission::SignedIn)),
            prompt("review", Permission::SignedIn),
            resource("file:///a", Permission::SignedIn),
        ],
        "",
    );
    let within = |allowed: &[&str]| {
        let allowlist = Some(allowed.iter().map(|name| (*name).to_owned()).collect());
        Caller { flow: Some(Flow { id: "f".into(), allowlist }), ..user("alice") }
    };
    let tools = within(&["review"]);
    assert_eq!(asked(&gate, &tools, Kind::Tool, "review").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &tools, Kind::Prompt, "review").as_deref(), Some("not_in_allowlist"));
    let rest = within(&["prompt:review", "resource:file:///a"]);
    assert_eq!(asked(&gate, &rest, Kind::Tool, "review").as_deref(), Some("not_in_allowlist"));
    assert_eq!(asked(&gate, &rest, Kind::Prompt, "review").as_deref(), Some("allow"));
    assert_eq!(asked(&gate, &rest, Kind::Resource, "file:///a").as_deref(), Some("allow"));
}

#[test]
fn of_two_prompts_of_one_name_the_first_is_listed_and_got() {
    let mut other = prompt("review", Permission::Unauthenticated);
    other.source = "other".into();
    let gate = gate(vec![prompt("review", Permission::Unauthenticated), other], "");
    assert_eq!(names(&gate, &Caller::anonymous(), Kind::Prompt), ["review"]);
    let view = gate.view(&Caller::anonymous()).unwrap();
    match gate.find_any(&view, &Caller::anonymous(), (Kind::Prompt, "review"), (false, false), Lang::En) {
        Found::Tool { tool, .. } => assert_eq!(&*tool.source, "docs"),
        Found::Nothing => panic!("not found"),
    }
}
