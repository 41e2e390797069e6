//! A configuration that is wrong is refused with its place, before anything is served or made on disk.

use std::path::Path;

use serde_json::Value;

use super::bed::home::{Home, Ran};

fn serve(home: &Home) -> Ran {
    home.run(&["serve", "--listen", "127.0.0.1:0"])
}

#[track_caller]
fn refused(config: &str, words: &[&str]) {
    let home = Home::with(config);
    let ran = serve(&home);
    assert_eq!(ran.code, Some(2), "{config}: {ran:?}");
    for words in words {
        assert!(ran.err.contains(words), "{config}: {}", ran.err);
    }
    assert_eq!(ran.out, "", "it never said that it serves");
    assert!(!home.path(".toolgate").exists(), "nothing was made on disk");
    let check = home.run(&["check"]);
    assert_eq!(check.code, Some(1), "check finds what serve refuses: {config}: {check:?}");
}

#[test]
fn an_unknown_key_is_refused_with_its_place_and_the_nearest_known_one() {
    refused(
        "[packs.todo]\n\n[server]\nlisen = \"x\"\n",
        &["toolgate.toml:4:1: ", "unknown key 'lisen'; did you mean 'listen'?"],
    );
    refused("disabled_tool = []\n", &["toolgate.toml:1:1: ", "did you mean 'disabled_tools'?"]);
    refused("[packs.todo]\nprefx = \"a\"\n", &["toolgate.toml:2:1: ", "did you mean 'prefix'?"]);
    refused("[packs.todo]\n[tools.add_task.limits]\nper_minut = 1\n", &["toolgate.toml:3:1: ", "'per_minute'"]);
}

#[test]
fn broken_text_and_wrong_types_are_refused_with_their_place() {
    refused("[packs.todo]\n[server\n", &["toolgate.toml:2:"]);
    refused("[server]\nlisten = 8484\n", &["toolgate.toml:2:10: ", "expected a string"]);
    refused("[log]\nformat = \"yaml\"\n", &["toolgate.toml:2:10: ", "yaml"]);
    refused("[server]\nconnections = -1\n", &["toolgate.toml:2:15: "]);
}

#[test]
fn names_that_lead_nowhere_are_refused_with_the_nearest_one() {
    refused("[packs.tood]\n", &["there is no pack 'tood'", "did you mean 'todo'?"]);
    refused("disabled_tools = [\"ad_task\"]\n[packs.todo]\n", &["'ad_task'", "did you mean 'add_task'?"]);
    refused("[packs.todo]\n[tools.delete_tasks]\neffect = \"read\"\n", &["did you mean 'delete_task'?"]);
    refused(
        "[packs.todo]\n[tools.add_task]\npermission = \"everyone\"\n",
        &["toolgate.toml:3:14: ", "everyone", "signed_in"],
    );
    refused("[packs.echo]\n", &["needs definitions"]);
    refused("[packs.todo]\ndefinitions = \"x.json\"\n", &["takes no definitions"]);
    refused("[packs.echo]\ndefinitions = \"missing.json\"\n", &["missing.json"]);
    refused("lang = \"fr\"\n", &["fr"]);
}

#[test]
fn two_tools_of_one_name_are_refused_and_a_prefix_parts_them() {
    let config = "[packs.todo]\n[packs.echo]\ndefinitions = \"tools.json\"\n";
    let home = Home::with(config);
    home.write("tools.json", r#"[{"name": "add_task", "inputSchema": {"type": "object"}}]"#);
    let ran = serve(&home);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("add_task") && ran.err.contains("prefix"), "{}", ran.err);
    home.write("toolgate.toml", &format!("{config}prefix = \"try.\"\n"));
    assert_eq!(home.json(&["check"])["tools"], 6);
}

#[test]
fn a_rule_that_is_wrong_is_refused_with_its_place_and_text() {
    let home = Home::with("rules = [\"own.cedar\"]\n[packs.todo]\n");
    let wrong = [
        ("forbid (principal, action, resource)\nwhen { principal.usr == \"x\" };\n", "own.cedar:2:8: ", "usr"),
        ("forbid (principal, action, resource\n", "own.cedar:", "own.cedar"),
        ("forbid (principal, action == Action::\"call:nothing\", resource);\n", "own.cedar:", "nothing"),
        ("forbid (principal, action, resource) when { resource.effect == 3 };\n", "own.cedar:1:", "own.cedar"),
    ];
    for (rule, place, words) in wrong {
        home.write("own.cedar", rule);
        let ran = serve(&home);
        assert_eq!(ran.code, Some(2), "{rule}: {ran:?}");
        assert!(ran.err.contains(place) && ran.err.contains(words), "{rule}: {}", ran.err);
    }
    home.write("toolgate.toml", "rules = [\"missing.cedar\"]\n[packs.todo]\n");
    assert!(serve(&home).err.contains("missing.cedar"));
}

#[test]
fn a_configuration_that_is_not_there_is_refused() {
    let home = Home::bare();
    let ran = home.run(&["serve", "--config", "other.toml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("other.toml"), "{}", ran.err);
}

#[test]
fn variables_override_the_file_and_wrong_ones_are_refused() {
    let home = Home::with("[packs.todo]\n");
    let check = |name: &str, value: &str| Ran::of(home.command(&["check", "--json"]).env(name, value));
    assert_eq!(check("TOOLGATE_LIMITS__DEPTH", "7").code, Some(0));
    let wrong = check("TOOLGATE_LIMITS__DEPHT", "7").json();
    let problem = wrong["problem"].as_str().unwrap();
    assert!(problem.contains("TOOLGATE_LIMITS__DEPHT") && problem.contains("'depth'"), "{problem}");
    assert_eq!(check("TOOLGATE_DISABLED_TOOLS", "add_task,delete_task").code, Some(0));
    let unknown = check("TOOLGATE_DISABLED_TOOLS", "nothing");
    assert_eq!(unknown.code, Some(1));
    assert!(
        unknown.out.contains("TOOLGATE_DISABLED_TOOLS"),
        "the variable is named, not a key of the file: {unknown:?}"
    );
}

#[test]
fn the_schema_for_editors_is_the_one_in_the_documentation() {
    let home = Home::bare();
    let ran = home.run(&["check", "--schema"]);
    assert_eq!(ran.code, Some(0));
    let schema = ran.json();
    let section = &schema["$defs"]["Server"]["properties"]["listen"];
    assert_eq!(section["type"], "string", "{section}");
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/toolgate.schema.json");
    if documented.exists() {
        let documented: Value = serde_json::from_str(&std::fs::read_to_string(documented).unwrap()).unwrap();
        assert_eq!(schema, documented, "write it again: toolgate check --schema > docs/toolgate.schema.json");
    }
}

#[test]
fn an_address_that_holds_for_nothing_is_refused_with_the_one_that_does() {
    let upstream = "[[upstreams]]\nname = \"n\"\ncommand = \"true\"\n";
    let facts = |key: &str| format!("{upstream}[resources.\"{key}\"]\npermission = \"operator_only\"\n");
    for (config, normal) in [
        (facts("https://example.com"), "'https://example.com/'"),
        (facts("file://localhost/docs/*"), "'file:///docs/*'"),
        (facts("note://private/"), "'note://private'"),
        (format!("{upstream}addresses = [\"FILE:///docs/*\"]\n"), "'file:///docs/*'"),
    ] {
        let ran = Home::with(&config).run(&["check"]);
        let said = format!("{}{}", ran.out, ran.err);
        assert_ne!(ran.code, Some(0), "{said}");
        assert!(said.contains("not in normal form") && said.contains(normal), "{said}");
    }
    let fine = Home::with(&facts("file:///docs/*")).run(&["check"]);
    assert_eq!(fine.code, Some(0), "{fine:?}");
}
