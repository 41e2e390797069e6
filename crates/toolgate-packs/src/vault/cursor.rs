//! Cursors: where a list goes on. Opaque to callers, and good for the question they were given for.

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Serialize;

use super::{failure::Failure, tree::Node};

/// The first page is this long unless asked otherwise.
pub(super) const PAGE: usize = 50;
pub(super) const LONGEST_PAGE: usize = 200;

/// A part of a list, and where the rest of it begins.
pub(super) struct Page<'a> {
    pub(super) nodes: Vec<&'a Node>,
    pub(super) next: Option<String>,
}

/// The part after the cursor. What comes or goes in between moves nothing else: a cursor names the last one given, not a
/// number.
pub(super) fn page<'a>(
    question: &impl Serialize,
    cursor: Option<&str>,
    limit: usize,
    nodes: impl Iterator<Item = &'a Node>,
) -> Result<Page<'a>, Failure> {
    let mark = mark(question);
    let after = cursor.map(|cursor| read(cursor, &mark)).transpose()?;
    let follows = |node: &&Node| match &after {
        Some((name, id)) => (node.known.name.as_str(), node.known.id.as_str()) > (name.as_str(), id.as_str()),
        None => true,
    };
    let mut nodes: Vec<&Node> = nodes.filter(follows).take(limit + 1).collect();
    let more = nodes.len() > limit;
    nodes.truncate(limit);
    let next = nodes.last().filter(|_| more).map(|last| write(&mark, &last.known.name, &last.known.id));
    Ok(Page { nodes, next })
}

/// Tells one question from another.
fn mark(question: &impl Serialize) -> String {
    let text = serde_json::to_string(question).unwrap_or_default();
    let digest = digest(&SHA256, text.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.as_ref().get(..9).unwrap_or_default())
}

fn write(mark: &str, name: &str, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_string(&(mark, name, id)).unwrap_or_default())
}

fn read(cursor: &str, mark: &str) -> Result<(String, String), Failure> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    let read = bytes.and_then(|bytes| serde_json::from_slice::<(String, String, String)>(&bytes).ok());
    match read {
        Some((of, name, id)) if of == mark => Ok((name, id)),
        Some(_) => Err(Failure::invalid("The cursor belongs to another question. Begin without one.")),
        None => Err(Failure::invalid("The cursor is not one of ours. Begin without one.")),
    }
}
