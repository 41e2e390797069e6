//! Reading everything, a page at a time.

use super::{Filter, LedgerReader, Record};
use crate::StoreError;

const PAGE: u32 = 1_000;

/// The records of a filter in the order of arrival. Holds one page, and no lock between two.
pub struct Pages {
    ledger: LedgerReader,
    filter: Filter,
    after: i64,
    done: bool,
}

impl Pages {
    pub(super) fn new(ledger: LedgerReader, filter: Filter) -> Self {
        Self { ledger, filter, after: i64::MIN, done: false }
    }

    /// The next page; empty after the last.
    pub async fn next(&mut self) -> Result<Vec<Record>, StoreError> {
        if self.done {
            return Ok(Vec::new());
        }
        let page = self.ledger.page(&self.filter, self.after, PAGE).await?;
        match page.last() {
            Some(last) => self.after = last.position,
            None => self.done = true,
        }
        Ok(page)
    }
}
