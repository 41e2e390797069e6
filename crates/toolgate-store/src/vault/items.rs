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

/// What was seen to be different from what is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VaultUpdate {
    pub gone: Vec<String>,
    /// At another place.
    pub moved: Vec<VaultItem>,
    /// At the same place, and different.
    pub touched: Vec<VaultItem>,
    /// Their digest and stamp come with [`VaultRepository::read_all`].
    pub new: Vec<VaultItem>,
}

/// Statements in one transaction: what a server answers well within its time.
const TOGETHER: usize = 500;

const LIST: &str = "SELECT id, parent, name, folder, inode, born, size, modified, digest, stamp
    FROM vault_items WHERE vault = $1 ORDER BY id";
const INSERT: &str = "INSERT INTO vault_items (vault, id, parent, name, folder, inode, born, size, modified)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (vault, parent, name) DO NOTHING RETURNING id";
const UPDATE: &str = "UPDATE vault_items
    SET parent = $3, name = $4, folder = $5, inode = $6, born = $7, size = $8, modified = $9
    WHERE vault = $1 AND id = $2 RETURNING id";
/// A place that nothing else has.
const LEAVE: &str = "UPDATE vault_items SET parent = '(moving)', name = id WHERE vault = $1 AND id = $2 RETURNING id";
const VACATE: &str = "UPDATE vault_items SET parent = '(moving)', name = id
    WHERE vault = $1 AND parent = $2 AND name = $3 RETURNING id";
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

    /// Leaves a place to whatever comes there next. The item that had the place is nowhere until its file is found.
    pub async fn vacate(&self, parent: &str, name: &str) -> Result<(), StoreError> {
        let vacated = Statement::new(VACATE, [self.vault(), Value::id(parent), Value::id(name)]);
        self.engine.write::<Touched>("vacate a place in a vault", Write::new(vacated)).await.map(drop)
    }

    /// Brings what is known up to what was seen. Those that moved leave their places first, so that they may trade
    /// them. A new item whose place another process stored first is not stored: look which id it got. One that moved to a
    /// place that is taken fails with `Duplicate`; what was done by then stays, and an item that is nowhere is found
    /// again by its file.
    pub async fn update(&self, seen: &VaultUpdate) -> Result<(), StoreError> {
        let mut statements = self.statements(seen).into_iter().peekable();
        // a part at a time: a server answers each well within its time, however much there is to do
        while statements.peek().is_some() {
            let statements = statements.by_ref().take(TOGETHER).collect();
            self.engine.write::<Touched>("update a vault's items", Write { statements, announce: None }).await?;
        }
        Ok(())
    }

    fn statements(&self, VaultUpdate { gone, moved, touched, new }: &VaultUpdate) -> Vec<Statement> {
        let of = |sql, id: &str| Statement::new(sql, [self.vault(), Value::id(id)]);
        let mut statements = Vec::new();
        statements.extend(gone.iter().map(|id| of(DELETE_PASSAGES, id)));
        statements.extend(gone.iter().map(|id| of(DELETE, id)));
        statements.extend(moved.iter().map(|item| of(LEAVE, &item.id)));
        statements.extend(moved.iter().chain(touched).map(|item| self.with(UPDATE, item)));
        statements.extend(new.iter().map(|item| self.with(INSERT, item)));
        statements
    }

    fn with(&self, sql: &'static str, item: &VaultItem) -> Statement {
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
        ];
        Statement::new(sql, values)
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
