//! What an operator says of a vault.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use toolgate_store::{Location, StoreError};

use crate::definitions::BadPack;

/// Where the vault is, and how much it may take. [`VaultConfig::new`] has a value for all but the folder.
#[derive(Debug, Clone)]
pub struct VaultConfig {
    /// The folder. Nothing outside it is ever read or written.
    pub root: PathBuf,
    /// The name that ids are kept under. Folders that share a database need different ones.
    pub name: String,
    /// What `db.query` may ask, by name.
    pub databases: BTreeMap<String, DatabaseConfig>,
    /// A vault with more documents and folders is not served.
    pub max_items: usize,
    /// Larger documents are listed, and their text is not read.
    pub max_file_bytes: u64,
    /// Of one document's text; what is beyond it is cut off.
    pub max_text_bytes: usize,
    /// For reading one document's text.
    pub text_time: Duration,
    /// How long a call relies on what an earlier one saw.
    pub rescan: Duration,
    /// How long a search waits for documents that changed to be indexed; the rest is left to the next.
    pub indexing_time: Duration,
    /// The most rows a question may ask for.
    pub max_rows: usize,
    /// Of all rows of an answer.
    pub max_row_bytes: usize,
    pub query_time: Duration,
}

impl VaultConfig {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            name: "vault".to_owned(),
            databases: BTreeMap::new(),
            max_items: 200_000,
            max_file_bytes: 32 << 20,
            max_text_bytes: 1 << 20,
            text_time: Duration::from_secs(10),
            rescan: Duration::from_secs(1),
            indexing_time: Duration::from_secs(10),
            max_rows: 1_000,
            max_row_bytes: 1 << 20,
            query_time: Duration::from_secs(5),
        }
    }
}

/// A database that may be asked and is never changed.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// `sqlite:PATH` or `postgres://…`, parsed; its text form hides the password.
    pub location: Location,
}

/// Why a vault can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum VaultProblem {
    #[error("the vault's folder '{path}' can't be opened: {reason}; create it or correct root in [packs.vault]")]
    Folder { path: String, reason: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Pack(#[from] BadPack),
}
