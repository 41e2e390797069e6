//! The seals that the store keeps.

use std::sync::Arc;

use super::{ArchiveSeal, SealedPart};
use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    ledger::{CheckpointKey, Hash, Wrong},
    secrets::Secrets,
    statement::{FromRow, Row, Statement, Value},
};

const NEWEST: &str = "SELECT seal FROM ledger_seals ORDER BY until DESC LIMIT 1";
const HASHES: &str = "SELECT hash FROM ledger_seals ORDER BY until";
const INSERT: &str = "INSERT INTO ledger_seals (until, hash, previous, seal) VALUES ($1, $2, $3, $4) RETURNING seal";

/// The table of seals.
#[derive(Clone)]
pub(in crate::ledger) struct SealTable {
    engine: Arc<Engine>,
}

impl SealTable {
    pub(in crate::ledger) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// The archived part of the ledger, or why its newest seal is not to be trusted. `None` where nothing was archived.
    pub(in crate::ledger) async fn sealed_part(
        &self,
        trusted_key: Option<&str>,
    ) -> Result<Option<Result<SealedPart, Wrong>>, StoreError> {
        let operation = "read the seals of the ledger";
        let found: Option<Text> = self.engine.find(operation, Statement::new(NEWEST, [])).await?;
        let Some(Text(line)) = found else { return Ok(None) };
        let public = match trusted_key {
            Some(public) => public.to_owned(),
            None => self.store_key().await?,
        };
        let hashes: Vec<SealHash> = self.engine.read(operation, Statement::new(HASHES, [])).await?;
        let seal = ArchiveSeal::from_line(&line).and_then(|seal| seal.verify_signature(&public).map(|()| seal));
        Ok(Some(match seal {
            Ok(seal) => Ok(SealedPart::new(&seal, hashes.into_iter().map(|SealHash(hash)| hash).collect())),
            Err(error) => Err(Wrong::SealInvalid { reason: error.to_string() }),
        }))
    }

    async fn store_key(&self) -> Result<String, StoreError> {
        let seed = Secrets::new(self.engine.clone()).get("ledger-key").await?.unwrap_or_default();
        Ok(CheckpointKey::from_seed(&seed).map(|key| key.public()).unwrap_or_default())
    }

    /// Fails with `Duplicate` where another archive was made in the meantime.
    pub(in crate::ledger) async fn insert(&self, seal: &ArchiveSeal) -> Result<(), StoreError> {
        let content = seal.content();
        let bytes = |hash: Hash| Value::Bytes(hash.as_bytes().to_vec());
        let values =
            [Value::int(content.until), bytes(seal.hash()), bytes(content.previous), Value::text(&seal.to_line())];
        let write = Write::new(Statement::new(INSERT, values));
        self.engine.write::<Text>("keep the seal of an archive", write).await.map(drop)
    }
}

struct Text(String);

impl FromRow for Text {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Self)
    }
}

struct SealHash(Hash);

impl FromRow for SealHash {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        // A hash that is none equals no seal's.
        Ok(Self(Hash::from_slice(&row.bytes()?).unwrap_or(Hash::NOTHING)))
    }
}
