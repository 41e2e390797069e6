//! What is remembered of a vault, a folder of documents: ids that outlive a move, and passages to search.

mod items;
mod passages;

use std::sync::Arc;

pub use items::{VaultItem, VaultUpdate};
pub use passages::{Hit, Passage, ReadDocument};

use crate::{StoreError, engine::Engine, statement::Value, statement::check_id};

/// Made for exactly one vault; nothing outside it exists for it.
///
/// INVARIANT: every statement says `vault = $1` with the vault it was made for.
pub struct VaultRepository {
    engine: Arc<Engine>,
    vault: String,
}

impl VaultRepository {
    pub(crate) fn new(engine: Arc<Engine>, vault: &str) -> Result<Self, StoreError> {
        check_id(vault).map_err(|fault| fault.during("open a vault"))?;
        Ok(Self { engine, vault: vault.to_owned() })
    }

    fn vault(&self) -> Value {
        Value::id(&self.vault)
    }
}
