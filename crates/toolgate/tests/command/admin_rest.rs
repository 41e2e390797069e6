//! Administration over HTTP: each address is one call of one tool, for whoever may make it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
};

const CONFIG: &str = "[packs.admin]\n[packs.gate]\n[packs.spine]\n[packs.todo]\n";

/// Tools whose addresses a tenant's admin may ask; all others are the operator's.
const ADMINS: [&str; 12] = [
    "admin_get_catalog_tool",
    "admin_get_summary",
    "admin_get_tenant",
    "admin_list_catalog",
    "admin_list_disabled_tools",
    "admin_list_members",
    "admin_list_overrides",
    "admin_list_tools",
    "admin_remove_member",
    "admin_remove_override",
    "admin_set_member",
    "admin_set_override",
];

fn send(gate: &Served, method: &str, path: &str, token: Option<&str>, body: &Value) -> Answer {
    let request =
        Request { method: method.to_owned(), path: format!("/api/v1{path}"), ..Request::json(body.to_string()) };
    gate.send(&token.iter().fold(request, |request, token| request.bearer(token)))
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.message()["code"].as_str().unwrap_or_default().to_owned())
}

/// A gate with Acme, owned by Ada, and Beta, owned by Bob; the operator's token.
fn stage(home: &Home) -> (Served, String) {
    let gate = home.serve();
    let operator = home.mint("--user olga --operator");
    for (tenant, owner) in [("acme", "ada"), ("beta", "bob")] {
        let made = send(&gate, "POST", "/admin/tenants", Some(&operator), &json!({"id": tenant, "owner": owner}));
        assert_eq!(made.status, 200, "{}", made.text());
    }
    (gate, operator)
}

#[test]
fn a_tenant_is_run_over_http() {
    let home = Home::with(CONFIG);
    let (gate, operator) = stage(&home);
    let ada = home.mint("--user ada");
    let ask = |token: &str, method: &str, path: &str, body: Value| send(&gate, method, path, Some(token), &body);
    let seated = ask(&ada, "PUT", "/admin/tenants/acme/members/corp%2Fmel", json!({"role": "admin"}));
    let body = seated.message();
    assert_eq!((seated.status, &body["success"], &body["message"]), (200, &json!(true), &json!("changed")));
    assert_eq!(body["data"]["changes"][0]["after"]["user"], "corp/mel");

    let switched = ask(
        &ada,
        "POST",
        "/admin/tools/tenant/acme/override",
        json!({"tool_name": "add_task", "is_enabled": false, "reason": "not here"}),
    );
    assert_eq!(switched.status, 200, "{}", switched.text());
    let tools = ask(&ada, "GET", "/admin/tools/tenant/acme", json!({})).message();
    let add = tools["data"]["tools"].as_array().unwrap().iter().find(|row| row["tool_name"] == "add_task").unwrap();
    assert_eq!((&add["is_enabled"], &add["source"]), (&json!(false), &json!("tenant_override")));
    let summary = ask(&ada, "GET", "/admin/tools/tenant/acme/summary", json!({})).message();
    assert_eq!(summary["data"]["overridden_tools"], 1);

    let dry = ask(&ada, "DELETE", "/admin/tools/tenant/acme/override/add_task?dryRun=true", json!({})).message();
    assert_eq!((&dry["data"]["dry_run"], &dry["data"]["changes"][0]["after"]), (&json!(true), &Value::Null));
    assert_eq!(ask(&ada, "DELETE", "/admin/tools/tenant/acme/override/add_task", json!({})).status, 200);
    let again = ask(&ada, "DELETE", "/admin/tools/tenant/acme/override/add_task", json!({}));
    assert_eq!(code(&again), (404, "not_found".to_owned()));
    assert_eq!(again.message()["success"], false);

    // what was done over HTTP is taken back over MCP: it is one and the same
    let receipt = switched.message()["receipt"].clone();
    let undo = Message::call(Era::Modern, "undo", json!({ "receipt": receipt })).bearer(&ada);
    assert_eq!(gate.ask(&undo).result()["isError"], true, "it was changed since");

    assert_eq!(code(&ask(&operator, "POST", "/admin/tenants", json!({"id": "acme"}))), (409, "conflict".to_owned()));
    assert_eq!(ask(&operator, "PATCH", "/admin/tenants/acme", json!({"plan": "enterprise"})).status, 200);
    assert_eq!(ask(&ada, "GET", "/admin/tenants/acme", json!({})).message()["data"]["tenant"]["plan"], "enterprise");
    let page = ask(&operator, "GET", "/admin/tenants?limit=1", json!({})).message();
    let next = format!("/admin/tenants?limit=1&after={}", page["data"]["next"].as_str().unwrap());
    assert_eq!(ask(&operator, "GET", &next, json!({})).message()["data"]["tenants"][0]["id"], "acme");
}

#[test]
fn a_disabled_tool_is_gone_for_everybody_at_once() {
    let home = Home::with(CONFIG);
    let (gate, operator) = stage(&home);
    let (ada, mel) = (home.mint("--user ada"), home.mint("--user mel"));
    let ask = |method: &str, path: &str, body: Value| send(&gate, method, path, Some(&operator), &body);
    let add =
        |token: &str| gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(token)).verdict();
    assert_eq!((add(&ada), add(&mel)), ("ok".to_owned(), "ok".to_owned()));
    assert_eq!(ask("PUT", "/admin/tools/global-disabled/add_task", json!({"reason": "broken"})).status, 200);
    assert_eq!((add(&ada), add(&mel)), ("globally_disabled".to_owned(), "globally_disabled".to_owned()));
    let listed = ask("GET", "/admin/tools/global-disabled", json!({})).message();
    assert_eq!(listed["data"], json!({"count": 1, "disabled_tools": ["add_task"]}));
    assert_eq!(ask("DELETE", "/admin/tools/global-disabled/add_task", json!({})).status, 200);
    assert_eq!(add(&mel), "ok");

    let paid = json!({"display_name": "Add", "group": "paid", "min_plan": "professional"});
    assert_eq!(ask("PUT", "/admin/tools/catalog/add_task", paid).status, 200);
    let row = ask("GET", "/admin/tools/catalog/add_task", json!({})).message()["data"]["tool"].clone();
    assert_eq!(
        (&row["display_name"], &row["group"], &row["min_plan"]),
        (&json!("Add"), &json!("paid"), &json!("professional"))
    );
    assert_eq!(add(&ada), "plan_restricted");
    assert_eq!(ask("DELETE", "/admin/tools/catalog/add_task", json!({})).status, 200);
    assert_eq!(add(&ada), "ok");
}

#[test]
fn the_tools_that_administer_can_be_disabled_and_the_command_line_enables_them_again() {
    let home = Home::with(CONFIG);
    let (gate, operator) = stage(&home);
    let ask = |method: &str, path: &str| send(&gate, method, path, Some(&operator), &json!({}));
    for tool in ["admin_enable_tool", "admin_disable_tool"] {
        assert_eq!(ask("PUT", &format!("/admin/tools/global-disabled/{tool}")).status, 200, "{tool}");
    }
    let refused = ask("DELETE", "/admin/tools/global-disabled/admin_enable_tool");
    assert_eq!(code(&refused), (403, "globally_disabled".to_owned()));
    let disabled = home.json(&["catalog", "show", "admin_enable_tool"]);
    assert_eq!(disabled["tool"]["disabled"], true);
    home.json(&["catalog", "enable", "admin_enable_tool"]);
    assert_eq!(ask("DELETE", "/admin/tools/global-disabled/admin_disable_tool").status, 200, "the server follows");
}

/// Every operation: method, path with its words filled in, tool.
fn operations(home: &Home, gate: &Served) -> Vec<(String, String, String)> {
    let described = gate.send(&Request::new("GET", "/api/v1/openapi.json").bearer(&home.mint("--user op --operator")));
    assert_eq!((described.status, described.header("content-type")), (200, Some("application/json")));
    let described = described.message();
    assert_eq!(described["openapi"], "3.1.0");
    let mut found = Vec::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let path = path.replace("{tenant}", "acme").replace("{tool_name}", "add_task").replace("{user}", "ada");
            // everything is asked for as a dry run: here in the query, else in the body
            let path = if method == "delete" { format!("{path}?dryRun=true") } else { path };
            let tool = operation["operationId"].as_str().unwrap_or_default().to_owned();
            found.push((method.to_uppercase(), path, tool));
        }
    }
    found.retain(|(_, path, _)| path.starts_with("/admin/"));
    found
}

#[test]
fn every_address_turns_away_who_may_not() {
    let home = Home::with(CONFIG);
    let (gate, operator) = stage(&home);
    for (user, role) in [("mel", "member"), ("bil", "billing"), ("ann", "admin")] {
        let path = format!("/admin/tenants/acme/members/{user}");
        assert_eq!(send(&gate, "PUT", &path, Some(&operator), &json!({ "role": role })).status, 200);
    }
    let mint = |facts: &str| home.mint(facts);
    let nobodies = [
        mint("--user eve"),
        mint("--user mel"),
        mint("--user bil"),
        mint("--agent w --kind worker --project p --purpose task"),
        mint("--agent c --kind coordinator"),
    ];
    let (ann, bob) = (mint("--user ann"), mint("--user bob"));
    // a token that names a tenant one is not in is none at all
    let liar = mint("--user eve --tenant acme --role owner");
    let body = json!({"dryRun": true});
    let operations = operations(&home, &gate);
    let tools: BTreeSet<&str> = operations.iter().map(|(_, _, tool)| tool.as_str()).collect();
    assert_eq!(tools.len(), 27, "every tool has an address: {tools:?}");
    for (method, path, tool) in &operations {
        let ask = |token: Option<&str>| send(&gate, method, path, token, &body);
        for token in [None, Some("nonsense"), Some(&*liar)] {
            assert_eq!(code(&ask(token)), (401, "not_signed_in".to_owned()), "{method} {path}");
        }
        for token in &nobodies {
            assert_eq!(code(&ask(Some(token))), (403, "not_allowed".to_owned()), "{method} {path}");
        }
        let is_admins = ADMINS.contains(&tool.as_str());
        let of_admin = ask(Some(&ann));
        assert_eq!(code(&of_admin).1 == "operator_required", !is_admins, "{method} {path}: {}", of_admin.text());
        if is_admins && path.contains("acme") {
            assert_eq!(code(&ask(Some(&bob))).0, if method == "PUT" || method == "POST" { 400 } else { 404 }, "{path}");
        }
        let of_operator = ask(Some(&operator)).status;
        assert!(![401, 403, 405, 503].contains(&of_operator), "{method} {path}: {of_operator}");
    }
}

#[test]
fn another_tenants_address_answers_as_one_that_is_not_there() {
    let home = Home::with(CONFIG);
    let (gate, _) = stage(&home);
    let bob = home.mint("--user bob");
    let switch = json!({"tool_name": "add_task", "is_enabled": false});
    for (method, path, body) in [
        ("GET", "/admin/tools/tenant/acme", json!({})),
        ("GET", "/admin/tools/tenant/acme/summary", json!({})),
        ("POST", "/admin/tools/tenant/acme/override", switch),
        ("DELETE", "/admin/tools/tenant/acme/override/add_task", json!({})),
        ("GET", "/admin/tenants/acme", json!({})),
        ("PUT", "/admin/tenants/acme/members/eve", json!({"role": "member"})),
        ("DELETE", "/admin/tenants/acme/members/ada", json!({})),
    ] {
        let theirs = send(&gate, method, path, Some(&bob), &body);
        let none = send(&gate, method, &path.replace("acme", "none"), Some(&bob), &body);
        assert_eq!(code(&theirs), (404, "not_found".to_owned()), "{path}");
        assert_eq!(theirs.text().replace("acme", "none"), none.text(), "{path}");
    }
}

#[test]
fn what_is_wrong_with_a_request_is_said() {
    let home = Home::with(CONFIG);
    let (gate, operator) = stage(&home);
    let ask = |method: &str, path: &str, body: Value| send(&gate, method, path, Some(&operator), &body);
    for (method, path, body, status, word) in [
        ("POST", "/admin/tenants", json!({}), 400, "'id' is required"),
        ("POST", "/admin/tenants", json!({"id": "a b"}), 400, "'id' is not valid"),
        ("POST", "/admin/tenants", json!({"id": "x", "colour": 1}), 400, "colour"),
        ("POST", "/admin/tenants", json!({"id": "x", "plan": "gold"}), 400, "starter, professional, enterprise"),
        ("POST", "/admin/tenants", json!([1]), 400, "object"),
        ("PATCH", "/admin/tenants/acme", json!({"tenant": "beta", "plan": "starter"}), 400, "given twice"),
        ("GET", "/admin/tenants?limit=many", json!({}), 400, "'limit' is not valid"),
        ("GET", "/admin/tools/catalog/%FF", json!({}), 400, "UTF-8"),
        ("GET", "/admin/tools/catalog/ad_task", json!({}), 404, "did you mean 'add_task'"),
        ("GET", "/admin/nothing", json!({}), 404, "openapi"),
        ("PUT", "/admin/tenants", json!({}), 405, "GET, POST"),
    ] {
        let answer = ask(method, path, body.clone());
        assert_eq!(answer.status, status, "{method} {path} {body}: {}", answer.text());
        assert!(answer.text().contains(word), "{method} {path} {body}: {}", answer.text());
        assert_eq!(answer.message()["success"], false);
    }
    assert_eq!(ask("PUT", "/admin/tenants", json!({})).header("allow"), Some("GET, POST"));
    let form = Request { path: "/api/v1/admin/tenants".to_owned(), body: b"id=x".to_vec(), ..Request::new("POST", "") };
    assert_eq!(gate.send(&form.bearer(&operator)).status, 415);
}

#[test]
fn without_the_pack_the_addresses_say_how_to_get_it() {
    let home = Home::with("[packs.todo]\n");
    let gate = home.serve();
    let operator = home.mint("--user olga --operator");
    let answer = send(&gate, "GET", "/admin/tenants", Some(&operator), &json!({}));
    assert_eq!((answer.status, answer.text().contains("[packs.admin]")), (404, true), "{}", answer.text());
    assert_eq!(send(&gate, "GET", "/admin/tenants", None, &json!({})).status, 401);
    assert_eq!(operations(&home, &gate), []);
    // the command line administers all the same
    home.json(&["tenant", "add", "acme", "--owner", "ada"]);
    let explained = home.json(&["explain", "add_task", "--as", "user=ada"]);
    assert_eq!(explained["caller"]["tenant"]["id"], "acme");
}
