//! Knowledge: what outlives a process, and the search over everything that tasks wrote.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_spine::ToolAnswer;
use toolgate_store::Found;

use super::{Desk, answered, found_by};
use crate::{
    failure::{Failure, short},
    terms,
    times::{iso, now},
};

#[derive(Deserialize)]
pub(super) struct Write {
    key: String,
    content: String,
    reason: String,
}

pub(super) async fn write(desk: &Desk<'_>, Write { key, content, reason }: Write) -> Result<ToolAnswer, Failure> {
    let at = now();
    let written = desk.knowledge().await?.write(&key, &content, &reason, &found_by(&key, &content), at).await;
    let version = written.map_err(|fault| Failure::store(&fault))?;
    let answer = answered(&json!({"status": "ok", "key": key, "version": version, "created_at": iso(at)}))?;
    Ok(answer.never_undone("Knowledge is never changed in place: write a new version."))
}

#[derive(Deserialize)]
pub(super) struct Get {
    key: String,
    version: Option<i64>,
}

pub(super) async fn get(desk: &Desk<'_>, Get { key, version }: Get) -> Result<ToolAnswer, Failure> {
    let found = desk.knowledge().await?.find(&key, version).await.map_err(|fault| Failure::store(&fault))?;
    let Some(found) = found else {
        let name = version.map_or_else(|| short(&key), |version| format!("{} v{version}", short(&key)));
        return Err(Failure::not_found(format!("Knowledge entry '{name}' not found.")));
    };
    answered(&json!({"key": found.key, "version": found.version, "content": found.content, "reason": found.reason,
        "created_at": iso(found.created_at)}))
}

#[derive(Deserialize)]
pub(super) struct History {
    key: String,
}

pub(super) async fn history(desk: &Desk<'_>, History { key }: History) -> Result<ToolAnswer, Failure> {
    let versions = desk.knowledge().await?.history(&key).await.map_err(|fault| Failure::store(&fault))?;
    let versions: Vec<Value> = versions
        .into_iter()
        .map(|version| {
            json!({"version": version.version, "reason": version.reason, "created_at": iso(version.created_at),
                "content_preview": version.preview})
        })
        .collect();
    answered(&json!({"key": key, "versions": versions}))
}

#[derive(Deserialize)]
pub(super) struct Search {
    query: String,
    page: Option<u32>,
}

pub(super) async fn search(desk: &Desk<'_>, Search { query, page }: Search) -> Result<ToolAnswer, Failure> {
    let page = page.unwrap_or(1);
    let found = desk.knowledge().await?.search(&terms::asked(&query), page).await;
    let found = found.map_err(|fault| Failure::store(&fault))?;
    let hits: Vec<Value> = found
        .hits
        .into_iter()
        .map(|hit| {
            let distance = distance(&hit);
            json!({"source": hit.source.as_str(), "source_id": hit.source_id, "title": hit.title,
                "snippet": hit.snippet, "distance": distance, "created_at": iso(hit.created_at)})
        })
        .collect();
    answered(&json!({"query": query, "page": page, "results": hits, "has_more": found.has_more}))
}

/// Between 0 and 1, lower for a better hit; it falls as the score rises, on every page alike.
fn distance(hit: &Found) -> f64 {
    const ONE: i128 = 1_000_000_000;
    let millionths = ONE * 1_000_000 / (ONE + i128::from(hit.score.max(0)));
    f64::from(i32::try_from(millionths).unwrap_or(1_000_000)) / 1_000_000.0
}
