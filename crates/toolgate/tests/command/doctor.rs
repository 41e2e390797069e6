//! What `doctor` and `check` find before anybody serves.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use super::bed::{home::Home, home::Ran};

fn findings(ran: &Ran, what: &str) -> Vec<Value> {
    let all = ran.json()["findings"].as_array().unwrap().clone();
    all.into_iter().filter(|finding| finding["what"] == what).collect()
}

fn finding(home: &Home, what: &str) -> Value {
    let ran = home.run(&["doctor", "--listen", "127.0.0.1:0", "--json"]);
    findings(&ran, what).first().cloned().unwrap_or_else(|| panic!("{what}: {ran:?}"))
}

#[test]
fn its_own_server_at_the_address_is_good() {
    let home = Home::bare();
    let gate = home.serve();
    let address = gate.address.to_string();
    let ran = home.run(&["doctor", "--listen", &address, "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let version = env!("CARGO_PKG_VERSION");
    let expected =
        json!([{"what": "address", "good": true, "detail": format!("Toolgate {version} runs at {address}")}]);
    assert_eq!(Value::from(findings(&ran, "address")), expected);
}

#[test]
fn another_program_at_the_address_is_bad() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
        listener
    });
    let ran = Home::bare().run(&["doctor", "--listen", &address]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains(&format!("BAD  address: another program has {address}")), "{ran:?}");
    drop(answering.join());
}

#[test]
fn an_upstream_that_can_not_be_started_is_bad() {
    let config = "[[upstreams]]\nname = \"gone\"\ncommand = \"no-such-program-anywhere\"\n\
                  [[upstreams]]\nname = \"mute\"\ncommand = \"true\"\n\
                  [[upstreams]]\nname = \"off\"\ncommand = \"no-such-program-anywhere\"\nenabled = false\n";
    let home = Home::with(config);
    let ran = home.run(&["doctor", "--listen", "127.0.0.1:0", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let bad: Vec<String> = findings(&ran, "upstream")
        .iter()
        .filter(|finding| finding["good"] == false)
        .map(|finding| finding["detail"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(bad.len(), 2, "{bad:?}");
    assert!(
        bad[0].contains("toolgate.toml:2:8: the upstream 'gone' has the command 'no-such-program-anywhere'"),
        "{bad:?}"
    );
    assert!(bad[1].contains("the upstream 'mute' does not answer"), "{bad:?}");
    assert_eq!(finding(&home, "lock")["good"], true);
    home.write("toolgate.lock", "not a lock");
    assert_eq!(finding(&home, "lock")["good"], false);
    let check = Home::with(config).run(&["check"]);
    assert!(check.out.contains("warning: the upstream 'gone' has the command"), "{check:?}");
    assert!(check.out.contains("3 upstreams") && check.out.contains("toolgate upstream accept --all"), "{check:?}");
}

#[test]
fn a_database_that_is_away_is_one_fault() {
    let home = Home::bare().on("postgres://gate@127.0.0.1:1/none");
    let ran = home.run(&["doctor", "--listen", "127.0.0.1:0", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let bad: Vec<Value> =
        ran.json()["findings"].as_array().unwrap().iter().filter(|finding| finding["good"] == false).cloned().collect();
    assert_eq!(bad.len(), 1, "{bad:?}");
    assert_eq!(bad[0]["what"], "database");
}

#[test]
fn a_data_folder_that_others_write_to_is_said() {
    let home = Home::bare();
    home.mint("--user alice");
    assert_eq!(finding(&home, "data folder")["warning"], Value::Null);
    fs::set_permissions(home.path(".toolgate"), fs::Permissions::from_mode(0o777)).unwrap();
    let found = finding(&home, "data folder");
    assert_eq!((&found["good"], &found["warning"]), (&json!(true), &json!(true)), "{found}");
    assert!(found["detail"].as_str().unwrap().contains("chmod 700"), "{found}");
    assert_eq!(finding(&home, "disk")["good"], true);
}

#[test]
fn a_connected_client_is_good_as_long_as_its_credential_is_accepted() {
    let home = Home::bare();
    let entry = |token: &str| {
        format!(r#"{{"mcpServers": {{"toolgate": {{"headers": {{"Authorization": "Bearer {token}"}}}}}}}}"#)
    };
    let client = || finding(&home, "client");
    home.write(".cursor/mcp.json", &entry(&home.mint("--user alice")));
    let found = client();
    assert_eq!((&found["good"], &found["warning"]), (&json!(true), &Value::Null), "{found}");
    let other = Home::bare();
    home.write(".cursor/mcp.json", &entry(&other.mint("--user alice")));
    let found = client();
    assert_eq!(found["warning"], true, "{found}");
    assert!(found["detail"].as_str().unwrap().starts_with("cursor: "), "{found}");
    let key = home.json(&["key", "create", "--user", "alice"]);
    home.write(".cursor/mcp.json", &entry(key["key"].as_str().unwrap()));
    assert_eq!(client()["warning"], Value::Null);
    home.run(&["key", "revoke", key["id"].as_str().unwrap()]);
    let found = client();
    assert!(found["detail"].as_str().unwrap().contains("revoked"), "{found}");
    assert!(!found.to_string().contains(key["key"].as_str().unwrap()), "a credential is never shown");
}

#[test]
fn faults_of_the_configuration_are_placed() {
    for (config, place) in [
        (
            "[server]\nlisten = \"127.0.0.1\"\n",
            "toolgate.toml:2:10: listen '127.0.0.1' has no port; write '127.0.0.1:8484'",
        ),
        ("[server]\nhosts = [\"tools.example\", \"*\"]\n", "toolgate.toml:2:9: hosts '*' is no host's name"),
        ("[server]\nhosts = [\"10.2.3.0/24\"]\n", "toolgate.toml:2:9: hosts '10.2.3.0/24' is no host's name"),
        ("[packs.gate]\n[packs.todoo]\n", "toolgate.toml:2:8: there is no pack 'todoo'; did you mean 'todo'?"),
        ("[packs.todo]\n[tools.add_tsk]\n", "toolgate.toml:2:8: [tools] names the tool 'add_tsk'"),
        ("[packs.todo]\n[tools.add_task]\neffect = \"reed\"\n", "toolgate.toml:3:10: effect 'reed' is not one of"),
        (
            "disabled_tools = [\"ad_task\"]\n[packs.todo]\n",
            "toolgate.toml:1:19: disabled_tools names the tool 'ad_task'",
        ),
        ("lang = \"fr\"\n", "toolgate.toml:1:8: lang = \"fr\""),
        ("[approvals]\nttl = \"soon\"\n", "toolgate.toml:2:7: [approvals] ttl: 'soon' is no duration"),
        ("[identity]\nalgorithm = \"none\"\n", "toolgate.toml:2:13: [identity] algorithm = \"none\""),
        ("[packs.echo]\n", "toolgate.toml:1:8: the pack 'echo' needs definitions"),
        ("[packs.todo]\n[flows.f]\nttl = \"x\"\n", "toolgate.toml:3:7: [flows.\"f\"] ttl"),
    ] {
        let home = Home::with(config);
        let check = home.run(&["check"]);
        assert_eq!(check.code, Some(1), "{config}: {check:?}");
        assert!(check.out.starts_with(place), "{config}: {}", check.out);
        let serve = home.run(&["serve", "--listen", "127.0.0.1:0"]);
        // serve looks at some settings only once it has opened the store
        assert_eq!(serve.code, Some(2), "{config}: {serve:?}");
        assert!(serve.err.contains(place) || serve.err.contains("listen"), "{config}: {}", serve.err);
    }
    let wrong =
        Ran::of(Home::with("[approvals]\nttl = \"5m\"\n").command(&["check"]).env("TOOLGATE_APPROVALS__TTL", "soon"));
    assert!(wrong.out.starts_with("the variable TOOLGATE_APPROVALS__TTL: "), "{wrong:?}");
    let missing = Home::bare().run(&["check", "--config", "nope.toml"]);
    assert!(missing.err.contains("'nope.toml' can't be read") && missing.err.contains("toolgate init"), "{missing:?}");
}
