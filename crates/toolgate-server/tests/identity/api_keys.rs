//! API keys: looked up on every request, so that revoking one is felt on the next.

use toolgate_server::identity::{ApiKey, Claims, Credentials};

use crate::world::{World, agent, assert_rejected, user, world};

fn change(world: &World, change: impl Fn(&mut toolgate_server::identity::KeyRow)) {
    world.rows.keys.lock().unwrap().values_mut().for_each(change);
}

#[tokio::test]
async fn a_key_carries_the_facts_it_was_made_with() {
    let world = world();
    let key = world.api_key(Claims { tenant: Some("acme".into()), scopes: ["read".into()].into(), ..user("ada") });
    let caller = world.bearer(&key).await.caller;
    assert_eq!(caller.principal(), "user:ada");
    assert_eq!(caller.tenant.as_ref().unwrap().id, "acme");
    assert!(caller.scopes.contains("read"));
}

#[tokio::test]
async fn revoking_a_key_is_felt_on_the_next_request() {
    let world = world();
    let key = world.api_key(user("ada"));
    assert!(world.holds(&key).await);
    change(&world, |row| row.revoked_at = Some(1));
    assert!(!world.holds(&key).await);
}

#[tokio::test]
async fn an_expired_key_does_not_hold() {
    let world = world();
    let key = world.api_key(user("ada"));
    let now = i64::try_from(crate::issuer::now()).unwrap() * 1000;
    change(&world, |row| row.expires_at = Some(now + 60_000));
    assert!(world.holds(&key).await);
    change(&world, |row| row.expires_at = Some(now - 1));
    assert!(!world.holds(&key).await);
}

#[tokio::test]
async fn the_right_prefix_with_another_secret_does_not_hold() {
    let world = world();
    let key = world.api_key(user("ada"));
    let (_, other) = ApiKey::generate(&user("eve"), None).unwrap();
    assert_rejected(&world.bearer(&format!("{}{}", &key[..13], &other.expose()[13..])).await);
    assert_rejected(&world.bearer(other.expose()).await);
    assert_rejected(&world.bearer(&key[..key.len() - 1]).await);
    assert_rejected(&world.bearer(&format!("{key}A")).await);
}

#[tokio::test]
async fn a_key_with_garbled_facts_does_not_hold() {
    let world = world();
    let key = world.api_key(user("ada"));
    change(&world, |row| row.facts_json = r#"{"sub":"ada","runtime":"moon"}"#.into());
    assert!(!world.holds(&key).await);
    change(&world, |row| row.facts_json = "{".into());
    assert!(!world.holds(&key).await);
}

#[tokio::test]
async fn a_key_is_a_users_credential_and_combines_as_one() {
    let world = world();
    let (key, bot) = (world.api_key(user("ada")), world.mint(agent("bot", Some("ada"))));
    let shown = Credentials { bearer: Some(&key), session_token: Some(bot.into()), ..Credentials::default() };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada agent:bot");
    let second = world.user("bob");
    let shown = Credentials { bearer: Some(&key), meta_token: Some(second.into()), ..Credentials::default() };
    assert_eq!(world.ask(shown).await.caller.principal(), "user:ada");
}

#[test]
fn facts_that_would_not_hold_make_no_key() {
    assert!(ApiKey::generate(&Claims { kind: Some("worker".into()), ..user("ada") }, None).is_err());
}
