//! An issuer's keys over time: they rotate, the issuer is down, strangers name keys that are not there.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use toolgate_server::identity::{IdentityConfig, IssuerConfig, Jwks};

use crate::{
    issuer::{AUDIENCE, Issuer, Signer},
    world::{World, world_of},
};

fn gate(config: IssuerConfig) -> World {
    world_of(IdentityConfig { issuers: vec![config], ..IdentityConfig::default() })
}

fn every(interval_ms: u64, issuer: &Issuer) -> IssuerConfig {
    IssuerConfig { refetch_interval: Duration::from_millis(interval_ms), ..issuer.config("corp") }
}

async fn until(mut done: impl AsyncFnMut() -> bool) {
    for _ in 0..100 {
        if done().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    panic!("it did not happen in time");
}

#[tokio::test]
async fn a_rotated_key_is_found_without_a_restart_and_the_old_one_ends() {
    let issuer = Issuer::start(Signer::es256("one")).await;
    let world = gate(every(100, &issuer));
    let old = issuer.sign(&issuer.claims("ada"));
    assert!(world.holds(&old).await);
    let next = Signer::eddsa("two");
    let early = next.token(&issuer.claims("ada"));
    assert!(!world.holds(&early).await, "signed by a key that is not published yet");
    issuer.rotate(next);
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert!(world.holds(&early).await);
    assert!(!world.holds(&old).await, "a remembered token does not outlive its key");
}

#[tokio::test]
async fn a_flood_of_unknown_keys_asks_the_issuer_once_per_interval() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    let world = Arc::new(gate(every(60_000, &issuer)));
    assert!(world.holds(&issuer.sign(&issuer.claims("ada"))).await);
    let before = issuer.key_requests();
    let flood: Vec<_> = (0..200)
        .map(|n| {
            let header = json!({"alg": "EdDSA", "kid": format!("unknown-{n}")});
            let (world, token) = (Arc::clone(&world), issuer.signer().token_with(&header, &issuer.claims("eve")));
            tokio::spawn(async move { world.holds(&token).await })
        })
        .collect();
    for one in flood {
        assert!(!one.await.unwrap());
    }
    assert!(before <= 1 && issuer.key_requests() <= 1, "asked {} times", issuer.key_requests());
}

#[tokio::test]
async fn a_request_that_goes_away_does_not_keep_new_keys_out() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    let world = gate(every(200, &issuer));
    assert!(world.holds(&issuer.sign(&issuer.claims("ada"))).await);
    issuer.rotate(Signer::eddsa("two"));
    let token = issuer.sign(&issuer.claims("ada"));
    tokio::time::sleep(Duration::from_millis(220)).await;
    let dropped = tokio::time::timeout(Duration::from_micros(1), world.bearer(&token)).await;
    drop(dropped);
    until(async || world.holds(&token).await).await;
}

#[tokio::test]
async fn keys_stay_while_the_issuer_is_down() {
    let issuer = Issuer::start(Signer::es256("one")).await;
    let mut config = every(50, &issuer);
    config.refresh = Duration::from_millis(50);
    let world = gate(config);
    assert!(world.holds(&issuer.sign(&issuer.claims("ada"))).await);
    issuer.set_down(true);
    let asked = issuer.key_requests();
    until(async || issuer.key_requests() > asked + 1).await;
    assert!(world.holds(&issuer.sign(&issuer.claims("bob"))).await);
}

#[tokio::test]
async fn an_issuer_that_withdraws_all_its_keys_is_believed() {
    let issuer = Issuer::start(Signer::es256("one")).await;
    let mut config = every(50, &issuer);
    config.refresh = Duration::from_millis(50);
    let world = gate(config);
    let old = issuer.sign(&issuer.claims("ada"));
    assert!(world.holds(&old).await);
    issuer.publish(vec![]);
    let asked = issuer.key_requests();
    until(async || issuer.key_requests() > asked + 1).await;
    assert!(!world.holds(&old).await, "a remembered token does not outlive the issuer's keys");
    assert!(!world.holds(&issuer.sign(&issuer.claims("eve"))).await);
    issuer.publish(vec![issuer.signer().jwk()]);
    until(async || world.holds(&old).await).await;
}

#[tokio::test]
async fn keys_that_can_not_be_fetched_are_trusted_up_to_their_greatest_age() {
    let issuer = Issuer::start(Signer::es256("one")).await;
    let mut config = every(30, &issuer);
    config.refresh = Duration::from_millis(30);
    config.max_key_age = Duration::from_millis(300);
    let world = gate(config);
    let token = issuer.sign(&issuer.claims("ada"));
    assert!(world.holds(&token).await);
    let asked = issuer.key_requests();
    until(async || issuer.key_requests() > asked + 20).await;
    assert!(world.holds(&token).await, "keys that are fetched in time do not age");
    issuer.set_down(true);
    until(async || !world.holds(&token).await).await;
    assert!(!world.holds(&issuer.sign(&issuer.claims("bob"))).await);
    issuer.set_down(false);
    until(async || world.holds(&token).await).await;
}

#[tokio::test]
async fn a_key_file_is_read_again_soon() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (one, two) = (Signer::es256("one"), Signer::es256("two"));
    let write = |keys: Vec<serde_json::Value>| std::fs::write(file.path(), json!({"keys": keys}).to_string()).unwrap();
    write(vec![one.jwk()]);
    let jwks = Jwks::File(file.path().to_owned());
    let config = IssuerConfig {
        refetch_interval: Duration::from_millis(40),
        ..IssuerConfig::new("corp", "https://corp.example", AUDIENCE, jwks)
    };
    let world = gate(config);
    let claims =
        json!({"iss": "https://corp.example", "aud": AUDIENCE, "sub": "ada", "exp": crate::issuer::now() + 60});
    let (old, new) = (one.token(&claims), two.token(&claims));
    assert!(world.holds(&old).await && !world.holds(&new).await);
    write(vec![two.jwk()]);
    until(async || world.holds(&new).await).await;
    assert!(!world.holds(&old).await);
    write(vec![]);
    until(async || !world.holds(&new).await).await;
}

#[tokio::test]
async fn an_issuer_that_is_down_at_the_start_has_its_tokens_refused_until_it_is_up() {
    let issuer = Issuer::start(Signer::es256("one")).await;
    issuer.set_down(true);
    let world = gate(every(50, &issuer));
    let token = issuer.sign(&issuer.claims("ada"));
    assert!(!world.holds(&token).await);
    assert!(world.holds(&world.user("ada")).await);
    issuer.set_down(false);
    until(async || world.holds(&token).await).await;
}

#[tokio::test]
async fn nobody_at_the_address_is_no_crash() {
    let jwks = Jwks::Url("http://127.0.0.1:9/jwks".into());
    let world = gate(IssuerConfig::new("corp", "https://corp.example", AUDIENCE, jwks));
    let claims =
        json!({"iss": "https://corp.example", "aud": AUDIENCE, "sub": "ada", "exp": crate::issuer::now() + 60});
    assert!(!world.holds(&Signer::es256("k").token(&claims)).await);
}

#[tokio::test]
async fn keys_are_refreshed_in_the_background_before_they_run_out() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    *issuer.desk.max_age.lock().unwrap() = Some(0);
    let _world = gate(every(40, &issuer));
    until(async || issuer.key_requests() >= 4).await;
}

#[tokio::test]
async fn the_background_ends_with_the_identity() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    *issuer.desk.max_age.lock().unwrap() = Some(0);
    let world = gate(every(20, &issuer));
    until(async || issuer.key_requests() >= 2).await;
    drop(world);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = issuer.key_requests();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(issuer.key_requests(), asked);
}

#[tokio::test]
async fn a_redirect_within_the_issuer_is_followed_and_one_away_is_not() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    let at = |path: &str| IssuerConfig { jwks: Jwks::Url(format!("{}{path}", issuer.desk.url)), ..every(50, &issuer) };
    let token = issuer.sign(&issuer.claims("ada"));
    assert!(gate(at("/moved")).holds(&token).await);
    let evil = Issuer::start(Signer::eddsa("one")).await;
    let forged = evil.signer().token(&issuer.claims("ada"));
    issuer.redirect_away(&format!("{}/jwks", evil.desk.url));
    let world = gate(at("/away"));
    assert!(!world.holds(&forged).await);
    assert_eq!(evil.key_requests(), 0);
}

#[tokio::test]
async fn a_key_set_without_end_is_cut_off() {
    let issuer = Issuer::start(Signer::eddsa("one")).await;
    let huge = json!({"kty": "oct", "k": "A".repeat(300 * 1024)});
    issuer.publish(vec![issuer.signer().jwk(), huge]);
    let world = gate(every(50, &issuer));
    assert!(!world.holds(&issuer.sign(&issuer.claims("ada"))).await);
}
