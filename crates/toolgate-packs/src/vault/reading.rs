//! What can be asked of the vault: a folder's list, a search, one document, passages.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    cursor::{self, LONGEST_PAGE, PAGE},
    failure::Failure,
    ids::ROOT,
    kinds::{self, Kind, Source},
    live::Live,
    tree::{Item, Node, Tree},
};
use crate::terms::{self, folded};

/// An answer, and what only `_meta` has room for.
pub(super) struct Answer {
    pub(super) content: Value,
    pub(super) meta: Option<(&'static str, Value)>,
    /// The same in a sentence, for a model, which sees no `_meta`.
    pub(super) note: Option<String>,
}

impl Answer {
    pub(super) fn of(content: &impl Serialize) -> Result<Self, Failure> {
        let content = serde_json::to_value(content).map_err(|_| Failure::internal("The answer can't be written."))?;
        Ok(Self { content, meta: None, note: None })
    }

    pub(super) fn with(self, key: &'static str, value: Value) -> Self {
        Self { meta: Some((key, value)), ..self }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    items: Vec<Item>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List {
    folder_id: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

pub(super) async fn list(vault: &Live, List { folder_id, limit, cursor }: List) -> Result<Answer, Failure> {
    let tree = vault.look().await?;
    let folder = folder_id.as_deref().unwrap_or(ROOT);
    tree.folder_path(folder).ok_or_else(|| Failure::no_folder(folder))?;
    let page =
        cursor::page(&("list", folder), cursor.as_deref(), limited(limit, PAGE, LONGEST_PAGE), tree.children(folder))?;
    Answer::of(&Items { items: page.nodes.into_iter().map(Node::item).collect(), next_cursor: page.next })
}

#[derive(Deserialize)]
pub(super) struct Search {
    query: String,
    limit: Option<usize>,
    cursor: Option<String>,
    kinds: Option<Vec<Kind>>,
    sources: Option<Vec<Source>>,
}

/// Documents whose text is looked into for one search.
const SEARCHED: i64 = 10_000;

pub(super) async fn search(vault: &Live, search: Search) -> Result<Answer, Failure> {
    let query = folded(search.query.trim());
    if query.is_empty() {
        return Err(Failure::invalid("The query is empty."));
    }
    let tree = vault.look().await?;
    let pending = vault.index(&tree).await?;
    let holders = vault.memory.holders(&terms::asked(&query), SEARCHED).await;
    let holders: HashSet<String> = holders.map_err(|fault| Failure::index(&fault))?.into_iter().collect();
    let words: Vec<&str> = query.split_whitespace().collect();
    let wanted = |node: &&Node| {
        let kind = kinds::kind(&node.known.name, node.known.folder);
        let path = folded(&node.path);
        search.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
            && search.sources.as_ref().is_none_or(|sources| sources.contains(&Source::Vault))
            && (words.iter().all(|word| path.contains(word)) || holders.contains(&node.known.id))
    };
    let mut found: Vec<&Node> = tree.nodes().filter(wanted).collect();
    found.sort_by(|one, other| (&one.known.name, &one.known.id).cmp(&(&other.known.name, &other.known.id)));
    let question = ("search", &query, &search.kinds, &search.sources);
    let limit = limited(search.limit, PAGE, LONGEST_PAGE);
    let page = cursor::page(&question, search.cursor.as_deref(), limit, found.into_iter())?;
    let items = page.nodes.into_iter().map(Node::item).collect();
    Ok(noting(Answer::of(&Items { items, next_cursor: page.next })?, pending))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Get {
    id: String,
    #[serde(default)]
    include_content: bool,
}

pub(super) async fn get(vault: &Live, Get { id, include_content }: Get) -> Result<Answer, Failure> {
    let tree = vault.look().await?;
    if id == ROOT {
        let (source, kind) = (Source::Vault, Kind::Folder);
        return Answer::of(&json!({"item": {"id": ROOT, "name": "/", "source": source, "kind": kind, "path": ""}}));
    }
    let node = tree.get(&id).ok_or_else(|| Failure::no_item(&id))?;
    let item = node.item();
    if !include_content {
        return Answer::of(&json!({ "item": item }));
    }
    if node.known.folder {
        return Err(Failure::invalid("A folder has no content. List it with vault.list."));
    }
    match vault.text(node).await {
        Ok(text) => {
            let answer = Answer::of(&json!({"item": item, "content": {"type": "text", "text": text.text}}))?;
            Ok(if text.cut { answer.with("toolgate/content", json!({"truncated": true})) } else { answer })
        }
        Err(why) => {
            let why = json!({"absent": why.to_string()});
            Ok(Answer::of(&json!({ "item": item }))?.with("toolgate/content", why))
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Retrieve {
    query: String,
    top_k: Option<usize>,
    /// All there is to search is the vault.
    #[serde(rename = "scope")]
    _scope: Option<String>,
}

const BEST: usize = 5;
const MOST: usize = 50;

pub(super) async fn retrieve(vault: &Live, Retrieve { query, top_k, .. }: Retrieve) -> Result<Answer, Failure> {
    if query.trim().is_empty() {
        return Err(Failure::invalid("The query is empty."));
    }
    let tree = vault.look().await?;
    let pending = vault.index(&tree).await?;
    let limit = i64::try_from(limited(top_k, BEST, MOST)).unwrap_or(i64::MAX);
    let hits = vault.memory.find(&terms::asked(&query), limit).await.map_err(|fault| Failure::index(&fault))?;
    // relative to the best, which is all that scores of two engines have in common
    let best = hits.first().map_or(1, |hit| hit.score.max(1));
    let chunks = hits.into_iter().filter_map(|hit| {
        let item = tree.get(&hit.item)?.item();
        let score = hundredths(hit.score, best);
        let meta = json!({"itemId": item.id, "name": item.name, "path": item.path, "kind": item.kind,
            "modifiedAt": item.modified_at, "index": hit.place});
        let id = format!("{}#{}", hit.item, hit.place);
        Some(json!({"id": id, "text": hit.text, "score": score, "source": Source::Vault, "meta": meta}))
    });
    let chunks: Vec<Value> = chunks.collect();
    Ok(noting(Answer::of(&json!({ "chunks": chunks }))?, pending))
}

/// A share of the best, between 0 and 1.
fn hundredths(score: i64, best: i64) -> f64 {
    let share = i128::from(score.max(0)) * 10_000 / i128::from(best.max(1));
    f64::from(i32::try_from(share).unwrap_or(10_000)) / 10_000.0
}

fn noting(answer: Answer, pending: usize) -> Answer {
    if pending == 0 { answer } else { answer.with("toolgate/index", json!({ "pending": pending })) }
}

fn limited(given: Option<usize>, usual: usize, most: usize) -> usize {
    given.unwrap_or(usual).clamp(1, most)
}

/// The one document that a caller means by a name or an id, for its text.
pub(super) fn meant<'a>(tree: &'a Tree, name: &str, hints: &[String]) -> Option<&'a Node> {
    if let Some(node) = hints.iter().find_map(|hint| tree.get(hint)) {
        return Some(node);
    }
    let mut named = tree.nodes().filter(|node| !node.known.folder && node.known.name == name);
    match (named.next(), named.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}
