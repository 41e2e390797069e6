//! Where an issuer is configured, its tokens count, and who lacks one is told where to get it.

use serde_json::json;

use super::bed::{
    home::Home,
    http::Request,
    issuer::{self, Signer},
    message::{ERAS, Era, Message},
};

const CONFIG: &str = r#"
[packs.gate]
[packs.todo]
[tools.delete_task]
oauth_scopes = ["tasks:delete", "tasks:write"]
"#;

/// With a key of each kind, and a claim for everything that a claim can say.
fn home() -> (Home, [Signer; 3]) {
    let home = Home::with(&format!(
        "{CONFIG}[identity]\nscopes = [\"tasks:read\"]\n{}[identity.issuers.claims]\ntenant = \"org\"\nrole = \"org_role\"\n\
         operator = {{ claim = \"groups\", value = \"ops\" }}\n",
        issuer::CONFIG
    ));
    let signers = [Signer::rs256("r1"), Signer::es256("e1"), Signer::eddsa("d1")];
    issuer::publish(&home, &signers.each_ref());
    (home, signers)
}

fn add(era: Era) -> Message {
    Message::call(era, "add_task", json!({"title": "x"}))
}

#[test]
fn tokens_of_each_kind_of_key_count() {
    let (home, signers) = home();
    let gate = home.serve();
    for signer in &signers {
        let token = signer.token(&issuer::claims("alice", json!({})));
        for era in ERAS {
            assert_eq!(gate.ask(&add(era).bearer(&token)).verdict(), "ok", "{} {era:?}", signer.kid);
        }
    }
    // (issuer, subject) is the user: alice of the issuer is not alice of our own tokens
    let own = home.mint("--user alice");
    let listed = gate.ask(&Message::call(Era::Late, "list_tasks", json!({})).bearer(&own)).result();
    assert_eq!(listed["structuredContent"]["tasks"], json!([]));
}

#[test]
fn what_the_protected_resource_is_stands_at_both_addresses() {
    let (home, _) = home();
    let gate = home.serve();
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = gate.send(&Request::new("GET", path));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        let metadata = answer.message();
        assert_eq!(metadata["resource"], format!("http://{}/mcp", gate.address));
        assert_eq!(metadata["authorization_servers"], json!([issuer::ISSUER]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
        assert_eq!(metadata["scopes_supported"], json!(["tasks:read"]));
    }
}

#[test]
fn a_stranger_is_told_where_to_sign_in() {
    let (home, _) = home();
    let gate = home.serve();
    let place = format!("http://{}/.well-known/oauth-protected-resource/mcp", gate.address);
    for era in ERAS {
        let answer = gate.ask(&add(era));
        assert_eq!(answer.status, 401, "{era:?}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert_eq!(challenge, format!("Bearer resource_metadata=\"{place}\", scope=\"tasks:read\""));
        assert_eq!(answer.message()["error"]["data"]["code"], "authentication_required");
        assert_eq!(gate.ask(&Message::list(era)).tools(), ["help"], "a list makes no demand");
        assert_eq!(gate.ask(&Message::call(era, "help", json!({}))).verdict(), "ok");
    }
}

#[test]
fn a_token_that_does_not_hold_is_told_so() {
    let (home, [rsa, ec, ed]) = home();
    let gate = home.serve();
    let stranger = Signer::es256("e1");
    let now = issuer::now();
    let mut tokens = vec![
        ("expired", ec.token(&issuer::claims("a", json!({"exp": now - 60})))),
        ("not yet valid", ec.token(&issuer::claims("a", json!({"nbf": now + 600})))),
        ("another audience", ec.token(&issuer::claims("a", json!({"aud": "https://other.example"})))),
        ("another issuer", ec.token(&issuer::claims("a", json!({"iss": "https://other.example"})))),
        ("our own issuer", ed.token(&issuer::claims("a", json!({"iss": "toolgate", "aud": "toolgate", "nbf": now})))),
        ("another's signature", stranger.token(&issuer::claims("a", json!({})))),
        ("no signature", ec.token_with(&json!({"alg": "none", "kid": "e1"}), &issuer::claims("a", json!({})))),
        ("no subject", rsa.token(&issuer::claims("", json!({})))),
        ("no end", rsa.token(&issuer::claims("a", json!({"exp": null})))),
    ];
    tokens.extend(rsa.confused_tokens(&issuer::claims("a", json!({}))).into_iter().map(|token| ("confused", token)));
    for (what, token) in tokens {
        let answer = gate.ask(&add(Era::Modern).bearer(&token));
        assert_eq!(answer.status, 401, "{what}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer error=\"invalid_token\", "), "{what}: {challenge}");
        assert_eq!(gate.ask(&Message::list(Era::Modern).bearer(&token)).tools(), ["help"], "{what}");
    }
}

#[test]
fn a_token_with_too_little_scope_is_told_all_that_is_needed() {
    let (home, [rsa, ..]) = home();
    let gate = home.serve();
    let delete = |scope: &str| {
        let token = rsa.token(&issuer::claims("alice", json!({"scope": scope})));
        gate.ask(&Message::call(Era::Modern, "delete_task", json!({"task_id": 1})).bearer(&token))
    };
    for scope in ["", "tasks:read", "tasks:write tasks:read"] {
        let answer = delete(scope);
        assert_eq!(answer.status, 403, "{scope}");
        assert_eq!(answer.message()["error"]["data"]["code"], "insufficient_scope");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(
            challenge.starts_with("Bearer error=\"insufficient_scope\", resource_metadata=\"http://"),
            "{challenge}"
        );
        assert!(challenge.ends_with("scope=\"tasks:delete tasks:write\""), "{challenge}");
    }
    let answer = delete("tasks:delete tasks:write");
    assert_eq!((answer.status, answer.verdict()), (200, "not_found".to_owned()), "through the gate, and no such task");
}

#[test]
fn claims_count_only_as_they_are_mapped() {
    let (home, [_, ec, _]) = home();
    home.write("admin.cedar", "");
    let gate = home.serve();
    let metrics = |claims| gate.send(&Request::new("GET", "/metrics").bearer(&ec.token(&claims))).status;
    assert_eq!(metrics(issuer::claims("a", json!({"groups": ["dev", "ops"]}))), 200);
    assert_eq!(metrics(issuer::claims("a", json!({"groups": ["dev"]}))), 403);
    assert_eq!(metrics(issuer::claims("a", json!({"operator": true}))), 403, "nobody mapped that claim");
}

#[test]
fn where_lists_demand_a_token_too_strangers_get_none() {
    let (home, [rsa, ..]) = home();
    let config = std::fs::read_to_string(home.path("toolgate.toml")).unwrap();
    home.write("toolgate.toml", &config.replace("[identity]\n", "[identity]\nchallenge = \"always\"\n"));
    let gate = home.serve();
    let token = rsa.token(&issuer::claims("alice", json!({})));
    for era in ERAS {
        let answer = gate.ask(&Message::list(era));
        assert_eq!(answer.status, 401, "{era:?}");
        assert!(answer.header("www-authenticate").is_some());
        assert_eq!(gate.ask(&Message::list(era).bearer(&token)).status, 200);
    }
    assert_eq!(gate.ask(&Message::new(Era::Modern, "server/discover")).status, 200);
    assert_eq!(gate.ask(&Message::initialize(Era::Late)).status, 200);
}

#[test]
fn without_an_issuer_a_stranger_is_told_in_words() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let answer = gate.ask(&add(Era::Modern));
    assert_eq!((answer.status, answer.verdict()), (200, "authentication_required".to_owned()));
    assert!(answer.header("www-authenticate").is_none());
    assert!(answer.words().starts_with("Tool 'add_task' requires authentication. "), "{}", answer.words());
}

#[test]
fn an_issuer_without_an_audience_or_keys_is_a_start_up_error() {
    let wrong = [
        ("audience = \"https://tools.example/mcp\"\n", "", "audience"),
        ("audience = \"https://tools.example/mcp\"", "audience = \" \"", "'audience' is empty"),
        ("jwks_file = \"jwks.json\"", "", "needs jwks_url or jwks_file"),
        ("jwks_file = \"jwks.json\"", "jwks_url = \"http://keys.example\"", "must be https"),
        ("name = \"corp\"", "name = \"a/b\"", "no '/'"),
        ("issuer = \"https://login.example\"", "issuer = \"toolgate\"", "not \"toolgate\""),
        ("jwks_file = \"jwks.json\"", "jwks_file = \"jwks.json\"\nalgorithms = [\"HS256\"]", "asymmetric"),
    ];
    for (from, to, words) in wrong {
        let home = Home::with(&format!("[packs.todo]\n{}", issuer::CONFIG.replace(from, to)));
        issuer::publish(&home, &[]);
        let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
        assert_eq!(ran.code, Some(2), "{to}: {ran:?}");
        assert!(ran.err.contains(words), "{to}: {}", ran.err);
        assert!(!ran.out.contains("MCP address"), "it never served");
    }
    let home = Home::with("[packs.todo]\n[identity]\naudience = \"\"\n");
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
