//! No credential is in anything Toolgate says, but in the answer of the command that makes it.
//!
//! A whole day at the gate, at the most talkative log level: every byte of every output is searched.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Request,
    issuer::{self, Signer},
    message::{ERAS, Era, Message},
    pipe::Pipe,
};

/// Secrets that must not be said, and everything that was said.
struct Ear {
    secrets: Vec<(&'static str, String)>,
    heard: Vec<(String, String)>,
}

impl Ear {
    fn hear(&mut self, what: impl Into<String>, said: impl Into<String>) {
        self.heard.push((what.into(), said.into()));
    }

    fn run(&mut self, home: &Home, command: &[&str]) {
        let ran = home.run(command);
        self.hear(format!("toolgate {command:?}"), format!("{}{}", ran.out, ran.err));
    }

    fn check(&self) {
        assert!(self.heard.len() > 100, "the day was shorter than that: {}", self.heard.len());
        for (what, said) in &self.heard {
            for (name, secret) in &self.secrets {
                if let Some(at) = said.find(secret.as_str()) {
                    let around: String = said[..at].chars().rev().take(200).collect::<String>().chars().rev().collect();
                    panic!("{name} is in {what}, after: {around}");
                }
            }
        }
    }
}

/// What of a token must never be seen: its signature, without which the rest is worth nothing, and its claims.
fn parts(token: &str) -> Vec<String> {
    token.split('.').skip(1).map(str::to_owned).collect()
}

fn config(format: &str) -> String {
    format!(
        "rules = [\"rules\"]\n[packs.gate]\n[packs.todo]\n[packs.echo]\ndefinitions = \"tools.json\"\n\
         [tools.add_task]\noauth_scopes = []\n[tools.say]\npermission = \"unauthenticated\"\n\
         [identity]\ncoordinator_token_file = \"coordinator\"\n{}\n[log]\nlevel = \"trace\"\nformat = \"{format}\"\n",
        issuer::CONFIG
    )
}

fn day(format: &str) {
    let home = Home::with(&config(format));
    home.write("rules/README", "");
    home.write(
        "tools.json",
        r#"[{"name": "say", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]"#,
    );
    home.write_secret("coordinator", "canary-coordinator-secret-of-some-length");
    let signer = Signer::es256("k1");
    issuer::publish(&home, &[&signer]);

    let key = home.json(&["key", "create", "--user", "alice", "--name", "laptop"]);
    let task = home.json(&["task", "start", "--owner", "alice"]);
    let (key_id, api_key) = (key["id"].as_str().unwrap(), key["key"].as_str().unwrap());
    let (task_id, task_key) = (task["task_id"].as_str().unwrap(), task["task_key"].as_str().unwrap());
    let minted = home.mint("--user alice --operator");
    let worker = home.mint("--agent w --kind worker --project p --purpose task");
    let expired = signer.token(&issuer::claims("alice", json!({"exp": issuer::now() - 3600})));
    let issued = signer.token(&issuer::claims("alice", json!({"scope": "none"})));
    let seed = std::fs::read_to_string(home.path(".toolgate/signing.key")).unwrap();

    let mut ear = Ear { secrets: Vec::new(), heard: Vec::new() };
    let garbage = ["canary-garbage-bearer", "sess_canary_session", "tgk_canary00_canary-api-key", "canary-meta-token"];
    for (name, token) in [
        ("the minted token", &minted),
        ("the agent's token", &worker),
        ("an expired token", &expired),
        ("the issuer's token", &issued),
    ] {
        ear.secrets.extend(parts(token).into_iter().map(|part| (name, part)));
    }
    ear.secrets.push(("the API key", api_key.splitn(3, '_').nth(2).unwrap().to_owned()));
    ear.secrets.push(("the task's key", task_key.to_owned()));
    ear.secrets.push(("the signing key", seed.split_whitespace().last().unwrap().to_owned()));
    ear.secrets.push(("a made-up credential", "canary".to_owned()));

    let gate = home.serve();
    let tokens = [minted.as_str(), api_key, &worker, &issued, &expired, garbage[0], garbage[1], garbage[2], garbage[3]];
    for era in ERAS {
        let asks = [
            Message::list(era),
            Message::call(era, "help", json!({})),
            Message::call(era, "help", json!({"tool_name": "add_task"})),
            Message::call(era, "add_task", json!({"title": "x"})),
            Message::call(era, "add_task", json!({"title": ""})),
            Message::call(era, "add_task", json!({"title": "x", "user_id": "mallory"})),
            Message::call(era, "say", json!({"n": "no number"})),
            Message::call(era, "nothing", json!({})),
            Message::new(era, "nothing/such"),
        ];
        for ask in asks {
            for token in tokens {
                let places = [
                    ask.clone().bearer(token),
                    ask.clone().meta("toolgate/token", json!(token)),
                    ask.clone().param("token", json!(token)),
                    ask.clone().header("X-Toolgate-Task-ID", token),
                ];
                for message in places {
                    let answer = gate.ask(&message);
                    ear.hear(
                        format!("the answer to {}", message.method),
                        format!("{:?}{}", answer.headers, answer.text()),
                    );
                }
            }
        }
        for arguments in [
            json!({"session_token": worker}),
            json!({"session_token": garbage[1]}),
            json!({"coordinator_token": "canary-coordinator-secret-of-some-length"}),
            json!({"coordinator_token": "canary-wrong-secret"}),
        ] {
            let answer = gate.ask(&Message::call(era, "say", arguments.clone()));
            ear.hear("an echo", answer.text());
            ear.hear("help", gate.ask(&Message::call(era, "help", arguments)).text());
        }
        let both = Message::list(era).bearer(&minted).header("X-Toolgate-Task-ID", task_key);
        ear.hear("a list", gate.ask(&both).text());
    }
    bad_requests(&gate, &mut ear, &minted);
    for path in ["/metrics", "/healthz", "/readyz", "/.well-known/oauth-protected-resource"] {
        for token in tokens {
            ear.hear(path, gate.send(&Request::new("GET", path).bearer(token)).text());
        }
    }
    home.write("rules/own.cedar", "forbid (principal, action, resource) when { principal.nothing };\n");
    gate.logs("the old one stays in force");
    std::fs::remove_file(home.path("rules/own.cedar")).unwrap();
    gate.logs("the configuration was reloaded");
    stdio(&home, &mut ear, &minted);
    let commands: [&[&str]; 9] = [
        &["key", "list"],
        &["key", "list", "--json"],
        &["key", "revoke", key_id],
        &["task", "show", task_id],
        &["task", "show", task_id, "--json"],
        &["task", "finish", task_id],
        &["doctor", "--json"],
        &["check"],
        &["matrix", "--json"],
    ];
    for command in commands {
        ear.run(&home, command);
    }
    ear.hear("a revoked key's list", gate.ask(&Message::list(Era::Modern).bearer(api_key)).text());
    gate.terminate();
    let ended = gate.ended();
    assert_eq!(ended.code, Some(0));
    assert!(
        ended.err.contains(if format == "json" { "\"level\":\"DEBUG\"" } else { "DEBUG" }),
        "the log says more than usual"
    );
    if format == "json" {
        let wrong = ended.err.lines().find(|line| serde_json::from_str::<Value>(line).is_err());
        assert_eq!(wrong, None, "every line of the log is JSON");
    }
    ear.hear("standard output", ended.out);
    ear.hear("the log", ended.err);
    ear.check();
}

/// Requests that are refused before anybody asks whose they are.
fn bad_requests(gate: &super::bed::served::Served, ear: &mut Ear, token: &str) {
    let list = Message::list(Era::Late).bearer(token).meta("toolgate/token", json!("canary-meta-token"));
    let body = list.body();
    let bodies = [
        body.replace("\"id\":1", "\"id\":1,\"id\":1"),
        body.replace("\"method\"", "\"Method\""),
        body.trim_end_matches('}').to_owned(),
        format!("[{body}]"),
        body.replace("\"canary-meta-token\"", "{\"canary\":1}"),
        body.replace("\"canary-meta-token\"", "[\"canary-meta-token\"]"),
    ];
    for body in bodies {
        let answer = gate.send(&Request::json(body).bearer(token));
        assert!(answer.status >= 400, "{}", answer.text());
        ear.hear("a refusal", answer.text());
    }
    let mut in_address = list.request();
    in_address.path = format!("/mcp?access_token={token}&token=canary");
    ear.hear("a refusal of an address", gate.send(&in_address).text());
    for header in [("Host", "evil.example"), ("Origin", "https://evil.example"), ("Mcp-Session-Id", "canary-session")] {
        let answer = gate.send(&list.clone().header(header.0, header.1).request());
        assert!(answer.status >= 400, "{}", answer.text());
        ear.hear("a refusal of a header", answer.text());
    }
    let twice = gate.send(&list.clone().bearer("canary-second-bearer").request());
    ear.hear("a refusal of two bearers", twice.text());
}

fn stdio(home: &Home, ear: &mut Ear, token: &str) {
    let mut command = home.command(&["stdio"]);
    command.env("TOOLGATE_TOKEN", token);
    let by_variable = Pipe::start(command);
    for mut pipe in [by_variable, home.stdio(Some(token)), home.stdio(Some("canary-stdio-token"))] {
        for era in ERAS {
            pipe.ask(&Message::list(era).meta("toolgate/token", json!("canary-meta-token")));
            pipe.ask(
                &Message::call(era, "add_task", json!({"title": "x"})).param("token", json!("canary-params-token")),
            );
        }
        pipe.write("{\"canary\":");
        let (_, ran) = pipe.ended();
        ear.hear("stdio", format!("{}{}", ran.out, ran.err));
    }
}

#[test]
fn no_credential_is_said_all_day_with_logs_as_text() {
    day("text");
}

#[test]
fn no_credential_is_said_all_day_with_logs_as_json() {
    day("json");
}
