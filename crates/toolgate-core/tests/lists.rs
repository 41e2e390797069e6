//! Lists: definitions pass through untouched but for what the gate must change, in order, in pages, with a digest.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toolgate_core::{
    Blueprint, Caller, CatalogProblem, Facts, Gate, GateProblem, Tool, ToolName,
    caller::{Role, Runtime},
    tool::{Approval, Binding, Effect, Permission},
};

use crate::fixtures::{code, defined, explained, gate, gate_with, line, list, of_tenant, pages, tool, user};

fn open() -> Facts {
    explained(Permission::Unauthenticated)
}

fn paged(tools: Vec<Tool>, page_size: usize) -> Arc<Gate> {
    Gate::new(Blueprint { tools, page_size, ..Blueprint::default() }).unwrap()
}

fn some(count: usize) -> Vec<Tool> {
    (0..count).map(|number| tool(&format!("t{number:03}"), open())).collect()
}

const ODD: &str = "{ \"x-vendor\" : {\"b\":1.0e5 , \"a\":[1.10,-0.0,  1E400]},\n  \"name\":\"odd\", \"description\":\"caf\\u00e9 / \\/ 日本\",\
    \"inputSchema\":{\"type\":\"object\",\"properties\":{\"z\":{\"maximum\":12345678901234567890},\"a\":{}},\"$defs\":{}},\
    \"annotations\":{\"readOnlyHint\":true} }";

#[test]
fn a_definition_is_listed_byte_for_byte() {
    let gate = gate(vec![defined("odd", ODD, open())]);
    assert_eq!(pages(&gate, &Caller::anonymous()), [format!("[{ODD}]")]);
    let listing = gate.listing(&Caller::anonymous()).unwrap();
    assert_eq!(listing.definition("odd").unwrap().get(), ODD);
    assert!(listing.definition("even").is_none());
}

#[test]
fn a_marked_definition_changes_only_in_its_meta() {
    let facts = Facts { advertised: true, ..explained(Permission::SignedIn) };
    let gate = gate(vec![defined("odd", ODD, facts)]);
    let page = pages(&gate, &Caller::anonymous()).remove(0);
    for kept in [
        "{\"b\":1.0e5 , \"a\":[1.10,-0.0,  1E400]}",
        "\"caf\\u00e9 / \\/ 日本\"",
        "{\"maximum\":12345678901234567890}",
        "\"annotations\":{\"readOnlyHint\":true}",
    ] {
        assert!(page.contains(kept), "{kept} is gone from {page}");
    }
    let keys: Vec<usize> = ["x-vendor", "name", "description", "inputSchema", "annotations", "_meta"]
        .iter()
        .map(|key| page.find(&format!("\"{key}\"")).unwrap())
        .collect();
    assert!(keys.is_sorted(), "the order of keys changed: {page}");
}

#[test]
fn a_mark_joins_a_meta_that_is_there() {
    let definition = r#"{"name":"m","inputSchema":{},"_meta":{"vendor/cost":1.50,"toolgate/callable":true}}"#;
    let facts = Facts { advertised: true, ..explained(Permission::SignedIn) };
    let gate = gate(vec![defined("m", definition, facts)]);
    assert_eq!(
        pages(&gate, &Caller::anonymous()),
        [concat!(
            r#"[{"name":"m","inputSchema":{},"_meta":{"vendor/cost":1.50,"toolgate/callable":false,"#,
            r#""toolgate/code":"authentication_required","toolgate/reason":"Tool 'm' requires authentication. "#,
            r#"Send a bearer token; the operator makes one with 'toolgate token mint'."}}]"#
        )]
    );
    assert_eq!(
        pages(&gate, &user("ann")),
        [r#"[{"name":"m","inputSchema":{},"_meta":{"vendor/cost":1.50}}]"#],
        "the mark of a source's own making is gone, and the rest is untouched"
    );
}

#[test]
fn what_can_not_be_marked_is_not_shown() {
    let facts = Facts { advertised: true, ..explained(Permission::SignedIn) };
    let gate = gate(vec![defined("m", r#"{"name":"m","inputSchema":{},"_meta":"text"}"#, facts)]);
    assert_eq!(line(&gate, &Caller::anonymous()), "");
    assert_eq!(line(&gate, &user("ann")), "m");
}

#[test]
fn bound_arguments_vanish_from_properties_and_required_and_nowhere_else() {
    let bind = BTreeMap::from([("user_id".to_owned(), Binding::User), ("absent".to_owned(), Binding::Task)]);
    let definition = concat!(
        r#"{"name":"add","description":"user_id","inputSchema":{"type":"object","properties":{"user_id":{"type":"string"},"#,
        r#""owner":{"properties":{"user_id":{}},"required":["user_id"]},"weight":{"maximum": 1.0e5}},"#,
        r#""required":["user_id","weight"],"x":["user_id"]},"outputSchema":{"properties":{"user_id":{}}}}"#
    );
    let gate = gate(vec![defined("add", definition, Facts { bind, ..open() })]);
    let task = Some(toolgate_core::caller::Task { id: "t-1".to_owned(), process: None, orchestrator: false });
    let who = Caller { task, ..user("ann") };
    assert_eq!(pages(&gate, &Caller::anonymous()), ["[]"], "what can't be filled can't be called");
    assert_eq!(
        pages(&gate, &who),
        [concat!(
            r#"[{"name":"add","description":"user_id","inputSchema":{"type":"object","properties":{"#,
            r#""owner":{"properties":{"user_id":{}},"required":["user_id"]},"weight":{"maximum": 1.0e5}},"#,
            r#""required":["weight"],"x":["user_id"]},"outputSchema":{"properties":{"user_id":{}}}}]"#
        )]
    );
}

#[test]
fn dotted_names_are_listed_as_wire_names_and_found_by_both() {
    let gate = gate(vec![tool("vault.move", open())]);
    assert_eq!(line(&gate, &Caller::anonymous()), "vault_move");
    for name in ["vault.move", "vault_move"] {
        assert_eq!(code(&gate, &Caller::anonymous(), name), "allow");
        assert!(gate.listing(&Caller::anonymous()).unwrap().definition(name).is_some());
    }
    let mut dotted = tool("vault.move", open());
    dotted.wire_name = dotted.name.clone();
    assert_eq!(line(&crate::fixtures::gate(vec![dotted]), &Caller::anonymous()), "vault.move");
}

#[test]
fn two_tools_of_one_name_are_refused_with_both_sources_and_the_fix() {
    let mut theirs = tool("vault_move", open());
    theirs.source = "files".into();
    for tools in [vec![tool("vault.move", open()), theirs.clone()], vec![theirs, tool("vault.move", open())]] {
        let problem = Gate::new(Blueprint { tools, ..Blueprint::default() }).unwrap_err();
        assert!(matches!(&problem, GateProblem::Catalog(CatalogProblem::Clash { name, .. }) if name == "vault_move"));
        let said = problem.to_string();
        for part in ["'vault.move' of pack", "'vault_move' of files", "prefix = "] {
            assert!(said.contains(part), "{part} is not in: {said}");
        }
    }
}

#[test]
fn a_wire_name_may_not_be_another_tools_canonical_name() {
    let mut sly = tool("harmless", open());
    sly.wire_name = ToolName::new("vault.move").unwrap();
    let result = Gate::new(Blueprint { tools: vec![tool("vault.move", open()), sly], ..Blueprint::default() });
    assert!(matches!(result, Err(GateProblem::Catalog(CatalogProblem::Clash { .. }))));
}

#[test]
fn an_unusable_definition_is_refused_by_name() {
    for (definition, why) in [
        ("[]", "no JSON object"),
        (r#"{"inputSchema":{}}"#, "no name"),
        (r#"{"name":"x"}"#, "no inputSchema"),
        (r#"{"name":"x","inputSchema":[]}"#, "inputSchema is no object"),
    ] {
        let problem = gate_with(vec![defined("x", definition, open())], "").unwrap_err().to_string();
        assert!(problem.contains("'x'") && problem.contains(why), "{problem}");
    }
}

#[test]
fn pages_hold_what_they_should_and_only_the_last_is_last() {
    for (tools, page_size, sizes) in [
        (0, 10, vec![0]),
        (1, 1, vec![1]),
        (3, 1, vec![1, 1, 1]),
        (4, 2, vec![2, 2]),
        (5, 2, vec![2, 2, 1]),
        (5, 5, vec![5]),
        (5, 6, vec![5]),
        (2, 0, vec![1, 1]),
    ] {
        let gate = paged(some(tools), page_size);
        let pages = pages(&gate, &Caller::anonymous());
        let found: Vec<usize> =
            pages.iter().map(|page| serde_json::from_str::<Vec<Value>>(page).unwrap().len()).collect();
        assert_eq!(found, sizes, "{tools} tools, {page_size} a page");
        assert_eq!(list(&gate, &Caller::anonymous()).len(), tools);
    }
}

#[test]
fn an_empty_list_is_one_page() {
    let gate = gate(vec![tool("notes", explained(Permission::SignedIn))]);
    assert_eq!(pages(&gate, &Caller::anonymous()), ["[]"]);
    assert!(gate.listing(&Caller::anonymous()).unwrap().is_empty());
}

#[test]
fn tools_not_listed_do_not_count_on_a_page() {
    let mut tools = some(4);
    tools[1].facts.permission = Permission::SignedIn;
    assert_eq!(pages(&paged(tools, 2), &Caller::anonymous()).len(), 2);
}

#[test]
fn the_order_is_the_wire_names_whatever_order_tools_came_in() {
    let mut tools = vec![tool("b", open()), tool("a.z", open()), tool("a-b", open()), tool("B", open())];
    let first = pages(&gate(tools.clone()), &Caller::anonymous());
    for _ in 0..tools.len() {
        tools.rotate_left(1);
        assert_eq!(pages(&gate(tools.clone()), &Caller::anonymous()), first);
    }
    assert_eq!(line(&gate(tools), &Caller::anonymous()), "B a-b a_z b");
}

#[test]
fn equal_lists_have_equal_digests_at_different_revisions() {
    let digest = |tools: Vec<Tool>, caller: &Caller| {
        let listing = gate(tools).listing(caller).unwrap();
        (listing.revision(), listing.digest(toolgate_core::Kind::Tool))
    };
    let (revision, base) = digest(some(3), &Caller::anonymous());
    let (later, same) = digest(some(3), &user("ann"));
    assert_ne!(revision, later);
    assert_eq!(base, same);
    let mut more = some(3);
    more.push(tool("unseen", explained(Permission::ManagerOnly)));
    assert_eq!(digest(more, &Caller::anonymous()).1, base, "what is not listed is not in the digest");
    let mut changed = some(3);
    changed[1] = defined("t001", r#"{"name":"t001","description":"Does t001!","inputSchema":{}}"#, open());
    assert_ne!(digest(changed, &Caller::anonymous()).1, base);
    let mut marked = some(3);
    marked[1].facts = Facts { advertised: true, ..explained(Permission::SignedIn) };
    assert_ne!(digest(marked, &Caller::anonymous()).1, base, "a mark is part of the list");
    assert_ne!(digest(some(2), &Caller::anonymous()).1, base);
}

#[test]
fn ten_thousand_tools_of_thirty_six_kinds_take_as_many_questions_as_there_are_kinds() {
    let permissions = [Permission::Unauthenticated, Permission::SignedIn, Permission::AdminOnly];
    let tools = (0..10_000).map(|number: usize| {
        let facts = Facts {
            permission: permissions[number % 3],
            effect: Effect::ALL[number / 3 % 3],
            approval: Approval::ALL[number / 9 % 2],
            runtimes: if (number / 18).is_multiple_of(2) {
                [Runtime::Server].into()
            } else {
                Facts::default().runtimes
            },
            ..explained(Permission::SignedIn)
        };
        tool(&format!("tool_{number:05}"), facts)
    });
    let gate = gate(tools.collect());
    let started = std::time::Instant::now();
    let listing = gate.listing(&user("ann")).unwrap();
    assert_eq!(listing.len(), 10_000 - 3_333);
    let asked = gate.rulebook().evaluations();
    eprintln!("10,000 tools: {asked} evaluations, {:?}", started.elapsed());
    assert_eq!(asked, 72, "one call and one list decision for each kind");
    for (name, wanted) in [("tool_00000", "allow"), ("tool_09990", "allow"), ("tool_00011", "admin_required")] {
        assert_eq!(code(&gate, &user("bob"), name), wanted);
    }
    assert_eq!(gate.rulebook().evaluations(), asked, "a caller of the same kind asks nothing anew");
    assert_eq!(gate.listing(&of_tenant(Role::Owner, "starter")).unwrap().len(), 10_000);
    assert_eq!(gate.rulebook().evaluations(), 2 * asked);
}
