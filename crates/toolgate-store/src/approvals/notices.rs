//! Notices: who is told of approvals, told once, whichever replica does it.
//!
//! A replica claims a notice for a while and says when it was told. One that ends in between leaves its claims to run out,
//! and another tells them again: at least once, and once as long as nobody dies.

use std::sync::Arc;

use super::Approval;
use crate::{
    Scope, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

words! {
    NoticeEvent {
        Asked = "asked",
        Answered = "answered",
        Expired = "expired",
    }
}

/// Something that happened to an approval and that nobody was told yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub event: NoticeEvent,
    pub approval: Approval,
}

/// A claim while it is being told.
struct Claimed {
    approval: String,
    event: NoticeEvent,
}

impl FromRow for Claimed {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Self { approval: row.text()?, event: NoticeEvent::from_cell(row)? })
    }
}

/// What happened between `$2` and `$1` and is neither told nor being told, `$4` of it at the most; it is ours until `$3`.
const CLAIM: &str = "INSERT INTO approval_notices (approval, event, claimed_until)
    SELECT due.id, due.event, $3 FROM (
        SELECT id, 'asked' AS event, asked_at AS at FROM approvals WHERE asked_at > $2 AND asked_at <= $1
        UNION ALL
        SELECT id, 'answered' AS event, answered_at AS at FROM approvals WHERE answered_at > $2 AND answered_at <= $1
        UNION ALL
        SELECT id, 'expired' AS event, expires AS at FROM approvals
            WHERE answered_at IS NULL AND expires > $2 AND expires <= $1
    ) AS due
    WHERE NOT EXISTS (SELECT 1 FROM approval_notices AS known WHERE known.approval = due.id AND known.event = due.event
        AND (known.told IS NOT NULL OR known.claimed_until > $1))
    ORDER BY due.at, due.id LIMIT $4
    ON CONFLICT (approval, event) DO UPDATE SET claimed_until = excluded.claimed_until
        WHERE approval_notices.told IS NULL AND approval_notices.claimed_until <= $1
    RETURNING approval, event";
const TOLD: &str = "UPDATE approval_notices SET told = $3 WHERE approval = $1 AND event = $2 RETURNING approval";

pub struct Notices {
    engine: Arc<Engine>,
}

impl Notices {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// What happened since and is to be told, for this replica to tell before its claim runs out.
    pub async fn claim(&self, now: i64, since: i64, until: i64, most: u32) -> Result<Vec<Notice>, StoreError> {
        let values = [Value::int(now), Value::int(since), Value::int(until), Value::int(i64::from(most))];
        let claimed: Vec<Claimed> =
            self.engine.write("claim notices", Write::new(Statement::new(CLAIM, values))).await?;
        let approvals = super::Approvals::new(Arc::clone(&self.engine));
        let mut notices = Vec::new();
        for Claimed { approval, event } in claimed {
            let found = approvals.get(&Scope::Everything, &approval, now).await?;
            notices.extend(found.map(|approval| Notice { event, approval }));
        }
        Ok(notices)
    }

    /// It was told, or given up.
    pub async fn told(&self, notice: &Notice, now: i64) -> Result<(), StoreError> {
        let values = [Value::id(&notice.approval.id), Value::id(notice.event.as_str()), Value::int(now)];
        self.engine
            .write_first::<Touched>("note that a notice was told", Write::new(Statement::new(TOLD, values)))
            .await?;
        Ok(())
    }
}
