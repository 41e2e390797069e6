//! Ids: random, so that one never names another thing later and none can be guessed.

use aws_lc_rs::rand;
use toolgate_core::hex;

/// The vault's own folder.
pub(super) const ROOT: &str = "root";

/// Of a document or folder that is seen for the first time.
pub(super) fn new(folder: bool) -> String {
    format!("{}_{}", if folder { "folder" } else { "doc" }, random())
}

/// 128 random bits as hexadecimal digits.
pub(super) fn random() -> String {
    let mut bytes = [0; 16];
    // it fails only where the system has no randomness, and then the zeros clash and are refused
    if rand::fill(&mut bytes).is_err() {
        tracing::error!(target: "toolgate::vault", "the system has no randomness");
    }
    hex(&bytes)
}
