//! `db.query`: one question to a configured database. That it only reads is enforced by the database, in the store.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::{QueryLimits, ReadOnlyDatabase, RowCut};

use super::{
    VaultConfig,
    failure::{Failure, short},
    reading::Answer,
};

pub(super) struct Databases {
    by_name: BTreeMap<String, ReadOnlyDatabase>,
    limits: QueryLimits,
}

#[derive(Deserialize)]
pub(super) struct Query {
    sql: String,
    #[serde(default)]
    params: Vec<Value>,
    limit: Option<usize>,
    database: Option<String>,
}

/// Rows where a question does not say how many.
const ROWS: usize = 100;

impl Databases {
    pub(super) fn new(config: &VaultConfig) -> Self {
        let open = |(name, database): (&String, &super::DatabaseConfig)| {
            (name.clone(), ReadOnlyDatabase::new(database.location.clone()))
        };
        let limits = QueryLimits { rows: config.max_rows, bytes: config.max_row_bytes, time: config.query_time };
        Self { by_name: config.databases.iter().map(open).collect(), limits }
    }

    pub(super) async fn query(&self, Query { sql, params, limit, database }: Query) -> Result<Answer, Failure> {
        let database = self.named(database.as_deref())?;
        let rows = limit.unwrap_or(ROWS).clamp(1, self.limits.rows.max(1));
        let answer = database.query(&sql, &params, QueryLimits { rows, ..self.limits }).await;
        let answer = answer.map_err(|fault| Failure::query(&fault))?;
        let Some(cut) = answer.cut else { return Answer::of(&json!({ "rows": answer.rows })) };
        let note = note(cut, answer.rows.len(), self.limits);
        let content = Answer::of(&json!({ "rows": answer.rows, "truncated": true, "note": note }))?;
        Ok(content.with("toolgate/rows", json!({"truncated": true})))
    }

    /// The database that is named, or the only one there is.
    fn named(&self, name: Option<&str>) -> Result<&ReadOnlyDatabase, Failure> {
        let names = || self.by_name.keys().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        match name {
            Some(name) => self.by_name.get(name).ok_or_else(|| {
                Failure::not_found(format!("There is no database '{}'. There are: {}.", short(name), names()))
            }),
            None => match (self.by_name.values().next(), self.by_name.len()) {
                (Some(only), 1) => Ok(only),
                (None, _) => Err(Failure::not_found("No database is configured.")),
                _ => Err(Failure::invalid(format!("Argument 'database' says which: {}.", names()))),
            },
        }
    }
}

/// Says in the answer itself what is missing from it.
fn note(cut: RowCut, shown: usize, limits: QueryLimits) -> String {
    match cut {
        RowCut::Rows => format!(
            "There are more rows than these {shown}. Set 'limit' (at most {}), narrow the question, or count.",
            limits.rows
        ),
        RowCut::Bytes => format!(
            "There are more rows than these {shown}, which is as many as fit in {} bytes. Ask for fewer columns or rows.",
            limits.bytes
        ),
    }
}
