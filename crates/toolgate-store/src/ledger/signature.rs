//! Signatures over one line of JSON: what checkpoints and seals of archives share.

use std::fmt;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

use super::{BadCheckpoint, chain::hex};

/// The key that signs checkpoints and seals: an Ed25519 seed. Not shown by `Debug`.
pub struct CheckpointKey(Ed25519KeyPair);

impl CheckpointKey {
    /// From a seed of 32 random bytes.
    pub fn from_seed(seed: &[u8]) -> Result<Self, BadCheckpoint> {
        Ed25519KeyPair::from_seed_unchecked(seed).map(Self).map_err(|_| BadCheckpoint::Seed)
    }

    /// The public key that verifies a checkpoint or a seal: 64 hexadecimal digits. Keep it beside them.
    pub fn public(&self) -> String {
        digits(self.0.public_key().as_ref())
    }

    /// The signature of a text, in hexadecimal digits.
    pub(super) fn sign(&self, text: &str) -> String {
        digits(self.0.sign(text.as_bytes()).as_ref())
    }
}

impl fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CheckpointKey({})", self.public())
    }
}

/// Returns true where the signature is of this text, made with the key whose public part this is.
pub(super) fn is_signed(text: &str, signature: &str, public: &str) -> bool {
    let (Some(key), Some(signature)) = (unhex(public), unhex(signature)) else { return false };
    UnparsedPublicKey::new(&ED25519, key).verify(text.as_bytes(), &signature).is_ok()
}

fn digits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    hex(&mut text, bytes);
    text
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
