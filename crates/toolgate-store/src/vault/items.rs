//! Documents and folders: where each was when it was last seen.

use super::VaultRepository;
use crate::{
    StoreError,
    engine::{Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultItem {
    pub id: String,
    /// The id of the folder it lies in.
    pub parent: String,
    pub name: String,
    pub folder: bool,
    pub inode: i64,
    /// When it was made, in nanoseconds; zero where the file system can't tell.
    pub born: i64,
    pub size: i64,
    /// In nanoseconds.
    pub modified: i64,
    /// Of the content that was last read, as hexadecimal digits.
    pub digest: Option<String>,
    /// What the content looked like from outside when its text was last read.
    pub stamp: Option<String>,
}

/// Statements in one transaction: what a server answers well within its time.
const TOGETHER: usize = 500;

const LIST: &str = "SELECT id, parent, name, folder, inode, born, size, modified, digest, stamp
    FROM vault_items WHERE vault = $1 ORDER BY id";
const INSERT: &str = "INSERT INTO vault_items
    (vault, id, parent, name, folder, inode, born, size, modified, digest, stamp)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id";
const DELETE: &str = "DELETE FROM vault_items WHERE vault = $1 AND id = $2 RETURNING id";
pub(super) const DELETE_PASSAGES: &str = "DELETE FROM vault_passages WHERE vault = $1 AND item = $2 RETURNING item";
const PLACE: &str = "UPDATE vault_items SET parent = $3, name = $4 WHERE vault = $1 AND id = $2 RETURNING id";

impl VaultRepository {
    pub async fn items(&self) -> Result<Vec<VaultItem>, StoreError> {
        self.engine.read("list a vault's items", Statement::new(LIST, [self.vault()])).await
    }

    /// Where an item lies from now on. `false` if there is no such item.
    pub async fn place(&self, id: &str, parent: &str, name: &str) -> Result<bool, StoreError> {
        let values = [self.vault(), Value::id(id), Value::id(parent), Value::id(name)];
        let placed = self.engine.write::<Touched>("place a vault's item", Write::new(Statement::new(PLACE, values)));
        Ok(!placed.await?.is_empty())
    }

    /// Brings what is known up to what was seen. Changed items are all replaced in one step, so that two may trade
    /// places; another process that stored the same place first makes this fail with `Duplicate`.
    pub async fn update(&self, gone: &[String], changed: &[VaultItem], new: &[VaultItem]) -> Result<(), StoreError> {
        const OPERATION: &str = "update a vault's items";
        let mut statements = Vec::new();
        for id in gone {
            statements.push(Statement::new(DELETE_PASSAGES, [self.vault(), Value::id(id)]));
            statements.push(Statement::new(DELETE, [self.vault(), Value::id(id)]));
        }
        for item in changed {
            statements.push(Statement::new(DELETE, [self.vault(), Value::id(&item.id)]));
        }
        statements.extend(changed.iter().map(|item| self.insert(item)));
        if !statements.is_empty() {
            self.engine.write::<Touched>(OPERATION, Write { statements, announce: None }).await?;
        }
        for some in new.chunks(TOGETHER) {
            let statements = some.iter().map(|item| self.insert(item)).collect();
            self.engine.write::<Touched>(OPERATION, Write { statements, announce: None }).await?;
        }
        Ok(())
    }

    fn insert(&self, item: &VaultItem) -> Statement {
        let values = [
            self.vault(),
            Value::id(&item.id),
            Value::id(&item.parent),
            Value::id(&item.name),
            Value::Bool(item.folder),
            Value::int(item.inode),
            Value::int(item.born),
            Value::int(item.size),
            Value::int(item.modified),
            Value::maybe_text(item.digest.as_deref()),
            Value::maybe_text(item.stamp.as_deref()),
        ];
        Statement::new(INSERT, values)
    }
}

impl FromRow for VaultItem {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(VaultItem {
            id: row.text()?,
            parent: row.text()?,
            name: row.text()?,
            folder: row.bool()?,
            inode: row.int()?,
            born: row.int()?,
            size: row.int()?,
            modified: row.int()?,
            digest: row.maybe_text()?,
            stamp: row.maybe_text()?,
        })
    }
}
