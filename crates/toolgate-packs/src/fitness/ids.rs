//! Ids: of what is kept, random; of an activity, made of the file it came in.

use aws_lc_rs::{
    digest::{Context, SHA256},
    rand,
};
use toolgate_core::hex;

/// With 128 random bits.
pub(super) fn new(kind: &str) -> String {
    let mut bytes = [0; 16];
    // it fails only where the system has no randomness, and then the zeros clash and are refused
    if rand::fill(&mut bytes).is_err() {
        tracing::error!(target: "toolgate::fitness", "the system has no randomness");
    }
    format!("{kind}_{}", hex(&bytes))
}

/// Of a track in a file, counted from 0: the same file has the same ids.
pub(super) fn of_file(content: &[u8], track: usize) -> String {
    let mut digest = Context::new(&SHA256);
    digest.update(&(track as u64).to_le_bytes());
    digest.update(content);
    format!("act_{}", hex(digest.finish().as_ref().get(..16).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activity_is_known_by_its_file() {
        assert_eq!(of_file(b"a", 0), of_file(b"a", 0));
        assert_ne!(of_file(b"a", 0), of_file(b"a", 1));
        assert_ne!(of_file(b"a", 0), of_file(b"b", 0));
        assert_ne!(new("goal"), new("goal"));
        assert_eq!(of_file(b"", 0).len(), 36);
    }
}
