//! Which records to read. An absent condition holds for all.

use super::{
    Outcome,
    record::{Cursor, columns},
};
use crate::statement::{Statement, Value};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// From this time on, Unix milliseconds.
    pub since: Option<i64>,
    /// Before this time.
    pub until: Option<i64>,
    pub tool: Option<String>,
    pub principal: Option<String>,
    pub outcome: Option<Outcome>,
    pub flow: Option<String>,
    pub tenant: Option<String>,
    pub call: Option<String>,
}

/// `$1` to `$7`: the conditions beside the call, over records called `r`. A cast, since PostgreSQL must know a type even for
/// NULL. No record says that its call is unknown: that it has an intent and no outcome does.
macro_rules! conditions {
    () => {
        "time >= $1 AND time < $2
        AND (CAST($3 AS TEXT) IS NULL OR tool = $3) AND (CAST($4 AS TEXT) IS NULL OR principal = $4)
        AND (CAST($5 AS TEXT) IS NULL OR outcome = $5 OR ($5 = 'unknown' AND kind = 'intent' AND NOT EXISTS
            (SELECT 1 FROM ledger o WHERE o.call = r.call AND o.kind = 'outcome')))
        AND (CAST($6 AS TEXT) IS NULL OR flow = $6) AND (CAST($7 AS TEXT) IS NULL OR tenant = $7)"
    };
}

/// One call's records have a statement of their own, so that the index over calls is used.
const PAGE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger r WHERE ",
    conditions!(),
    " AND NOT (time = $1 AND position <= $8) ORDER BY time, position LIMIT $9"
);
const PAGE_OF_CALL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger r WHERE call = $10 AND ",
    conditions!(),
    " AND NOT (time = $1 AND position <= $8) ORDER BY time, position LIMIT $9"
);
const LATEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger r WHERE ",
    conditions!(),
    " ORDER BY time DESC, position DESC LIMIT $8"
);
const LATEST_OF_CALL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger r WHERE call = $9 AND ",
    conditions!(),
    " ORDER BY time DESC, position DESC LIMIT $8"
);
const TAIL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger_settled r WHERE ",
    conditions!(),
    " AND position > $8 AND (CAST($10 AS TEXT) IS NULL OR call = $10) ORDER BY position LIMIT $9"
);
const UNFINISHED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM ledger WHERE time >= $1 AND kind = 'intent' AND NOT EXISTS
    (SELECT 1 FROM ledger o WHERE o.call = ledger.call AND o.kind = 'outcome') ORDER BY time, position"
);

impl Filter {
    pub(super) fn page(&self, after: Option<Cursor>, limit: u32) -> Statement {
        // What came before the cursor's time is done with, so the index starts there.
        let mut values = self.conditions(after.map(|cursor| cursor.time));
        let position = match after {
            Some(cursor) if self.since.is_none_or(|since| since <= cursor.time) => cursor.position,
            _ => i64::MIN,
        };
        values.extend([Value::int(position), Value::int(limit.into())]);
        self.or_of_call(PAGE, PAGE_OF_CALL, values)
    }

    pub(super) fn latest(&self, limit: u32) -> Statement {
        let mut values = self.conditions(None);
        values.push(Value::int(limit.into()));
        self.or_of_call(LATEST, LATEST_OF_CALL, values)
    }

    pub(super) fn tail(&self, after: i64, limit: u32) -> Statement {
        let mut values = self.conditions(None);
        values.extend([Value::int(after), Value::int(limit.into()), Value::maybe_text(self.call.as_deref())]);
        Statement::new(TAIL, values)
    }

    fn or_of_call(&self, all: &'static str, of_call: &'static str, mut values: Vec<Value>) -> Statement {
        match &self.call {
            None => Statement::new(all, values),
            Some(call) => {
                values.push(Value::text(call));
                Statement::new(of_call, values)
            }
        }
    }

    fn conditions(&self, from: Option<i64>) -> Vec<Value> {
        let least = i64::MIN;
        let since = self.since.unwrap_or(least).max(from.unwrap_or(least));
        let word = |word: &Option<String>| Value::maybe_text(word.as_deref());
        vec![
            Value::int(since),
            Value::int(self.until.unwrap_or(i64::MAX)),
            word(&self.tool),
            word(&self.principal),
            Value::maybe_text(self.outcome.map(Outcome::as_str)),
            word(&self.flow),
            word(&self.tenant),
        ]
    }
}

pub(super) fn unfinished(since: Option<i64>) -> Statement {
    Statement::new(UNFINISHED, [Value::int(since.unwrap_or(i64::MIN))])
}
