//! Tokens of a real OAuth server: what holds, and everything that must not.

use serde_json::{Value, json};
use toolgate_core::caller::Role;
use toolgate_server::identity::{Algorithm, ClaimMap, Identity, IdentityConfig, IssuerConfig, Jwks};

use crate::{
    issuer::{AUDIENCE, Issuer, Signer, jws, now},
    world::{Rows, World, own_key, world_of},
};

fn gate(issuers: impl IntoIterator<Item = IssuerConfig>) -> World {
    world_of(IdentityConfig { issuers: issuers.into_iter().collect(), ..IdentityConfig::default() })
}

async fn corp(signer: Signer) -> (Issuer, World) {
    let issuer = Issuer::start(signer).await;
    let world = gate([issuer.config("corp")]);
    (issuer, world)
}

fn with(mut claims: Value, change: Value) -> Value {
    claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    claims
}

#[tokio::test]
async fn a_client_gets_a_token_from_the_issuer_and_is_known_by_issuer_and_subject() {
    for signer in [Signer::rs256("r"), Signer::es256("e"), Signer::eddsa("d")] {
        let (issuer, world) = corp(signer).await;
        let caller = world.bearer(&issuer.token_by_client_credentials().await).await.caller;
        assert_eq!(caller.principal(), "user:corp/robot");
        assert_eq!(caller.scopes, ["approve".to_owned(), "tools:read".to_owned()].into());
        assert_eq!(world.identity.issuers(), [issuer.desk.url.as_str()]);
    }
}

#[tokio::test]
async fn wrong_audience_issuer_and_times_do_not_hold() {
    let (issuer, world) = corp(Signer::es256("k")).await;
    let good = issuer.claims("ada");
    assert!(world.holds(&issuer.sign(&good)).await);
    for change in [
        json!({"aud": "https://other.example"}),
        json!({"aud": ["https://other.example", "client-id"]}),
        json!({"iss": "https://other.example"}),
        json!({"iss": "toolgate"}),
        json!({"iss": [issuer.desk.url, "https://other.example"]}),
        json!({"exp": now() - 11}),
        json!({"nbf": now() + 60}),
        json!({"sub": ""}),
        json!({"sub": null}),
        json!({"sub": "a\nb"}),
        json!({"exp": null}),
        json!({"aud": null}),
    ] {
        assert!(!world.holds(&issuer.sign(&with(good.clone(), change.clone()))).await, "{change}");
    }
    let several = with(good, json!({"aud": ["account", AUDIENCE]}));
    assert!(world.holds(&issuer.sign(&several)).await);
}

#[tokio::test]
async fn algorithm_confusion_does_not_work() {
    for signer in [Signer::rs256("k"), Signer::eddsa("k")] {
        let (issuer, world) = corp(signer).await;
        let claims = issuer.claims("ada");
        assert!(world.holds(&issuer.sign(&claims)).await);
        for token in issuer.signer().confused_tokens(&claims) {
            assert!(!world.holds(&token).await);
        }
        for alg in ["none", "None", "NONE", "nOnE", "", "HS256", "RS512", "PS256", "ES384"] {
            let header = json!({"alg": alg, "kid": "k"});
            assert!(!world.holds(&issuer.signer().token_with(&header, &claims)).await, "{alg}");
            assert!(!world.holds(&jws(&header, &claims, |_| Vec::new())).await, "{alg} unsigned");
        }
    }
}

#[tokio::test]
async fn a_key_in_the_tokens_own_header_is_not_believed() {
    let (issuer, world) = corp(Signer::rs256("k")).await;
    let evil = Signer::rs256("k");
    let header = json!({"alg": "RS256", "kid": "k", "jwk": evil.jwk(), "jku": "http://127.0.0.1:1/jwks"});
    assert!(!world.holds(&evil.token_with(&header, &issuer.claims("ada"))).await);
}

#[tokio::test]
async fn a_tampered_payload_does_not_hold() {
    let (issuer, world) = corp(Signer::eddsa("k")).await;
    let (ada, eve) = (issuer.sign(&issuer.claims("ada")), issuer.sign(&issuer.claims("eve")));
    let (ada, eve): (Vec<_>, Vec<_>) = (ada.split('.').collect(), eve.split('.').collect());
    assert!(!world.holds(&format!("{}.{}.{}", eve[0], ada[1], eve[2])).await);
}

#[tokio::test]
async fn one_issuers_key_proves_nothing_for_another() {
    let (a, b) = (Issuer::start(Signer::es256("a")).await, Issuer::start(Signer::es256("b")).await);
    let world = gate([a.config("a"), b.config("b")]);
    assert_eq!(world.bearer(&a.sign(&a.claims("ada"))).await.caller.principal(), "user:a/ada");
    assert_eq!(world.bearer(&b.sign(&b.claims("ada"))).await.caller.principal(), "user:b/ada");
    let as_a = json!({"alg": "ES256", "kid": "b"});
    assert!(!world.holds(&b.signer().token_with(&as_a, &a.claims("ada"))).await, "issuer A's name, B's key and kid");
    let kid_of_b = a.signer().token_with(&as_a, &a.claims("ada"));
    assert!(!world.holds(&kid_of_b).await, "issuer A's key under B's kid");
    let as_b = json!({"alg": "ES256", "kid": "a"});
    assert!(!world.holds(&b.signer().token_with(&as_b, &a.claims("ada"))).await, "B's key under A's kid");
}

#[tokio::test]
async fn claims_without_a_mapping_are_not_facts() {
    let (issuer, world) = corp(Signer::eddsa("k")).await;
    world.task("t1", Some("corp/ada"));
    let loud = json!({
        "tenant": "acme", "role": "owner", "plan": "enterprise", "task": "t1", "operator": true, "agent": "bot",
        "kind": "manager", "runtime": "client", "flow": "f", "allow": ["x"],
    });
    let caller = world.bearer(&issuer.sign(&with(issuer.claims("ada"), loud))).await.caller;
    let quiet = world.bearer(&issuer.sign(&issuer.claims("ada"))).await.caller;
    assert_eq!(caller, quiet);
    assert!(caller.tenant.is_none() && caller.task.is_none() && !caller.operator && caller.agent.is_none());
}

#[tokio::test]
async fn mapped_claims_are_facts() {
    let issuer = Issuer::start(Signer::eddsa("k")).await;
    let word = |text: &str| Some(text.to_owned());
    let claims = ClaimMap {
        user: word("email"),
        tenant: word("https://corp.example/org"),
        role: word("org.role"),
        plan: word("plan"),
        task: word("work"),
        operator: Some(("realm_access.roles".into(), "gate-operator".into())),
        scopes: word("permissions"),
    };
    let world = gate([IssuerConfig { claims, ..issuer.config("corp") }]);
    world.task("t1", Some("corp/ada@corp.example"));
    let claims = json!({
        "email": "ada@corp.example", "https://corp.example/org": "acme", "org": {"role": "admin"}, "plan": "pro",
        "work": "t1", "realm_access": {"roles": ["x", "gate-operator"]}, "permissions": ["read", "write"], "scope": "unread",
    });
    let caller = world.bearer(&issuer.sign(&with(issuer.claims("ignored"), claims))).await.caller;
    assert_eq!(caller.principal(), "user:corp/ada@corp.example task:t1");
    let tenant = caller.tenant.as_ref().unwrap();
    assert_eq!((tenant.id.as_str(), tenant.role, tenant.plan.as_deref()), ("acme", Role::Admin, Some("pro")));
    assert!(caller.operator);
    assert_eq!(caller.scopes, ["read".to_owned(), "write".to_owned()].into());
    let without =
        world.bearer(&issuer.sign(&with(issuer.claims("x"), json!({"email": "bob@corp.example"})))).await.caller;
    assert!(!without.operator && without.tenant.is_none() && without.scopes.is_empty());
}

#[tokio::test]
async fn scp_lists_are_scopes_too() {
    let (issuer, world) = corp(Signer::eddsa("k")).await;
    let token = issuer.sign(&with(issuer.claims("ada"), json!({"scp": ["a", "b"]})));
    assert_eq!(world.bearer(&token).await.caller.scopes.len(), 2);
}

#[tokio::test]
async fn an_own_user_is_not_an_issuers_user_of_the_same_name() {
    let (issuer, world) = corp(Signer::eddsa("k")).await;
    let theirs = world.bearer(&issuer.sign(&issuer.claims("ada"))).await.caller.user.clone();
    let ours = world.bearer(&world.user("ada")).await.caller.user.clone();
    assert_ne!(theirs, ours);
}

#[tokio::test]
async fn wrong_configuration_is_refused_with_what_to_do() {
    let good =
        || IssuerConfig::new("corp", "https://corp.example", AUDIENCE, Jwks::Url("https://corp.example/jwks".into()));
    let url = |text: &str| IssuerConfig { jwks: Jwks::Url(text.into()), ..good() };
    let refused = |config: IssuerConfig| {
        let config = IdentityConfig { issuers: vec![config], ..IdentityConfig::default() };
        Identity::new(config, own_key(), std::sync::Arc::new(Rows::default())).unwrap_err().to_string()
    };
    assert!(refused(IssuerConfig { audience: "".into(), ..good() }).contains("'audience' is empty"));
    assert!(refused(IssuerConfig { name: "a/b".into(), ..good() }).contains("no '/'"));
    assert!(refused(IssuerConfig { issuer: "toolgate".into(), ..good() }).contains("our own"));
    assert!(
        refused(IssuerConfig { algorithms: vec![Algorithm::RS256, Algorithm::HS256], ..good() }).contains("asymmetric")
    );
    assert!(refused(IssuerConfig { algorithms: vec![], ..good() }).contains("asymmetric"));
    assert!(
        refused(IssuerConfig { leeway: std::time::Duration::from_secs(61), ..good() }).contains("the most is 60 s")
    );
    for bad in
        ["http://corp.example/jwks", "http://127.0.0.1.corp.example/jwks", "ftp://localhost/jwks", "corp.example"]
    {
        assert!(refused(url(bad)).contains("'jwks'"), "{bad}");
    }
    let with_password = refused(url("https://u:canary@corp.example/jwks"));
    assert!(with_password.contains("password") && !with_password.contains("canary"));
    assert!(
        refused(IssuerConfig { jwks: Jwks::File("absent.json".into()), ..good() }).contains("key file 'absent.json'")
    );
    let twice = IdentityConfig { issuers: vec![good(), good()], ..IdentityConfig::default() };
    assert!(Identity::new(twice, own_key(), std::sync::Arc::new(Rows::default())).is_err());
    for fine in ["http://localhost:1/jwks", "http://[::1]:1/jwks", "http://127.0.0.1:1/jwks"] {
        gate([url(fine)]);
    }
}

#[tokio::test]
async fn keys_from_a_file_work_and_a_new_file_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("jwks.json");
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    std::fs::write(&path, json!({"keys": [old.jwk()]}).to_string()).unwrap();
    let mut config = IssuerConfig::new("corp", "https://corp.example", AUDIENCE, Jwks::File(path.clone()));
    config.refetch_interval = std::time::Duration::from_millis(50);
    let world = gate([config]);
    let claims = json!({"iss": "https://corp.example", "aud": AUDIENCE, "sub": "ada", "exp": now() + 60});
    assert!(world.holds(&old.token(&claims)).await);
    std::fs::write(&path, json!({"keys": [new.jwk()]}).to_string()).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(80)).await;
    assert!(world.holds(&new.token(&claims)).await);
    assert!(!world.holds(&old.token(&claims)).await, "also forgotten where it was remembered");
}
