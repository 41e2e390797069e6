//! `connect`: the clients of a machine, keys that are made for them, and servers they reach past the gateway.

use std::fs;

use serde_json::{Value, json};

use super::bed::{
    home::{Home, Ran},
    message::{Era, Message},
    pipe::Pipe,
};

const FILE: &str = "me/.cursor/mcp.json";
const SERVERS: &str = "{\n  \"mcpServers\": {\n    // reads files\n    \"filesystem\": {\"command\": \"fs\"},\n    \"Time Zone\": {\n      \"command\": \"time\"\n    },\n    \"mail\": {\"url\": \"https://mail.example/mcp\"}\n  },\n  \"x\": 1\n}\n";
const UPSTREAMS: &str = "[[upstreams]]\nname = \"filesystem\"\ncommand = \"fs\"\nenabled = true\n[[upstreams]]\nname = \"time-zone\"\ncommand = \"time\"\n";

fn home(config: &str) -> Home {
    let home = Home::with(config);
    home.write(FILE, SERVERS);
    home
}

fn run(home: &Home, arguments: &[&str]) -> Ran {
    Ran::of(home.command(arguments).env("HOME", home.path("me")))
}

#[track_caller]
fn connect(home: &Home, more: &[&str]) -> Ran {
    let ran = run(home, &[&["connect", "cursor"], more].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn text(home: &Home) -> String {
    fs::read_to_string(home.path(FILE)).unwrap()
}

/// The servers of the file, without its one comment.
fn servers(home: &Home) -> Value {
    let value: Value = serde_json::from_str(&text(home).replace("// reads files\n", "\n")).unwrap();
    value["mcpServers"].clone()
}

fn key(home: &Home) -> String {
    let header = servers(home)["toolgate"]["headers"]["Authorization"].as_str().unwrap().to_owned();
    header.strip_prefix("Bearer ").unwrap().to_owned()
}

fn states(home: &Home) -> Vec<(String, String, String)> {
    let keys = home.json(&["key", "list"]);
    let word = |key: &Value, name: &str| key[name].as_str().unwrap().to_owned();
    keys.as_array().unwrap().iter().map(|key| (word(key, "id"), word(key, "name"), word(key, "state"))).collect()
}

#[test]
fn without_a_client_the_installed_ones_are_listed_with_what_to_type() {
    let home = home(&format!("[packs.todo]\n{UPSTREAMS}"));
    home.write(".vscode/mcp.json", "{\"servers\": {\"toolgate\": {\"url\": \"http://127.0.0.1:8484/mcp\"}}}");
    home.write(
        "me/.config/zed/settings.json",
        "{\"context_servers\": {\"toolgate\": {\"url\": \"http://other/mcp\"}}}",
    );
    home.write("me/.codeium/windsurf/mcp_config.json", "{ not json");
    fs::create_dir_all(home.path("me/.claude")).unwrap();
    let listed = run(&home, &["connect", "--json"]).json();
    let rows: Vec<_> =
        listed.as_array().unwrap().iter().map(|row| (&row["client"], &row["state"], &row["command"])).collect();
    let row = |client: &str, state: &str, command: &str| {
        (json!(client), json!(state), if command.is_empty() { Value::Null } else { json!(command) })
    };
    let expected = [
        row("claude-code", "not connected", "toolgate connect claude-code --user NAME"),
        row("cursor", "not connected", "toolgate connect cursor --user NAME"),
        row("vscode", "connected", ""),
        row("windsurf", "unreadable", ""),
        row("zed", "connected elsewhere", "toolgate connect zed --user NAME"),
    ];
    assert_eq!(rows, expected.iter().map(|(client, state, command)| (client, state, command)).collect::<Vec<_>>());
    assert_eq!(listed[1]["direct"], json!(["filesystem", "Time Zone", "mail"]));
    let ran = run(&home, &["connect"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("CLIENT ") && ran.out.contains("vscode (this folder)"), "{}", ran.out);
    assert!(ran.err.contains("not JSON"), "{ran:?}");
    connect(&home, &["--user", "me"]);
    let listed = run(&home, &["connect", "--json"]).json();
    assert_eq!(
        (&listed[1]["state"], &listed[1]["command"]),
        (&json!("connected"), &json!("toolgate connect cursor --replace"))
    );
    let mut at_home = home.command(&["connect", "--json"]);
    let listed = Ran::of(at_home.current_dir(home.path("me")).env("HOME", home.path("me"))).json();
    let cursor: Vec<_> = listed.as_array().unwrap().iter().filter(|row| row["client"] == "cursor").collect();
    assert_eq!(cursor.len(), 1, "in the home folder the project's file is the user's own: {listed}");
    let empty = Home::bare();
    assert!(run(&empty, &["connect"]).out.contains("No client that Toolgate knows is installed here"));
    assert!(!empty.path(".toolgate").exists(), "a look makes nothing");
    for option in ["--undo", "--replace", "--dry-run", "--stdio"] {
        assert_eq!(run(&home, &["connect", option]).code, Some(2), "{option}");
    }
}

#[test]
fn a_key_is_made_for_the_user_and_ends_with_the_connection() {
    let home = home("[packs.gate]\n[packs.todo]\n");
    let ran = connect(&home, &["--user", "me"]);
    let first = key(&home);
    let id = format!("key_{}", first.split('_').nth(1).unwrap());
    assert_eq!(states(&home), [(id.clone(), "connect cursor".to_owned(), "live".to_owned())]);
    assert!(ran.out.contains(&format!("Made the key {id} (\"connect cursor\") for user me.")), "{}", ran.out);
    assert!(ran.out.contains(&format!("toolgate key revoke {id}")) && !ran.out.contains(&first), "{}", ran.out);
    let gate = home.serve();
    let add =
        |key: &str| gate.ask(&Message::call(Era::Modern, "add_task", json!({"title": "x"})).bearer(key)).verdict();
    assert_eq!(add(&first), "ok");
    let again = connect(&home, &["--user", "me", "--json"]).json();
    let second = key(&home);
    assert_eq!((&again["revoked_key"], add(&first).as_str()), (&json!(id), "authentication_required"));
    assert_eq!(add(&second), "ok");
    let (file, data) = (home.path(FILE), home.path(".toolgate"));
    let elsewhere = ["connect", "cursor", "--undo", "--file", file.to_str().unwrap(), "--data", data.to_str().unwrap()];
    let undone = run(&Home::bare(), &elsewhere);
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert!(undone.out.contains("Revoked the key key_"), "{}", undone.out);
    assert_eq!(text(&home), SERVERS, "byte for byte");
    assert_eq!(add(&second), "authentication_required", "wherever it is undone with the same data folder");
    assert!(states(&home).iter().all(|(.., state)| state == "revoked"));
    let left: Vec<_> = fs::read_dir(home.path("me/.cursor")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["mcp.json"], "nothing is left beside the file");
}

#[test]
fn a_credential_in_a_projects_file_is_warned_of() {
    let home = home("[packs.todo]\n");
    let warning = "belongs to this folder's project and holds a credential";
    assert!(!connect(&home, &["--user", "me"]).out.contains(warning));
    home.write(".cursor/mcp.json", "{}\n");
    assert!(connect(&home, &["--user", "me"]).out.contains(warning));
    assert!(!home.run(&["connect", "cursor", "--dry-run"]).out.contains("tgk_"));
}

#[test]
fn a_dry_run_makes_no_key_and_a_failed_one_leaves_none_that_counts() {
    let home = home("[packs.todo]\n");
    let dry = connect(&home, &["--user", "me", "--dry-run"]);
    assert!(dry.out.contains("A key \"connect cursor\" would be made for user me."), "{}", dry.out);
    assert!(!home.path(".toolgate").exists());
    for wrong in [&["--user", "a/b"][..], &["--user", ""], &["--user", "me", "--token", "t"]] {
        let ran = run(&home, &[&["connect", "cursor"], wrong].concat());
        assert_eq!(ran.code, Some(2), "{wrong:?}: {ran:?}");
    }
    assert_eq!(text(&home), SERVERS);
}

/// A project that somebody else made may come with the file that names a client's key.
#[test]
fn a_planted_file_revokes_no_key_that_connect_did_not_make_and_opens_no_other_store() {
    let home = home("[packs.todo]\n");
    let victim = home.json(&["key", "create", "--user", "victim", "--name", "prod"])["id"].as_str().unwrap().to_owned();
    let plant = |database: &str| {
        let kept = json!({"id": victim, "database": database});
        home.write(&format!("{FILE}.toolgate-key"), &kept.to_string());
    };
    let pipe = home.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for database in [home.path(".toolgate/toolgate.db"), pipe] {
        plant(database.to_str().unwrap());
        let ran = run(&home, &["connect", "cursor", "--user", "me"]);
        assert!(format!("{}{}", ran.out, ran.err).contains("could not be revoked"), "{ran:?}");
        let live = |(id, _, state): &(String, String, String)| *id == victim && state == "live";
        assert!(states(&home).iter().any(live), "{database:?}");
    }
}

#[test]
fn a_key_that_can_not_be_revoked_is_named() {
    let home = home("[packs.todo]\n");
    connect(&home, &["--user", "me"]);
    fs::remove_dir_all(home.path(".toolgate")).unwrap();
    let ran = run(&home, &["connect", "cursor", "--undo"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("could not be revoked") && ran.out.contains("toolgate key revoke key_"), "{ran:?}");
    assert_eq!(text(&home), SERVERS, "the file is put back all the same");
    assert!(!home.path(".toolgate").exists(), "no store is made to revoke a key in");
}

#[test]
fn servers_past_the_gateway_are_named_and_those_behind_it_are_taken_out() {
    let home = home(&format!("[packs.todo]\n{UPSTREAMS}"));
    let ran = connect(&home, &["--user", "me"]);
    let warning = "3 servers are still reached past the gateway: filesystem, Time Zone, mail. Take them out: toolgate connect cursor --replace\n";
    assert!(ran.out.contains(warning), "{}", ran.out);
    let outside =
        format!("'mail' is not behind the gateway yet: toolgate import {} --write\n", home.path(FILE).display());
    assert!(ran.out.contains(&outside), "{}", ran.out);
    let before = key(&home);
    let dry = connect(&home, &["--replace", "--dry-run"]);
    assert!(dry.out.contains("Would be taken out of the file: filesystem, Time Zone."), "{}", dry.out);
    assert_eq!(servers(&home).as_object().unwrap().len(), 4);
    let replaced = connect(&home, &["--replace"]);
    assert!(replaced.out.contains("1 server is still reached past the gateway: mail.\n"), "{}", replaced.out);
    assert!(replaced.out.contains(&outside) && !replaced.out.contains("will be anonymous"), "{}", replaced.out);
    let names: Vec<String> = servers(&home).as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["mail", "toolgate"]);
    assert_eq!(key(&home), before, "the key stays");
    assert!(text(&home).contains("\"x\": 1"));
    connect(&home, &["--user", "you"]);
    assert_eq!(servers(&home).as_object().unwrap().len(), 2, "what was taken out stays out");
    connect(&home, &["--undo"]);
    assert_eq!(text(&home), SERVERS, "byte for byte");
}

#[test]
fn nothing_is_taken_out_that_undo_could_not_bring_back() {
    let home = home(&format!("[packs.todo]\n{UPSTREAMS}"));
    connect(&home, &["--user", "me"]);
    let changed = text(&home).replace("\"x\": 1", "\"x\": 2");
    home.write(FILE, &changed);
    let refused = run(&home, &["connect", "cursor", "--replace"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("was changed since"), "{refused:?}");
    assert_eq!(text(&home), changed);
    let old = key(&home);
    connect(&home, &["--user", "me"]);
    assert_ne!(key(&home), old, "the key alone can be replaced");
    assert!(text(&home).contains("\"x\": 2"));
}

#[test]
fn a_client_without_a_credential_is_told_to_be_anonymous() {
    let home = home("[packs.gate]\n[packs.todo]\n");
    let ran = connect(&home, &[]);
    assert!(ran.out.contains("This client will be anonymous and sees 1 of 6 tools; give --user NAME\n"), "{}", ran.out);
    let foreign = Home::bare().mint("--user me");
    let ran = connect(&home, &["--token", &foreign]);
    assert!(
        ran.out.contains("The token would not be accepted here: there is no signing key in .toolgate"),
        "{}",
        ran.out
    );
    let own = home.mint("--user me");
    let ran = connect(&home, &["--token", &own]);
    assert!(!ran.out.contains("anonymous") && !ran.out.contains("not be accepted"), "{}", ran.out);
    assert_eq!(key(&home), own);
    let elsewhere = connect(&home, &["--url", "http://127.0.0.1:9/mcp"]);
    assert!(elsewhere.out.contains("will be anonymous"), "a token is not sent to another address: {}", elsewhere.out);
    assert!(!text(&home).contains(&own));
}

#[test]
fn the_client_starts_it_with_the_key_in_its_environment() {
    let home = home("[packs.gate]\n[packs.todo]\n");
    connect(&home, &["--stdio", "--user", "me"]);
    let entry = servers(&home)["toolgate"].clone();
    let arguments = entry["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    command.env_clear().current_dir("/").args(arguments);
    command.env("TOOLGATE_TOKEN", entry["env"]["TOOLGATE_TOKEN"].as_str().unwrap());
    let answer = Pipe::start(command).ask(&Message::call(Era::Late, "add_task", json!({"title": "x"})));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn it_says_whether_a_server_answers_now() {
    let home = home("[packs.todo]\n");
    let gate = home.serve();
    let url = format!("http://{}", gate.address);
    let ran = connect(&home, &["--url", &format!("{url}/mcp")]);
    assert!(ran.out.ends_with(&format!("A server answers at {url}/healthz.\n")), "{}", ran.out);
    drop(gate);
    let ran = connect(&home, &["--url", &format!("{url}/mcp")]);
    assert!(
        ran.out.ends_with(&format!("No server answers at {url}/healthz now; start it: toolgate serve\n")),
        "{}",
        ran.out
    );
}

#[test]
fn zed_and_gemini_have_their_own_words() {
    let home = Home::with("[packs.todo]\n");
    home.write("me/.config/zed/settings.json", "// Zed\n{\n  \"theme\": \"One\",\n}\n");
    home.write("me/.gemini/settings.json", "{}\n");
    for (client, file, key, entry) in [
        ("zed", "me/.config/zed/settings.json", "context_servers", json!({"url": "http://127.0.0.1:8484/mcp"})),
        ("gemini-cli", "me/.gemini/settings.json", "mcpServers", json!({"httpUrl": "http://127.0.0.1:8484/mcp"})),
    ] {
        let before = fs::read_to_string(home.path(file)).unwrap();
        let ran = run(&home, &["connect", client]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let text = fs::read_to_string(home.path(file)).unwrap();
        let value: Value = serde_json::from_str(&text.replace("// Zed\n", "").replace("},\n}", "}\n}")).unwrap();
        assert_eq!(value[key]["toolgate"], entry);
        assert_eq!(run(&home, &["connect", client, "--undo"]).code, Some(0));
        assert_eq!(fs::read_to_string(home.path(file)).unwrap(), before);
    }
}
