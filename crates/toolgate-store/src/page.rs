//! Long lists, newest first, a page at a time. A page is continued from a place in the list, not
//! from a count, so that what is added meanwhile neither repeats nor hides anything.

use crate::statement::Value;

/// The most records of one page, whatever was asked for.
const MOST: u32 = 1_000;

/// Which page: the first, or the one after a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paging {
    pub limit: u32,
    pub after: Option<Mark>,
}

/// The place of a record in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub at: i64,
    pub id: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<Mark>,
}

pub(crate) trait Listed {
    fn mark(&self) -> Mark;
}

impl Default for Paging {
    fn default() -> Self {
        Self { limit: 100, after: None }
    }
}

impl Paging {
    fn size(&self) -> u32 {
        self.limit.clamp(1, MOST)
    }

    /// Time and id that every record must be before, and one record more than the page holds.
    pub(crate) fn values(&self) -> [Value; 3] {
        let (at, id) = self.after.as_ref().map_or((i64::MAX, ""), |mark| (mark.at, mark.id.as_str()));
        [Value::int(at), Value::text(id), Value::int(i64::from(self.size()) + 1)]
    }

    pub(crate) fn page<T: Listed>(&self, mut items: Vec<T>) -> Page<T> {
        let size = usize::try_from(self.size()).unwrap_or(usize::MAX);
        let more = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| more).map(Listed::mark);
        Page { items, next }
    }
}
