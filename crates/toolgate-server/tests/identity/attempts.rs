//! Failed attempts: what they cost whom, and what the sender of a refused credential is told.

use std::{net::IpAddr, time::Duration};

use toolgate_server::identity::{AttemptLimit, Claims, Credentials, IdentityConfig, Rejection, Secret, TokenContent};

use crate::world::{World, user, world, world_of};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1));
const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 2));
const SECRET: &str = "coordinate-this-of-some-length-0123";

/// Three failures, and none is forgotten while a test runs.
fn strict() -> World {
    world_of(IdentityConfig {
        failed_attempts: AttemptLimit { burst: 3, refill: Duration::from_secs(3600) },
        coordinator_secret: Some(Secret::new(SECRET.as_bytes())),
        ..IdentityConfig::default()
    })
}

async fn told(world: &World, token: &str, address: IpAddr) -> Option<Rejection> {
    let credentials = Credentials { bearer: Some(token), address: Some(address), ..Credentials::default() };
    world.ask(credentials).await.rejected
}

#[tokio::test]
async fn every_kind_of_secret_is_throttled_by_address() {
    let key = format!("tgk_abcdefgh_{}", "x".repeat(43));
    for guess in ["guess", "sess_0123456789", "tgk_short", key.as_str(), "tk_0123456789012345678901"] {
        let world = strict();
        let (known, fresh) = (world.api_key(user("ada")), world.api_key(user("bob")));
        assert_eq!(told(&world, &known, HERE).await, None);
        for _ in 0..3 {
            assert_eq!(told(&world, guess, HERE).await, Some(Rejection::Invalid), "{guess}");
        }
        let reads = world.rows.reads.load(std::sync::atomic::Ordering::SeqCst);
        assert_eq!(told(&world, guess, HERE).await, Some(Rejection::Throttled), "{guess}");
        assert_eq!(told(&world, SECRET, HERE).await, Some(Rejection::Throttled), "{guess}");
        assert_eq!(world.rows.reads.load(std::sync::atomic::Ordering::SeqCst), reads, "nothing is looked at");
        assert_eq!(told(&world, &known, HERE).await, None, "a known caller is not locked out");
        assert_eq!(told(&world, &world.user("eve"), HERE).await, None, "a signature is not guessed");
        assert_eq!(told(&world, &fresh, THERE).await, None, "failures cost their own address alone");
        assert_eq!(told(&world, SECRET, THERE).await, None);
        assert_eq!(told(&world, SECRET, HERE).await, None, "known by now");
    }
}

#[tokio::test]
async fn a_session_that_is_over_is_no_guess_and_a_fresh_one_is_not_locked_out() {
    let world = strict();
    let over = format!("sess_{}", "0a".repeat(16));
    for _ in 0..10 {
        assert_eq!(told(&world, &over, HERE).await, Some(Rejection::Invalid));
    }
    assert_eq!(told(&world, "guess", HERE).await, Some(Rejection::Invalid), "nothing was counted");
    for _ in 0..3 {
        told(&world, "guess", HERE).await;
    }
    assert_eq!(told(&world, "guess", HERE).await, Some(Rejection::Throttled));
    assert_eq!(told(&world, &over, HERE).await, Some(Rejection::Invalid), "a session is looked up");
}

#[tokio::test]
async fn the_coordinators_argument_and_the_task_header_count_too() {
    let world = strict();
    let guess = async |credentials: Credentials<'_>| {
        world.ask(Credentials { address: Some(HERE), ..credentials }).await.rejected
    };
    for _ in 0..3 {
        let wrong = Credentials { coordinator_token: Some("a.b.c".into()), ..Credentials::default() };
        assert_eq!(guess(wrong).await, Some(Rejection::Invalid));
    }
    let right = Credentials { coordinator_token: Some(SECRET.into()), ..Credentials::default() };
    assert_eq!(guess(right).await, Some(Rejection::Throttled));

    let world = strict();
    let header = async |key: &str| {
        world.ask(Credentials { address: Some(HERE), task_keys: &[key], ..Credentials::default() }).await
    };
    let key = world.task("t1", None);
    for _ in 0..10 {
        header("some-id-of-the-client").await;
    }
    assert!(header(&key).await.caller.task.is_some(), "what is no key is no attempt");
    for _ in 0..3 {
        header("tk_0123456789012345678901").await;
    }
    assert_eq!(told(&world, "guess", HERE).await, Some(Rejection::Throttled));
    assert!(header(&key).await.caller.task.is_some(), "a known key");
}

#[tokio::test]
async fn the_holder_of_a_refused_credential_is_told_why_and_nobody_else() {
    let world = world();
    let key = world.api_key(user("ada"));
    world.rows.keys.lock().unwrap().values_mut().for_each(|row| row.expires_at = Some(5_001));
    assert_eq!(told(&world, &key, HERE).await, Some(Rejection::Expired { at: 5 }));
    world.rows.keys.lock().unwrap().values_mut().for_each(|row| row.revoked_at = Some(1));
    assert_eq!(told(&world, &key, HERE).await, Some(Rejection::Revoked));
    let forged = format!("{}{}", &key[..key.len() - 1], if key.ends_with('x') { 'y' } else { 'x' });
    assert_eq!(told(&world, &forged, HERE).await, Some(Rejection::Invalid), "not even that there is such a key");
    let token = world.identity.mint(&user("ada"), Duration::from_secs(1)).unwrap();
    let expires = TokenContent::read(token.expose()).unwrap().expires_at.unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(told(&world, token.expose(), HERE).await, Some(Rejection::Expired { at: expires }));
    let mut parts: Vec<&str> = token.expose().split('.').collect();
    let other = world.mint(Claims { operator: true, ..user("ada") });
    parts[2] = other.split('.').nth(2).unwrap();
    let forged = parts.join(".");
    assert_eq!(told(&world, &forged, HERE).await, Some(Rejection::OtherKey), "not that its time is over");
}

#[tokio::test]
async fn a_task_key_counts_in_the_place_of_a_token() {
    let world = world();
    let key = world.task("t1", Some("ada"));
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, b"tk_key-of-t1");
    let row = world.rows.tasks.lock().unwrap().values().next().unwrap().clone();
    world.rows.tasks.lock().unwrap().insert(hash.as_ref().try_into().unwrap(), row);
    for credentials in [
        Credentials { bearer: Some("tk_key-of-t1"), ..Credentials::default() },
        Credentials { meta_token: Some("tk_key-of-t1".into()), ..Credentials::default() },
        Credentials { params_token: Some("tk_key-of-t1".into()), ..Credentials::default() },
        Credentials { task_keys: &[key.as_str()], ..Credentials::default() },
    ] {
        let identified = world.ask(credentials).await;
        assert_eq!(identified.caller.task.as_ref().unwrap().id, "t1");
        assert!(identified.caller.user.is_none());
    }
    world.change_task("t1", |row| row.live = false);
    assert!(world.bearer("tk_key-of-t1").await.caller.task.is_none());
    assert_eq!(told(&world, "tk_another", HERE).await, Some(Rejection::Invalid));
}
