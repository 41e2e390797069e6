//! The table "Who is asking", line by line.

use toolgate_core::caller::{AgentKind, Runtime};
use toolgate_server::identity::{Claims, Credentials, IdentityConfig, Secret};

use crate::world::{agent, assert_anonymous, assert_rejected, user, world, world_of};

const NONE: Credentials<'static> = Credentials {
    bearer: None,
    meta_token: None,
    params_token: None,
    session_token: None,
    coordinator_token: None,
    task_keys: &[],
    browser: false,
    address: None,
};

#[tokio::test]
async fn no_credential_is_anonymous_and_no_fault() {
    let world = world();
    assert_anonymous(&world.ask(NONE).await);
    let empty = Credentials { meta_token: Some("".into()), session_token: Some("".into()), task_keys: &[""], ..NONE };
    assert_anonymous(&world.ask(empty).await);
}

#[tokio::test]
async fn a_header_that_can_hold_no_token_is_an_invalid_credential() {
    let world = world();
    let ada = world.user("ada");
    assert_rejected(&world.ask(Credentials { bearer: Some(""), ..NONE }).await);
    assert_rejected(&world.ask(Credentials { bearer: Some(""), meta_token: Some(ada.into()), ..NONE }).await);
}

#[tokio::test]
async fn every_place_takes_a_credential() {
    let world = world();
    let token = world.user("ada");
    let shown = || Some(token.as_str().into());
    for (place, credentials) in [
        ("bearer", Credentials { bearer: Some(&token), ..NONE }),
        ("_meta", Credentials { meta_token: shown(), ..NONE }),
        ("params", Credentials { params_token: shown(), ..NONE }),
        ("session", Credentials { session_token: shown(), ..NONE }),
        ("coordinator", Credentials { coordinator_token: shown(), ..NONE }),
    ] {
        assert_eq!(world.ask(credentials).await.caller.principal(), "user:ada", "{place}");
    }
}

#[tokio::test]
async fn the_first_place_wins_among_users() {
    let world = world();
    let tokens = ["first", "second", "third", "fourth", "fifth"].map(|name| world.user(name));
    let [bearer, meta, params, session, coordinator] = &tokens;
    let mut shown = Credentials {
        bearer: Some(bearer),
        meta_token: Some(meta.into()),
        params_token: Some(params.into()),
        session_token: Some(session.into()),
        coordinator_token: Some(coordinator.into()),
        ..NONE
    };
    assert_eq!(world.ask(shown.clone()).await.caller.principal(), "user:first");
    shown.bearer = None;
    assert_eq!(world.ask(shown.clone()).await.caller.principal(), "user:second");
    shown.meta_token = None;
    assert_eq!(world.ask(shown.clone()).await.caller.principal(), "user:third");
    shown.params_token = None;
    assert_eq!(world.ask(shown.clone()).await.caller.principal(), "user:fourth");
    shown.session_token = None;
    assert_eq!(world.ask(shown).await.caller.principal(), "user:fifth");
}

#[tokio::test]
async fn an_invalid_first_credential_makes_the_caller_anonymous_altogether() {
    let world = world();
    let (good, task) = (world.user("ada"), world.task("t1", Some("ada")));
    let agent = world.agent("bot", Some("ada"));
    let shown = Credentials {
        bearer: Some("nonsense"),
        meta_token: Some(good.into()),
        session_token: Some(agent.into()),
        task_keys: &[&task],
        ..NONE
    };
    assert_rejected(&world.ask(shown).await);
}

#[tokio::test]
async fn an_invalid_second_credential_of_a_kind_is_ignored() {
    let world = world();
    let good = world.user("ada");
    let shown = Credentials { bearer: Some(&good), params_token: Some("nonsense".into()), ..NONE };
    let identified = world.ask(shown).await;
    assert!(identified.rejected.is_none());
    assert_eq!(identified.caller.principal(), "user:ada");
}

#[tokio::test]
async fn an_invalid_first_session_rejects_even_beside_a_good_user() {
    let world = world();
    let good = world.user("ada");
    for bad in ["sess_unknown", "nonsense"] {
        assert_rejected(&world.ask(Credentials { bearer: Some(&good), session_token: Some(bad.into()), ..NONE }).await);
    }
    let forged = format!("{}x", world.agent("bot", Some("ada")));
    assert_rejected(&world.ask(Credentials { bearer: Some(&good), params_token: Some(forged.into()), ..NONE }).await);
}

#[tokio::test]
async fn a_good_session_before_a_bad_one_wins() {
    let world = world();
    let agent = world.agent("bot", Some("ada"));
    let shown = Credentials { bearer: Some(&agent), session_token: Some("sess_unknown".into()), ..NONE };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada agent:bot");
}

#[tokio::test]
async fn a_user_and_its_own_agent_session_combine() {
    let world = world();
    let ada = world.mint(Claims { tenant: Some("acme".into()), scopes: ["read".into()].into(), ..user("ada") });
    let agent = world.agent("bot", Some("ada"));
    let shown = Credentials { bearer: Some(&ada), session_token: Some(agent.into()), ..NONE };
    let caller = world.ask(shown).await.caller;
    assert_eq!(caller.principal(), "user:ada agent:bot");
    assert_eq!(caller.tenant.as_ref().unwrap().id, "acme");
    assert!(caller.scopes.contains("read"));
}

#[tokio::test]
async fn a_user_and_another_owners_agent_session_do_not_combine_and_the_later_is_ignored() {
    let world = world();
    let (ada, agent) = (world.user("ada"), world.agent("bot", Some("bob")));
    let shown = Credentials { bearer: Some(&ada), session_token: Some(agent.clone().into()), ..NONE };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada");
    let shown = Credentials { bearer: Some(&agent), meta_token: Some(ada.into()), ..NONE };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:bob agent:bot");
}

#[tokio::test]
async fn an_agent_without_an_owner_combines_with_nobody() {
    let world = world();
    let (ada, agent) = (world.user("ada"), world.agent("bot", None));
    let shown = Credentials { bearer: Some(&agent), meta_token: Some(ada.into()), ..NONE };
    assert_eq!(world.ask(shown).await.caller.principal(), "agent:bot");
}

#[tokio::test]
async fn a_user_and_its_own_task_combine() {
    let world = world();
    let (ada, key) = (world.user("ada"), world.task("t1", Some("ada")));
    let caller = world.ask(Credentials { bearer: Some(&ada), task_keys: &[&key], ..NONE }).await.caller;
    assert_eq!(caller.principal(), "user:ada task:t1");
}

#[tokio::test]
async fn a_user_and_another_owners_task_do_not_combine() {
    let world = world();
    let ada = world.user("ada");
    for key in [world.task("t1", Some("bob")), world.task("t2", None)] {
        let caller = world.ask(Credentials { bearer: Some(&ada), task_keys: &[&key], ..NONE }).await.caller;
        assert_eq!(caller.principal(), "user:ada");
    }
}

#[tokio::test]
async fn a_user_its_agent_and_its_task_combine() {
    let world = world();
    let (ada, bot, key) = (world.user("ada"), world.agent("bot", Some("ada")), world.task("t1", Some("ada")));
    let shown = Credentials { bearer: Some(&ada), session_token: Some(bot.into()), task_keys: &[&key], ..NONE };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada agent:bot task:t1");
}

#[tokio::test]
async fn a_token_for_a_flow_is_not_widened_by_another_credential() {
    let world = world();
    let flow = |id: &str, allow: &[&str]| Claims {
        flow: Some(id.into()),
        allow: Some(allow.iter().map(|name| (*name).to_owned()).collect()),
        ..Claims::default()
    };
    let ada = world.mint(Claims { user: Some("ada".into()), ..flow("f", &["a", "b"]) });
    let with =
        |claims: Claims| world.mint(Claims { flow: claims.flow, allow: claims.allow, ..agent("bot", Some("ada")) });
    let ask = |second: String| {
        let shown = Credentials { bearer: Some(&ada), session_token: Some(second.into()), ..NONE };
        async { world.ask(shown).await.caller }
    };
    let both = ask(with(flow("f", &["b", "c"]))).await;
    assert_eq!(both.flow.as_ref().unwrap().allowlist, Some(["b".to_owned()].into()));
    let plain = ask(with(Claims::default())).await;
    assert_eq!(plain.flow.as_ref().unwrap().allowlist, Some(["a".to_owned(), "b".to_owned()].into()));
    let other = ask(with(flow("g", &["c"]))).await;
    assert_eq!(other.principal(), "user:ada", "a contradicting credential is ignored whole");
}

#[tokio::test]
async fn an_agent_or_a_task_never_carries_the_right_to_approve() {
    let world = world();
    let approve = || ["approve".to_owned(), "read".to_owned()].into();
    let ada = world.mint(Claims { scopes: approve(), ..user("ada") });
    assert!(world.bearer(&ada).await.caller.scopes.contains("approve"));
    let (bot, key) = (world.agent("bot", Some("ada")), world.task("t1", Some("ada")));
    let agent_alone = world.mint(Claims { scopes: approve(), ..agent("bot", Some("ada")) });
    for shown in [
        Credentials { bearer: Some(&ada), session_token: Some(bot.into()), ..NONE },
        Credentials { bearer: Some(&ada), task_keys: &[&key], ..NONE },
        Credentials { bearer: Some(&agent_alone), ..NONE },
        Credentials { bearer: Some(&agent_alone), ..NONE },
    ] {
        let caller = world.ask(shown).await.caller;
        assert!(!caller.scopes.contains("approve") && caller.scopes.contains("read"), "{caller:?}");
    }
}

#[tokio::test]
async fn an_origin_header_or_the_credential_means_client_else_server() {
    let world = world();
    let (ada, page) = (world.user("ada"), world.mint(Claims { runtime: Some("client".into()), ..user("ada") }));
    for _ in ["proven", "remembered"] {
        assert_eq!(world.bearer(&ada).await.caller.runtime, Runtime::Server);
        assert_eq!(world.bearer(&page).await.caller.runtime, Runtime::Client);
        let shown = Credentials { bearer: Some(&ada), browser: true, ..NONE };
        assert_eq!(world.ask(shown).await.caller.runtime, Runtime::Client);
    }
    assert_eq!(world.ask(Credentials { browser: true, ..NONE }).await.caller.runtime, Runtime::Client);
    let bad = world.ask(Credentials { bearer: Some("x"), browser: true, ..NONE }).await;
    assert!(bad.rejected.is_some() && bad.caller.runtime == Runtime::Client);
}

#[tokio::test]
async fn operator_is_a_fact_of_its_own_and_a_tenants_owner_is_none() {
    let world = world();
    let owner = Claims { tenant: Some("acme".into()), role: Some("owner".into()), ..user("ada") };
    assert!(!world.bearer(&world.mint(owner)).await.caller.operator);
    let operator = world.bearer(&world.mint(Claims { operator: true, ..user("op") })).await.caller;
    assert!(operator.operator && operator.tenant.is_none());
}

#[tokio::test]
async fn the_coordinator_secret_makes_a_coordinator_in_every_place() {
    let secret = Some(Secret::new(*b"coordinate-this"));
    let world = world_of(IdentityConfig { coordinator_secret: secret, ..IdentityConfig::default() });
    let shown = |token: &'static str| {
        [
            Credentials { bearer: Some(token), ..NONE },
            Credentials { meta_token: Some(token.into()), ..NONE },
            Credentials { params_token: Some(token.into()), ..NONE },
            Credentials { session_token: Some(token.into()), ..NONE },
            Credentials { coordinator_token: Some(token.into()), ..NONE },
        ]
    };
    for credentials in shown("coordinate-this") {
        let caller = world.ask(credentials).await.caller;
        assert_eq!(caller.agent.as_ref().unwrap().kind, AgentKind::Coordinator);
    }
    for credentials in shown("wrong") {
        assert_rejected(&world.ask(credentials).await);
    }
}

#[tokio::test]
async fn an_empty_coordinator_secret_never_matches() {
    let secret = Some(Secret::new(*b""));
    let world = world_of(IdentityConfig { coordinator_secret: secret, ..IdentityConfig::default() });
    assert_anonymous(&world.ask(Credentials { coordinator_token: Some("".into()), ..NONE }).await);
}

#[tokio::test]
async fn an_unreachable_store_is_no_verdict_on_the_caller() {
    use toolgate_server::identity::Identify;
    let world = world();
    let (key, ada) = (world.task("t1", None), world.user("ada"));
    world.rows.down.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(world.identity.identify(Credentials { task_keys: &[&key], ..NONE }).await.is_err());
    let unknown = world.identity.identify(Credentials { bearer: Some(&ada), ..NONE }).await.unwrap_err();
    assert_eq!(unknown.last_known.unwrap().principal(), "user:ada", "she may be in a tenant by now, or in none");
}
