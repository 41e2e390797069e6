//! Commits that tasks made: the first one of a process is where looking at its changes begins.

use super::{ProcessFault, Processes, fault::short};
use crate::{
    StoreError,
    engine::{Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

const ADD: &str = "INSERT INTO commit_refs (task_id, process, hash, created_at)
    SELECT task_id, process, $2, $3 FROM tasks WHERE task_id = $1
    ON CONFLICT (task_id, hash) DO UPDATE SET hash = excluded.hash RETURNING number";
const FIRST: &str = "SELECT hash FROM commit_refs WHERE process = $1 ORDER BY number LIMIT 1";

impl Processes {
    /// Notes a commit; noting it again changes nothing.
    pub async fn add_commit(&self, task_id: &str, hash: &str, at: i64) -> Result<(), ProcessFault> {
        const OPERATION: &str = "note a commit";
        if !(7..=64).contains(&hash.len()) || !hash.chars().all(|c| c.is_ascii_hexdigit()) {
            let shown = short(hash);
            let reason = format!("'{shown}' is no commit hash; give 7 to 64 hexadecimal digits");
            return Err(Fault::Invalid(reason).during(OPERATION).into());
        }
        let statement = Statement::new(ADD, [Value::id(task_id), Value::id(hash), Value::int(at)]);
        let added = self.engine.write::<Touched>(OPERATION, Write::new(statement)).await?;
        if added.is_empty() { Err(ProcessFault::UnknownTask { id: short(task_id) }) } else { Ok(()) }
    }

    /// The earliest commit noted for any task of a process.
    pub async fn first_commit(&self, process: &str) -> Result<Option<String>, StoreError> {
        let found = self.engine.find("look up a process's first commit", Statement::new(FIRST, [Value::id(process)]));
        Ok(found.await?.map(|Hash(hash)| hash))
    }
}

struct Hash(String);

impl FromRow for Hash {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Hash)
    }
}
