//! What identifying costs. A measurement, run by hand: `cargo test -p toolgate-server --test identity cost -- --ignored --nocapture`.

use std::time::Instant;

use toolgate_server::identity::{Claims, Credentials, Identify};

use crate::world::{user, world};

const ROUNDS: u32 = 200_000;

#[tokio::test]
#[ignore = "a measurement"]
async fn cost_of_a_remembered_token() {
    let world = world();
    let token = world.mint(Claims { scopes: ["read".into(), "write".into()].into(), ..user("ada") });
    let shown = || Credentials { bearer: Some(&token), ..Credentials::default() };
    world.bearer(&token).await;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        std::hint::black_box(world.identity.identify_at_once(&shown()).unwrap());
    }
    let at_once = start.elapsed() / ROUNDS;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        std::hint::black_box(world.identity.identify(shown()).await.unwrap());
    }
    let awaited = start.elapsed() / ROUNDS;
    let start = Instant::now();
    for n in 0..2000 {
        std::hint::black_box(world.bearer(&format!("{token}{n}")).await);
    }
    let refused = start.elapsed() / 2000;
    eprintln!("token of {} bytes: at once {at_once:?}, awaited {awaited:?}, a forged one {refused:?}", token.len());
}
