//! Which prompts and resources there were, by the records of those who reached them. A gate has them only while their servers run,
//! and the record of who was told that there is no such thing does not say whether there was.

use std::collections::BTreeMap;

use toolgate_core::Kind;
use toolgate_store::ledger::{Filter, LedgerReader};

use super::past::{self, Asked};
use crate::Misuse;

/// By kind of request and name; the newest record counts.
#[derive(Default)]
pub struct Offered(BTreeMap<(Kind, String), Reached>);

/// What a request led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    pub kind: Kind,
    /// A pattern's, where one led there.
    pub name: String,
    pub source: String,
}

impl Offered {
    /// Of the time that is looked at, whoever asked.
    pub async fn in_records(ledger: &LedgerReader, filter: &Filter) -> Result<Self, Misuse> {
        let mut offered = BTreeMap::new();
        let mut pages = ledger.pages(Filter { since: filter.since, until: filter.until, ..Filter::default() });
        loop {
            let page = pages.next().await?;
            if page.is_empty() {
                return Ok(Self(offered));
            }
            // most records are of tools, and are not read any further
            for record in page.iter().filter(|record| record.text.contains("\"asked\":\"")) {
                let Some(Ok(past)) = past::read(record) else { continue };
                let Some(asked) = past.asked.filter(|_| !past.source.is_empty()) else { continue };
                let reached = Reached { kind: asked.kind, name: record.tool.clone(), source: past.source };
                offered.insert((asked.request(), asked.name), reached);
            }
        }
    }

    /// What a request led to: by its own record where that says so, else by another's.
    pub fn reached(&self, asked: &Asked, name: &str, source: &str) -> Option<Reached> {
        if source.is_empty() {
            return self.0.get(&(asked.request(), asked.name.clone())).cloned();
        }
        Some(Reached { kind: asked.kind, name: name.to_owned(), source: source.to_owned() })
    }
}
