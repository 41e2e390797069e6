//! The pause before something is tried again that lost against somebody else.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

const FIRST: Duration = Duration::from_millis(2);
/// Doubled at most this often.
const DOUBLINGS: u32 = 5;

/// Waits a random time, so that those who met once do not meet again; the longer, the more attempts were made.
pub(crate) async fn pause(attempt: u32) {
    let longest = FIRST.saturating_mul(1 << attempt.min(DOUBLINGS));
    let random = u32::try_from(RandomState::new().hash_one(attempt) % 1000).unwrap_or_default();
    tokio::time::sleep(longest.saturating_mul(random) / 1000).await;
}
