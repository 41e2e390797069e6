//! Ranked search over what the tasks of one tenant wrote: its knowledge, its results, its artifacts.

use super::KnowledgeRepository;
use crate::{
    StoreError,
    engine::{Engine, Write},
    error::Fault,
    fulltext::{self, Holding},
    statement::{FromRow, Row, Statement, Value},
};

words! {
    /// What was found.
    Source { Knowledge = "knowledge", Result = "result", Artifact = "artifact" }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub source: Source,
    /// A key, a task's id or an artifact's.
    pub source_id: String,
    pub title: String,
    /// How its text begins.
    pub snippet: String,
    /// Larger is better.
    pub score: i64,
    pub created_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    pub hits: Vec<Found>,
    pub has_more: bool,
}

const PAGE: usize = 10;
const SNIPPET: usize = 200;

const FORGET: &str = "DELETE FROM workspace_texts WHERE tenant = $1 AND source = $2 AND source_id = $3";
macro_rules! index {
    ($terms:literal) => {
        concat!(
            "INSERT INTO workspace_texts (tenant, source, source_id, title, snippet, terms, created_at)
            VALUES ($1, $2, $3, $4, $5, ",
            $terms,
            ", $7)"
        )
    };
}
const INDEX_SQLITE: &str = index!("$6");
const INDEX_POSTGRES: &str = index!("CAST($6 AS tsvector)");

// a total order: the best first, then the newest, then by name
const SEARCH_SQLITE: &str = "SELECT found.source, found.source_id, found.title, found.snippet,
        CAST(-bm25(workspace_terms) * 1000000000 AS INTEGER) AS score, found.created_at
    FROM workspace_terms JOIN workspace_texts found ON found.number = workspace_terms.rowid
    WHERE workspace_terms MATCH $2 AND found.tenant = $1
    ORDER BY score DESC, found.created_at DESC, found.source, found.source_id LIMIT $3 OFFSET $4";
const SEARCH_POSTGRES: &str = "SELECT source, source_id, title, snippet,
        CAST(ts_rank(terms, CAST($2 AS tsquery), 1) * 1000000000 AS BIGINT) AS score, created_at
    FROM workspace_texts WHERE tenant = $1 AND terms @@ CAST($2 AS tsquery)
    ORDER BY score DESC, created_at DESC, source, source_id LIMIT $3 OFFSET $4";

/// A text to be found.
pub(super) struct Indexed<'t> {
    pub(super) tenant: &'t str,
    pub(super) source: Source,
    pub(super) source_id: &'t str,
    pub(super) title: &'t str,
    pub(super) text: &'t str,
    pub(super) terms: &'t [String],
    pub(super) at: i64,
}

impl Indexed<'_> {
    /// Takes the place of what was found under the same name before. The statement before must hold whatever keeps two
    /// writers of one name apart.
    pub(super) fn after(self, write: Write, engine: &Engine) -> Write {
        let name = || [Value::text(self.tenant), Value::text(self.source.as_str()), Value::id(self.source_id)];
        let snippet: String = self.text.chars().take(SNIPPET).collect();
        let rest = [
            Value::text(self.title),
            Value::Text(Some(snippet)),
            Value::Text(Some(fulltext::stored(engine, self.terms))),
            Value::int(self.at),
        ];
        let sql = match engine {
            Engine::Sqlite(_) => INDEX_SQLITE,
            Engine::Postgres(_) => INDEX_POSTGRES,
        };
        write.then(Statement::new(FORGET, name())).then(Statement::new(sql, name().into_iter().chain(rest)))
    }
}

impl KnowledgeRepository {
    /// A page of ten of what holds any of these terms, best first. Pages are counted from 1.
    pub async fn search(&self, terms: &[String], page: u32) -> Result<FoundPage, StoreError> {
        let query = fulltext::asked(&self.engine, terms, Holding::Any);
        if query.is_empty() {
            return Ok(FoundPage { hits: Vec::new(), has_more: false });
        }
        let sql = match &*self.engine {
            Engine::Sqlite(_) => SEARCH_SQLITE,
            Engine::Postgres(_) => SEARCH_POSTGRES,
        };
        let size = i64::try_from(PAGE).unwrap_or(i64::MAX);
        let before = i64::from(page.saturating_sub(1)).saturating_mul(size);
        let values = [self.tenant(), Value::text(&query), Value::int(size + 1), Value::int(before)];
        let mut hits: Vec<Found> = self.engine.read("search the workspace", Statement::new(sql, values)).await?;
        let has_more = hits.len() > PAGE;
        hits.truncate(PAGE);
        Ok(FoundPage { hits, has_more })
    }
}

impl FromRow for Found {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Found {
            source: Source::from_cell(row)?,
            source_id: row.text()?,
            title: row.text()?,
            snippet: row.text()?,
            score: row.int()?,
            created_at: row.int()?,
        })
    }
}
