//! Passages: pieces of documents' text, ranked by the engine's own full-text search.

use super::{VaultRepository, items::DELETE_PASSAGES};
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fulltext::{self, Holding},
    statement::{FromRow, Row, Statement, Value},
};

/// A piece of a document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    pub text: String,
    /// In the order of the text, repeated as often as they are there.
    pub terms: Vec<String>,
}

/// A document whose text was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDocument {
    pub item: String,
    /// What the content looked like from outside when it was read.
    pub stamp: String,
    pub digest: Option<String>,
    pub passages: Vec<Passage>,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub item: String,
    /// Its place among the passages of the document, from zero.
    pub place: i64,
    pub text: String,
    /// Larger is better; comparable within one answer only.
    pub score: i64,
}

// all passages in one statement: an array of [text, terms]
const INSERT_SQLITE: &str = "INSERT INTO vault_passages (vault, item, place, text, terms)
    SELECT $1, $2, each.key, each.value ->> 0, each.value ->> 1 FROM json_each($3) each WHERE TRUE
    RETURNING item";
const INSERT_POSTGRES: &str = "INSERT INTO vault_passages (vault, item, place, text, terms)
    SELECT $1, $2, each.number - 1, each.passage ->> 0, CAST(each.passage ->> 1 AS tsvector)
    FROM jsonb_array_elements(CAST($3 AS jsonb)) WITH ORDINALITY AS each (passage, number)
    RETURNING item";
const READ: &str = "UPDATE vault_items SET stamp = $3, digest = $4 WHERE vault = $1 AND id = $2 RETURNING id";

// a score is a whole number on both engines, so that nothing depends on how each writes fractions
const FIND_SQLITE: &str = "SELECT found.item, found.place, found.text, CAST(-bm25(vault_terms) * 1000000000 AS INTEGER)
    FROM vault_terms JOIN vault_passages found ON found.number = vault_terms.rowid
    WHERE vault_terms MATCH $2 AND found.vault = $1
    ORDER BY bm25(vault_terms), found.item, found.place LIMIT $3";
const FIND_POSTGRES: &str = "SELECT item, place, text,
        CAST(ts_rank(terms, CAST($2 AS tsquery), 1) * 1000000000 AS BIGINT) AS score
    FROM vault_passages WHERE vault = $1 AND terms @@ CAST($2 AS tsquery)
    ORDER BY score DESC, item, place LIMIT $3";

const HOLDERS_SQLITE: &str = "SELECT DISTINCT found.item
    FROM vault_terms JOIN vault_passages found ON found.number = vault_terms.rowid
    WHERE vault_terms MATCH $2 AND found.vault = $1 ORDER BY found.item LIMIT $3";
const HOLDERS_POSTGRES: &str = "SELECT DISTINCT item FROM vault_passages
    WHERE vault = $1 AND terms @@ CAST($2 AS tsquery) ORDER BY item LIMIT $3";

impl VaultRepository {
    /// Replaces the passages of documents, and notes what was read, of all of them or of none. Nothing is kept of a document
    /// that is not known.
    pub async fn read_all(&self, documents: &[ReadDocument]) -> Result<(), StoreError> {
        const OPERATION: &str = "index documents";
        let mut statements = Vec::new();
        for document in documents {
            statements
                .extend(self.read(document).map_err(|error| Fault::Invalid(error.to_string()).during(OPERATION))?);
        }
        if statements.is_empty() {
            return Ok(());
        }
        self.engine.write::<Touched>(OPERATION, Write { statements, announce: None }).await.map(drop)
    }

    fn read(&self, document: &ReadDocument) -> Result<Vec<Statement>, serde_json::Error> {
        let ReadDocument { item, stamp, digest, passages } = document;
        let insert = match &*self.engine {
            Engine::Sqlite(_) => INSERT_SQLITE,
            Engine::Postgres(_) => INSERT_POSTGRES,
        };
        let terms = |passage: &Passage| fulltext::stored(&self.engine, &passage.terms);
        let pairs: Vec<(&str, String)> =
            passages.iter().map(|passage| (passage.text.as_str(), terms(passage))).collect();
        let pairs = serde_json::to_string(&pairs)?;
        let mut statements = vec![Statement::new(DELETE_PASSAGES, [self.vault(), Value::id(item)])];
        if !passages.is_empty() {
            statements.push(Statement::new(insert, [self.vault(), Value::id(item), Value::text(&pairs)]));
        }
        let values = [self.vault(), Value::id(item), Value::text(stamp), Value::maybe_text(digest.as_deref())];
        statements.push(Statement::new(READ, values));
        Ok(statements)
    }

    /// The best passages that hold any of these terms, best first.
    pub async fn find(&self, terms: &[String], limit: i64) -> Result<Vec<Hit>, StoreError> {
        let sql = match &*self.engine {
            Engine::Sqlite(_) => FIND_SQLITE,
            Engine::Postgres(_) => FIND_POSTGRES,
        };
        self.ask("search a vault", sql, fulltext::asked(&self.engine, terms, Holding::Any), limit).await
    }

    /// Documents with a passage that holds all of these terms, by id.
    pub async fn holders(&self, terms: &[String], limit: i64) -> Result<Vec<String>, StoreError> {
        let sql = match &*self.engine {
            Engine::Sqlite(_) => HOLDERS_SQLITE,
            Engine::Postgres(_) => HOLDERS_POSTGRES,
        };
        let query = fulltext::asked(&self.engine, terms, Holding::All);
        let holders: Vec<Holder> = self.ask("search a vault's documents", sql, query, limit).await?;
        Ok(holders.into_iter().map(|Holder(item)| item).collect())
    }

    async fn ask<T: FromRow>(
        &self,
        operation: &'static str,
        sql: &'static str,
        query: String,
        limit: i64,
    ) -> Result<Vec<T>, StoreError> {
        if query.is_empty() {
            return Ok(Vec::new());
        }
        self.engine.read(operation, Statement::new(sql, [self.vault(), Value::text(&query), Value::int(limit)])).await
    }
}

struct Holder(String);

impl FromRow for Holder {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.text().map(Holder)
    }
}

impl FromRow for Hit {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Hit { item: row.text()?, place: row.int()?, text: row.text()?, score: row.int()? })
    }
}
