//! A task's key: what the runner sends as the task header. Shown once, stored as a hash.

use aws_lc_rs::digest;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{error::IdentityError, secret::Secret};

/// How a task key begins.
pub(super) const TASK_MARK: &str = "tk_";

pub struct TaskKey(String);

impl TaskKey {
    /// A public id, and the key that goes with it: 128 random bits that the id tells nothing of.
    pub fn generate() -> Result<(String, Self), IdentityError> {
        let (id, key) = (Secret::random()?, Secret::random()?);
        let text =
            |secret: &Secret, bytes: usize| URL_SAFE_NO_PAD.encode(secret.expose().get(..bytes).unwrap_or_default());
        Ok((format!("task_{}", text(&id, 9)), Self(format!("{TASK_MARK}{}", text(&key, 16)))))
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What the store keeps of it.
    pub fn hash(&self) -> [u8; 32] {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest::digest(&digest::SHA256, self.0.as_bytes()).as_ref());
        hash
    }
}
