//! Tenants, users, overrides and the catalogue on the command line, on both engines.

use serde_json::{Value, json};

use super::{
    bed::{
        books::{Books, on_both},
        home::Home,
        message::{Era, Message},
    },
    team::{sign_in, staffed},
};

fn kinds(answer: &Value) -> Vec<&str> {
    answer["changes"].as_array().unwrap().iter().map(|change| change["kind"].as_str().unwrap()).collect()
}

on_both! {
    fn a_tenant_is_set_up_and_looked_at(books: Books) {
        let home = &books.home;
        let made = home.json(&["tenant", "add", "acme", "--plan", "professional", "--owner", "ada", "--by", "kim"]);
        assert_eq!(kinds(&made), ["tenant", "member", "user"]);
        let said = home.run(&["tenant", "member", "set", "acme", "mel", "--role", "admin"]);
        assert!(said.out.starts_with("+ member acme mel  role: admin\n+ user mel\nTake it back: toolgate undo rcpt_"), "{said:?}");
        let shown = home.json(&["tenant", "show", "acme"]);
        assert_eq!((&shown["plan"], &shown["tools"]["overridden_tools"]), (&json!("professional"), &json!(0)));
        let changed = home.run(&["tenant", "change", "acme", "--plan", "starter"]);
        assert!(changed.out.contains("~ tenant acme  plan: professional → starter\n"), "{changed:?}");
        let members = home.json(&["tenant", "member", "list", "acme"]);
        assert_eq!(members.as_array().unwrap().len(), 2);
        assert_eq!(home.json(&["user", "show", "mel"])["memberships"][0]["tenant"], "acme");
        let records = home.run(&["ledger", "export", "--principal", "user:operator:kim"]).out;
        assert!(records.contains("admin_create_tenant"), "on record in the operator's name: {records}");

        for (arguments, code, word) in [
            (&["tenant", "add", "acme"][..], 1, "already"),
            (&["tenant", "add", "b", "--plan", "gold"], 2, "starter, professional, enterprise"),
            (&["tenant", "add", "no spaces"], 2, "'id' is not valid"),
            (&["tenant", "show", "gone"], 1, "There is no tenant 'gone'."),
            (&["tenant", "change", "acme"], 2, "'name' or 'plan'"),
            (&["tenant", "member", "remove", "acme", "ada"], 1, "last owner"),
            (&["tenant", "member", "set", "acme", "x", "--role", "king"], 2, "king"),
            (&["user", "show", "nobody"], 1, "There is no user 'nobody'."),
        ] {
            let ran = home.run(arguments);
            assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
            assert!(ran.err.contains(word), "{arguments:?}: {ran:?}");
        }
    }

    fn a_change_is_shown_first_and_taken_back_after(books: Books) {
        let home = &books.home;
        home.json(&["tenant", "add", "acme"]);
        let dry = home.run(&["tenant", "remove", "acme", "--dry-run"]);
        assert_eq!(dry.out, "- tenant acme  name: acme  plan: starter\nNothing was changed: this was a dry run.\n");
        let gone = home.json(&["tenant", "remove", "acme"]);
        assert_eq!(home.run(&["tenant", "show", "acme"]).code, Some(1));
        let undone = home.run(&["undo", gone["receipt"].as_str().unwrap()]);
        assert_eq!(undone.code, Some(0), "{undone:?}");
        assert_eq!(home.json(&["tenant", "list"])[0]["id"], "acme");
        home.json(&["user", "add", "eve", "--email", "eve@acme.example"]);
        home.json(&["user", "change", "eve", "--name", "Eve", "--email", ""]);
        let eve = home.json(&["user", "show", "eve"])["user"].clone();
        assert_eq!((&eve["name"], &eve["email"]), (&json!("Eve"), &Value::Null));
        assert_eq!(kinds(&home.json(&["user", "remove", "eve"])), ["user"]);
        assert_eq!(home.json(&["user", "list"]), json!([]));
    }

    fn overrides_and_the_catalogue_decide_what_explain_says(books: Books) {
        let home = &books.home;
        home.json(&["tenant", "add", "acme", "--owner", "ada"]);
        let explained = |tool: &str| {
            let ran = home.run(&["explain", tool, "--as", "user=ada", "--json"]).json();
            (ran["caller"]["tenant"]["role"].clone(), ran["explanation"]["source"].clone(), ran["explanation"]["outcome"].clone())
        };
        assert_eq!(explained("add_task"), (json!("owner"), json!("default"), json!("allow")));
        home.json(&["override", "set", "acme", "add_task", "off", "--reason", "not here"]);
        assert_eq!(explained("add_task"), (json!("owner"), json!("tenant_override"), json!("deny")));
        home.json(&["catalog", "set", "add_task", "--min-plan", "enterprise", "--group", "paid"]);
        assert_eq!(explained("add_task"), (json!("owner"), json!("plan_restriction"), json!("deny")));
        home.json(&["catalog", "disable", "add_task"]);
        assert_eq!(explained("add_task"), (json!("owner"), json!("global_disabled"), json!("deny")));
        let row = home.json(&["matrix"])["tools"].as_array().unwrap().iter().find(|row| row["tool"] == "add_task").unwrap().clone();
        assert_eq!(row["outcomes"]["user"]["code"], "globally_disabled");
        home.json(&["catalog", "enable", "add_task"]);
        home.json(&["catalog", "reset", "add_task"]);
        home.json(&["override", "remove", "acme", "add_task"]);
        assert_eq!(explained("add_task"), (json!("owner"), json!("default"), json!("allow")));
        // named facts are not looked up
        let named = home.run(&["explain", "add_task", "--as", "user=ada", "--as", "tenant=other", "--json"]).json();
        assert_eq!(named["caller"]["tenant"]["id"], "other");
    }
}

on_both! {
    fn explain_finds_the_caller_in_the_store_as_a_call_would(books: Books) {
        let home = &books.home;
        home.json(&["tenant", "add", "acme", "--plan", "starter", "--owner", "ada"]);
        home.json(&["tenant", "add", "beta", "--plan", "professional", "--owner", "bob"]);
        home.json(&["tenant", "member", "set", "beta", "ada", "--role", "billing"]);
        home.json(&["override", "set", "beta", "add_task", "off"]);
        home.json(&["catalog", "set", "list_tasks", "--min-plan", "professional"]);
        let explained = |tool: &str, facts: &[&str]| {
            let facts: Vec<_> = facts.iter().flat_map(|fact| ["--as", *fact]).collect();
            let ran = home.run(&[&["explain", tool, "--json"], &*facts].concat()).json();
            let tenant = &ran["caller"]["tenant"];
            let explanation = &ran["explanation"];
            json!([tenant["id"], tenant["role"], tenant["plan"], explanation["source"], explanation["outcome"]])
        };
        let expected = |tenant: &str, role: &str, plan: &str, source: &str, outcome: &str| {
            json!([tenant, role, plan, source, outcome])
        };
        // named by the credential, and the store's all the same
        let beta = ["user=ada", "tenant=beta"];
        assert_eq!(explained("add_task", &beta), expected("beta", "billing", "professional", "tenant_override", "deny"));
        assert_eq!(explained("list_tasks", &beta), expected("beta", "billing", "professional", "default", "allow"));
        assert_eq!(
            explained("list_tasks", &["user=ada", "tenant=acme"]),
            expected("acme", "owner", "starter", "plan_restriction", "deny")
        );
        // what is said of the tenant is asked for in the place of what is stored
        assert_eq!(
            explained("list_tasks", &["user=ada", "tenant=acme", "plan=enterprise"]),
            expected("acme", "owner", "enterprise", "default", "allow")
        );
        assert_eq!(
            explained("add_task", &["user=ada", "tenant=beta", "role=member", "override=add_task:on"]),
            expected("beta", "member", "professional", "tenant_override", "allow")
        );
        let stranger = home.run(&["explain", "add_task", "--as", "user=mel", "--as", "tenant=acme"]);
        assert_eq!(stranger.code, Some(2), "{stranger:?}");
        assert!(stranger.err.contains("'mel' is not a member of the tenant 'acme'"), "{stranger:?}");
        // a task and an agent act within their owner's tenant, without the owner's role
        let task = home.json(&["task", "start", "--owner", "bob", "--process", "p1", "--orchestrator"]);
        let task = format!("task={}", task["task_id"].as_str().unwrap());
        assert_eq!(explained("add_task", &[&task]), expected("beta", "member", "professional", "tenant_override", "deny"));
        let ran = home.run(&["explain", "add_task", "--as", &task, "--json"]).json();
        assert_eq!((&ran["caller"]["task"]["process"], &ran["caller"]["task"]["orchestrator"]), (&json!("p1"), &json!(true)));
    }
}

#[test]
fn files_go_out_and_come_back_in_both_forms() {
    let home = Home::bare();
    home.json(&["tenant", "add", "acme"]);
    home.write(
        "some.csv",
        "tenant,tool_name,is_enabled,reason\nacme,add_task,false,\"a, \"\"b\"\"\"\nacme,list_tasks,true,\n",
    );
    let dry = home.run(&["override", "import", "some.csv", "--dry-run"]);
    assert!(dry.out.contains("+ override acme add_task  is_enabled: false  reason: a, \"b\"\n"), "{dry:?}");
    assert_eq!(home.json(&["override", "list", "acme"])["count"], 0);
    assert_eq!(home.json(&["override", "import", "some.csv"])["changed"], true);
    for format in ["toml", "csv"] {
        let exported = home.run(&["override", "export", "--format", format]);
        home.write("again", &exported.out);
        let again = home.json(&["override", "import", "again", "--format", format]);
        assert_eq!(again["changed"], false, "{format}: {again}");
    }
    home.write(
        "words.toml",
        "[[catalog]]\ntool_name = \"add_task\"\ngroup = \"planning\"\nenabled_by_default = false\n",
    );
    assert_eq!(home.json(&["catalog", "import", "words.toml"])["changed"], true);
    let exported = home.run(&["catalog", "export", "--format", "csv"]).out;
    assert_eq!(
        exported,
        "tool_name,display_name,group,enabled_by_default,min_plan,disabled,reason\nadd_task,,planning,false,,false,\n"
    );
    // an empty row takes it back
    home.write("none.csv", "tool_name,group\nadd_task,\n");
    assert_eq!(home.json(&["catalog", "import", "none.csv"])["changes"][0]["after"], Value::Null);
    for (file, text, word) in [
        ("wrong.csv", "tenant,tool\nacme,add_task\n", "no column is 'tool'"),
        ("wrong.csv", "tenant,tool_name,is_enabled\nacme,add_task,yes\n", "line 2"),
        ("wrong.csv", "tenant,tool_name,is_enabled\nacme,add_task,true\nnone,add_task,true\n", "overrides/1"),
        ("wrong.toml", "[[overides]]\n", "[[overrides]]"),
        ("wrong.toml", "[[overrides]]\ntenant = \"acme\"\n", "tool_name"),
        ("wrong.txt", "", "--format"),
    ] {
        home.write(file, text);
        let ran = home.run(&["override", "import", file]);
        assert_eq!(ran.code, Some(2), "{text}: {ran:?}");
        assert!(ran.err.contains(word), "{text}: {ran:?}");
    }
    assert_eq!(home.json(&["override", "list", "acme"])["count"], 2, "none of it was done");
}

#[test]
fn where_nothing_was_kept_a_look_is_a_mistake() {
    let home = Home::bare();
    for command in [&["tenant", "list"][..], &["user", "list"], &["override", "list", "acme"], &["catalog", "list"]] {
        let ran = home.run(command);
        assert_eq!((ran.code, ran.err.contains("there is no store")), (Some(2), true), "{ran:?}");
    }
}

/// What a token says of a tenant counts only where the store has never known that tenant.
#[test]
fn removing_a_tenant_gives_its_members_nothing() {
    let home = Home::with("[packs.admin]\n[packs.gate]\n[packs.todo]\n");
    home.json(&["tenant", "add", "beta", "--owner", "bob"]);
    home.json(&["tenant", "member", "set", "beta", "ben", "--role", "member"]);
    let gate = home.serve();
    let token = home.mint("--user ben --tenant beta --role owner --plan enterprise");
    let list = || gate.ask(&Message::list(Era::Modern).bearer(&token)).tools();
    let admin = |tools: &[String]| tools.iter().filter(|tool| tool.starts_with("admin_")).count();
    assert!(list().contains(&"add_task".to_owned()));
    assert_eq!(admin(&list()), 0, "the store says that he is a member");
    let removed = home.json(&["tenant", "remove", "beta"]);
    assert_eq!(list(), gate.ask(&Message::list(Era::Modern)).tools(), "nobody: that tenant is no more");
    // as it was, once the removal is undone
    assert_eq!(home.run(&["undo", removed["receipt"].as_str().unwrap()]).code, Some(0));
    assert_eq!((list().contains(&"add_task".to_owned()), admin(&list())), (true, 0));
}

/// Whoever acts for a member is bound by what the tenant switched off.
#[test]
fn an_override_binds_the_tasks_of_members() {
    let home = Home::with("[packs.gate]\n[packs.workspace]\n");
    home.json(&["tenant", "add", "acme", "--owner", "ada"]);
    let gate = home.serve();
    let task = home.json(&["task", "start", "--owner", "ada"]);
    let key = task["task_key"].as_str().unwrap();
    let call = Message::call(Era::Modern, "write_knowledge", json!({"key": "k", "content": "c", "reason": "r"}));
    let call = call.header("X-Toolgate-Task-ID", key);
    assert_eq!(gate.ask(&call).verdict(), "ok");
    home.json(&["override", "set", "acme", "write_knowledge", "off"]);
    assert_eq!(gate.ask(&call).verdict(), "disabled_for_tenant");
}

#[test]
fn an_override_binds_the_sessions_of_members_agents() {
    let home = staffed(Home::with("[packs.gate]\n[packs.team]\n[packs.admin]\n"));
    home.json(&["tenant", "add", "acme", "--owner", "ada"]);
    assert_eq!(home.run(&["agent", "set", "ann", "--owner", "ada"]).code, Some(0));
    let gate = home.serve();
    let (of_ada, of_nobody) = (sign_in(&gate, "ann"), sign_in(&gate, "boss"));
    assert!(of_ada.starts_with("sess_"), "an agent's session");
    let by_argument = |token: &str| Message::call(Era::Modern, "get_my_profile", json!({ "session_token": token }));
    let by_header = |token: &str| Message::call(Era::Modern, "get_my_profile", json!({})).bearer(token);
    let verdicts = |token: &str| [by_argument(token), by_header(token)].map(|call| gate.ask(&call).verdict());
    assert_eq!(verdicts(&of_ada), ["ok", "ok"]);
    home.json(&["override", "set", "acme", "get_my_profile", "off"]);
    assert_eq!(verdicts(&of_ada), ["disabled_for_tenant", "disabled_for_tenant"]);
    assert_eq!(verdicts(&of_nobody), ["ok", "ok"], "an agent of no member is not bound");
    let listed = gate.ask(&Message::list(Era::Modern).bearer(&of_ada)).tools();
    assert!(!listed.contains(&"get_my_profile".to_owned()), "{listed:?}");
}
