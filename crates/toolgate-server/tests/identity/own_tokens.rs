//! Toolgate's own tokens: what they say, and everything that makes one not hold.

use std::time::Duration;

use aws_lc_rs::hmac;
use serde_json::{Value, json};
use toolgate_core::caller::{AgentKind, Purpose, Role, Runtime};
use toolgate_server::identity::{
    Claims, IdentityConfig, OwnAlgorithm, OwnKey, OwnTokens, Rejection, Revocations, Secret, TokenLimits,
};

use crate::{
    issuer::{jws, now},
    world::{HOUR, agent, own_key, user, world, world_of, world_with},
};

fn good() -> Value {
    json!({"iss": "toolgate", "aud": "toolgate", "sub": "ada", "jti": "1", "iat": now(), "nbf": now() - 5, "exp": now() + 60})
}

/// Signed with the gate's real key, whatever the claims.
fn signed(header: Value, claims: &Value) -> String {
    let prk = aws_lc_rs::hkdf::Salt::new(aws_lc_rs::hkdf::HKDF_SHA256, b"toolgate own key 1").extract(&[42; 32]);
    let mut key = [0; 32];
    prk.expand(&[b"sign", b"\0", b"hs256"], aws_lc_rs::hkdf::HKDF_SHA256).unwrap().fill(&mut key).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    jws(&header, claims, |message| hmac::sign(&key, message).as_ref().to_vec())
}

fn hs256(claims: &Value) -> String {
    signed(json!({"typ": "JWT", "alg": "HS256"}), claims)
}

fn with(change: Value) -> Value {
    let mut claims = good();
    for (name, value) in change.as_object().unwrap() {
        match value {
            Value::Null => claims.as_object_mut().unwrap().remove(name),
            value => claims.as_object_mut().unwrap().insert(name.clone(), value.clone()),
        };
    }
    claims
}

#[tokio::test]
async fn every_minted_fact_arrives() {
    let world = world();
    let claims = Claims {
        tenant: Some("acme".into()),
        role: Some("admin".into()),
        plan: Some("pro".into()),
        flow: Some("f1".into()),
        allow: Some(["vault.move".to_owned()].into()),
        runtime: Some("client".into()),
        scopes: ["read".to_owned(), "write".to_owned()].into(),
        operator: true,
        ..agent("bot", Some("ada"))
    };
    let caller = world.bearer(&world.mint(claims)).await.caller;
    assert_eq!(caller.user.as_ref().unwrap().as_str(), "ada");
    let tenant = caller.tenant.as_ref().unwrap();
    assert_eq!((tenant.id.as_str(), tenant.role, tenant.plan.as_deref()), ("acme", Role::Admin, Some("pro")));
    let agent = caller.agent.as_ref().unwrap();
    assert_eq!((agent.id.as_str(), agent.kind, agent.purpose), ("bot", AgentKind::Worker, Some(Purpose::Task)));
    assert_eq!(agent.project.as_deref(), Some("site"));
    let flow = caller.flow.as_ref().unwrap();
    assert_eq!((flow.id.as_str(), flow.allowlist.as_ref().unwrap().len()), ("f1", 1));
    assert_eq!(caller.runtime, Runtime::Client);
    assert_eq!(caller.scopes, ["read".to_owned(), "write".to_owned()].into());
    assert!(caller.operator);
}

#[tokio::test]
async fn an_empty_allowlist_stays_empty_and_an_absent_one_absent() {
    let world = world();
    let empty = Claims { flow: Some("f".into()), allow: Some([].into()), ..user("ada") };
    let absent = Claims { flow: Some("f".into()), ..user("ada") };
    assert_eq!(world.bearer(&world.mint(empty)).await.caller.flow.as_ref().unwrap().allowlist, Some([].into()));
    assert_eq!(world.bearer(&world.mint(absent)).await.caller.flow.as_ref().unwrap().allowlist, None);
}

#[tokio::test]
async fn the_control_token_holds() {
    assert!(world().holds(&hs256(&good())).await);
}

#[tokio::test]
async fn a_token_without_a_required_claim_does_not_hold() {
    for claim in ["exp", "nbf", "iss", "aud", "jti", "iat"] {
        assert!(!world().holds(&hs256(&with(json!({claim: null})))).await, "{claim}");
    }
}

#[tokio::test]
async fn wrong_times_issuers_and_audiences_do_not_hold() {
    for change in [
        json!({"exp": now() - 1}),
        json!({"exp": now()}),
        json!({"nbf": now() + 30}),
        json!({"exp": "tomorrow"}),
        json!({"iss": "https://elsewhere.example"}),
        json!({"iss": ["toolgate", "evil"]}),
        json!({"aud": "other"}),
        json!({"aud": ["other"]}),
        json!({"aud": []}),
    ] {
        assert!(!world().holds(&hs256(&with(change.clone()))).await, "{change}");
    }
}

#[tokio::test]
async fn an_unknown_role_is_the_lowest_and_other_unknown_words_make_the_token_invalid() {
    let world = world();
    let odd_role = hs256(&with(json!({"tenant": "acme", "role": "emperor"})));
    assert_eq!(world.bearer(&odd_role).await.caller.tenant.as_ref().unwrap().role, Role::Member);
    for change in [
        json!({"agent": "bot", "kind": "emperor"}),
        json!({"agent": "bot", "kind": "worker", "purpose": "conquest"}),
        json!({"runtime": "moon"}),
        json!({"agent": "bot"}),
        json!({"kind": "worker"}),
        json!({"allow": ["a"]}),
        json!({"sub": "corp/ada"}),
        json!({"sub": ""}),
        json!({"sub": 7}),
    ] {
        assert!(!world.holds(&hs256(&with(change.clone()))).await, "{change}");
    }
}

#[tokio::test]
async fn the_algorithm_is_the_keys_and_never_the_tokens() {
    let world = world();
    for header in [
        json!({"alg": "none"}),
        json!({"alg": "None", "typ": "JWT"}),
        json!({"alg": "HS384"}),
        json!({"alg": "HS512"}),
        json!({"alg": "EdDSA"}),
        json!({"alg": "RS256"}),
        json!({}),
    ] {
        assert!(!world.holds(&signed(header.clone(), &good())).await, "{header}");
        let unsigned = jws(&header, &good(), |_| Vec::new());
        assert!(!world.holds(&unsigned).await, "{header} unsigned");
    }
}

#[tokio::test]
async fn a_token_that_demands_extensions_or_is_of_another_type_does_not_hold() {
    let world = world();
    assert!(!world.holds(&signed(json!({"alg": "HS256", "crit": ["b64"], "b64": false}), &good())).await);
    assert!(!world.holds(&signed(json!({"alg": "HS256", "typ": "logout+jwt"}), &good())).await);
    assert!(world.holds(&signed(json!({"alg": "HS256", "typ": "at+jwt"}), &good())).await);
}

#[tokio::test]
async fn another_gates_token_does_not_hold() {
    let key = OwnKey::from_secret(&Secret::new([43; 32]), OwnAlgorithm::Hs256).unwrap();
    let token = OwnTokens::new(key, "toolgate", Duration::ZERO).unwrap().mint(&user("ada"), HOUR).unwrap();
    assert!(!world().holds(token.expose()).await);
    let other_audience = OwnTokens::new(own_key(), "other", Duration::ZERO).unwrap().mint(&user("ada"), HOUR).unwrap();
    assert!(!world().holds(other_audience.expose()).await);
}

#[tokio::test]
async fn eddsa_signs_and_proves_too() {
    let key = OwnKey::from_secret(&Secret::new([9; 32]), OwnAlgorithm::EdDsa).unwrap();
    let world = world_with(key, IdentityConfig::default());
    assert!(world.holds(&world.user("ada")).await);
    assert!(!world.holds(&hs256(&good())).await);
}

#[tokio::test]
async fn a_remembered_token_ends_when_it_expires() {
    let world = world();
    let token = world.identity.mint(&user("ada"), Duration::from_secs(1)).unwrap();
    assert!(world.holds(token.expose()).await);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert!(!world.holds(token.expose()).await);
}

#[tokio::test]
async fn leeway_lets_a_token_live_a_little_longer_and_is_a_minute_at_most() {
    let late = hs256(&with(json!({"exp": now() - 10})));
    let lenient = |seconds| IdentityConfig { leeway: Duration::from_secs(seconds), ..IdentityConfig::default() };
    assert!(!world().holds(&late).await);
    assert!(world_of(lenient(60)).holds(&late).await);
    let error = OwnTokens::new(own_key(), "toolgate", Duration::from_secs(61)).unwrap_err();
    assert_eq!(error.to_string(), "identity leeway is 61 s; the most is 60 s");
}

#[test]
fn minting_refuses_what_would_not_hold() {
    let tokens = OwnTokens::new(own_key(), "toolgate", Duration::ZERO).unwrap();
    let refused = |claims: Claims| tokens.mint(&claims, HOUR).unwrap_err().to_string();
    let word = |text: &str| Some(text.to_owned());
    assert_eq!(
        refused(Claims { tenant: word("t"), role: word("emperor"), ..user("ada") }),
        "role 'emperor' is not one of: owner admin billing member"
    );
    assert_eq!(refused(Claims { role: word("admin"), ..user("ada") }), "'role' needs 'tenant' beside it");
    assert_eq!(refused(Claims { agent: word("bot"), ..user("ada") }), "'agent' needs 'kind' beside it");
    assert_eq!(refused(Claims { project: word("p"), ..user("ada") }), "'project' needs 'agent' beside it");
    assert_eq!(refused(user("corp/ada")), "user 'corp/ada' is not a name without '/' and control characters");
    assert!(tokens.mint(&user("ada"), Duration::ZERO).is_err());
    assert!(tokens.mint(&user("ada"), Duration::MAX).is_err());
    let day = Duration::from_secs(86_400);
    let operator = Claims { operator: true, ..user("op") };
    assert!(tokens.mint(&user("ada"), day * 90).is_ok() && tokens.mint(&operator, day * 7).is_ok());
    let long = tokens.mint(&user("ada"), day * 91).unwrap_err().to_string();
    assert!(long.contains("max_token_ttl"), "{long}");
    let long = tokens.mint(&operator, day * 8).unwrap_err().to_string();
    assert!(long.contains("max_operator_ttl"), "{long}");
    let empty = OwnTokens::new(own_key(), " ", Duration::ZERO).unwrap_err();
    assert_eq!(empty.to_string(), "identity.audience is empty; name this gate, for example \"toolgate\"");
}

#[tokio::test]
async fn a_token_that_was_made_for_longer_counts_for_the_longest_time_there_is_now() {
    let long = world_of(IdentityConfig::default()).user("ada");
    let limits = |seconds| {
        let any = Duration::from_secs(seconds);
        IdentityConfig { token_limits: TokenLimits { any, operator: any }, ..IdentityConfig::default() }
    };
    assert!(world_of(limits(60)).holds(&long).await);
    let short = world_of(limits(1));
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert!(matches!(short.bearer(&long).await.rejected, Some(Rejection::Expired { .. })));
    let over = OwnTokens::new(own_key(), "toolgate", Duration::ZERO).unwrap();
    let forever = TokenLimits { any: Duration::MAX, ..TokenLimits::default() };
    assert!(over.with_limits(forever).unwrap_err().to_string().contains("366 days"));
}

#[tokio::test]
async fn tokens_are_revoked_by_id_by_subject_and_by_age() {
    let world = world();
    let tokens = OwnTokens::new(own_key(), "toolgate", Duration::ZERO).unwrap();
    let (ada, again, bob) = (world.user("ada"), world.user("ada"), world.user("bob"));
    let scribe = world.agent("scribe", Some("ada"));
    let revoke = |change: &dyn Fn(&mut Revocations)| {
        change(&mut world.rows.revocations.lock().unwrap());
        world.rows.revision.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    };
    for token in [&ada, &again, &bob, &scribe] {
        assert!(world.holds(token).await);
    }
    revoke(&|all| {
        all.tokens.insert(tokens.id_of(&ada).unwrap());
    });
    assert_eq!(world.bearer(&ada).await.rejected, Some(Rejection::Revoked), "a remembered token too");
    assert!(world.holds(&again).await && world.holds(&bob).await);
    let now = crate::issuer::now();
    revoke(&|all| {
        all.subjects.insert("agent:scribe".into(), now - 3600);
    });
    assert!(world.holds(&scribe).await, "made later");
    revoke(&|all| {
        all.subjects.insert("agent:scribe".into(), now);
    });
    assert_eq!(world.bearer(&scribe).await.rejected, Some(Rejection::Revoked));
    assert!(world.holds(&again).await);
    revoke(&|all| {
        all.subjects.insert("user:ada".into(), now);
    });
    assert!(!world.holds(&again).await && world.holds(&bob).await);
    revoke(&|all| all.everyone = Some(now));
    assert!(!world.holds(&bob).await);
    revoke(&|all| all.everyone = Some(now - 3600));
    assert!(world.holds(&bob).await);
}

#[tokio::test]
async fn an_agents_token_ends_with_the_agents_work() {
    let world = world();
    let row = |project: Option<&str>, works: bool| {
        world.rows.agents.lock().unwrap().insert(("ann".into(), project.map(Into::into)), works);
    };
    let (ann, key) = (world.agent("ann", None), world.api_key(crate::world::agent("ann", None)));
    for token in [&ann, &key] {
        assert!(world.holds(token).await, "of an agent that the store does not know, the token's word is all there is");
        row(Some("site"), true);
        assert!(world.holds(token).await);
        row(Some("site"), false);
        assert_eq!(world.bearer(token).await.rejected, Some(Rejection::Revoked), "on the next request");
        row(Some("site"), true);
        assert!(world.holds(token).await);
        world.rows.agents.lock().unwrap().clear();
    }
}
