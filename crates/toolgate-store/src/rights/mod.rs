//! Rights: how a process may remember tenants, members, overrides and the catalogue, and never serve an old one.
//!
//! Every change of them has a number, and a line in a log that says whom it was about. A process that remembers asks
//! before each use whether it has heard of every change ([`Rights::is_current`], which does not wait), and catches up
//! where it has not. A change is answered only when nobody can still use what was before:
//!
//! - beside SQLite, a file grows with every change, and whoever remembers looks at its length;
//! - with PostgreSQL, whoever remembers holds a short lease and confirms changes; a change waits for all who hold one, and
//!   who could not renew theirs in time remembers nothing.

mod clock;
mod memory;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

pub(crate) use clock::ClockReading;
pub(crate) use memory::Memory;

use crate::{
    Change, Changes, StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    fresh,
    statement::{FromRow, Row, Statement, Value},
};

/// How long a replica may go on without the database.
pub(crate) const LEASE: Duration = Duration::from_secs(3);
/// Where something went wrong, it is tried again after this long.
const AGAIN: Duration = Duration::from_millis(250);
/// Where there is no lease to renew.
const RARELY: Duration = Duration::from_secs(60);
/// A change about more than this many is one about everybody.
const MOST_SUBJECTS: usize = 100;

const BUMP: &str = "UPDATE rights SET seq = seq + 1 WHERE one = 1 RETURNING seq";
/// Makes the whole change fail as a duplicate where another came before it.
const ONLY_AFTER: &str = "INSERT INTO rights (one, seq) SELECT one, seq FROM rights WHERE one = 1 AND seq <> $1";
const NEWEST: &str = "SELECT seq FROM rights WHERE one = 1";
const LOG: &str = "INSERT INTO rights_log (seq, subject) SELECT seq, $1 FROM rights WHERE one = 1";
/// Who is further behind than this forgets everything.
const TRIM: &str = "DELETE FROM rights_log WHERE seq <= (SELECT seq FROM rights WHERE one = 1) - 10000";
const SINCE: &str = "SELECT rights.seq, rights_log.seq, rights_log.subject
    FROM rights LEFT JOIN rights_log ON rights_log.seq > $1 WHERE rights.one = 1 ORDER BY rights_log.seq";

/// What a change is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Tenant(String),
    User(String),
    Catalog,
    /// Own tokens that were revoked.
    Tokens,
    Everybody,
}

const TOKENS: &str = "tokens";
const CATALOG: &str = "catalog";

impl Subject {
    fn to_text(&self) -> String {
        match self {
            Subject::Tenant(id) => format!("tenant:{id}"),
            Subject::User(id) => format!("user:{id}"),
            Subject::Catalog => CATALOG.to_owned(),
            Subject::Tokens => TOKENS.to_owned(),
            Subject::Everybody => "everybody".to_owned(),
        }
    }

    /// What a newer program wrote and this one can't read may be about anybody.
    fn from_text(text: &str) -> Self {
        match text.split_once(':') {
            Some(("tenant", id)) => Subject::Tenant(id.to_owned()),
            Some(("user", id)) => Subject::User(id.to_owned()),
            None if text == CATALOG => Subject::Catalog,
            None if text == TOKENS => Subject::Tokens,
            _ => Subject::Everybody,
        }
    }
}

/// Who must know of a change before it counts as heard.
#[async_trait::async_trait]
pub trait Follow: Send + Sync {
    /// The catalogue changed: from the answer on, every decision follows it.
    async fn catalog(&self) -> Result<(), String>;

    /// Somebody's rights changed; those who wait for that look again.
    fn rights(&self);
}

/// What this process remembers of rights, and whether that still holds.
#[derive(Clone)]
pub struct Rights {
    engine: Arc<Engine>,
    memory: Arc<Memory>,
}

impl Rights {
    pub(crate) fn new(engine: Arc<Engine>, memory: Arc<Memory>) -> Self {
        Self { engine, memory }
    }

    /// Whether every change there is has been heard of. Does not wait.
    pub fn is_current(&self) -> bool {
        self.memory.is_current(self.engine.rights_mark())
    }

    /// Hears of what was missed. Fails where that can't be known: then nothing that was remembered counts.
    pub async fn catch_up(&self) -> Result<(), StoreError> {
        let turn = self.memory.turn.lock().await;
        if self.is_current() {
            return Ok(());
        }
        let caught_up = self.advance().await;
        drop(turn);
        caught_up
    }

    /// A number that is another one after each change of this tenant or this user.
    pub fn revision(&self, tenant: Option<&str>, user: Option<&str>) -> u64 {
        self.memory.count(tenant, user)
    }

    /// A number that is another one after each revocation of tokens.
    pub fn token_revision(&self) -> u64 {
        self.memory.token_count()
    }

    /// Keeps up with changes until told to stop. Without this, every use of what is remembered asks the database first
    /// where that is PostgreSQL.
    ///
    /// The follower is told of every change from this call on, and of one that was heard of before there was a follower.
    pub fn keep(
        self,
        follower: Arc<dyn Follow>,
        changes: Changes,
        stopped: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let _ = self.memory.follower.set(follower);
        if self.memory.missed.load(Ordering::Acquire) {
            self.memory.hold(None, 0, None);
        }
        self.keep_up(changes, stopped)
    }

    async fn keep_up(self, mut changes: Changes, mut stopped: watch::Receiver<bool>) {
        let replica = self.engine.is_shared().then(|| fresh::id("replica_").ok()).flatten();
        if let Some(replica) = replica {
            let _ = self.memory.replica.set(replica);
        }
        let mut look = Instant::now();
        loop {
            tokio::select! {
                change = changes.next() => match change {
                    Some(Change::Rights | Change::Resync) => self.memory.heard(),
                    Some(_) => continue,
                    None => break,
                },
                () = tokio::time::sleep_until(look) => {}
                _ = stopped.wait_for(|stopped| *stopped) => break,
            }
            let turn = self.memory.turn.lock().await;
            let caught_up = self.advance().await;
            drop(turn);
            let rest = if self.engine.is_shared() { LEASE / 3 } else { RARELY };
            look = Instant::now() + if caught_up.is_ok() { rest } else { AGAIN };
            if let Err(fault) = caught_up {
                tracing::warn!(%fault, "what changed in tenants and tools can't be heard of");
            }
        }
        if let Some(replica) = self.memory.replica.get() {
            // INVARIANT: whoever has left is waited for no more, so nothing that it remembers may count
            let _turn = self.memory.turn.lock().await;
            self.memory.hold(None, 0, None);
            let _ = self.engine.leave(replica).await;
        }
    }

    /// INVARIANT: taken before it is read, the mark covers no change that the reading did not see.
    async fn advance(&self) -> Result<(), StoreError> {
        let operation = "hear of changed rights";
        loop {
            let mark = self.engine.rights_mark();
            let heard = self.memory.heard_of();
            let seen = self.memory.seen();
            let lines: Vec<Line> =
                self.engine.read(operation, Statement::new(SINCE, [Value::int(seen.unwrap_or(i64::MAX))])).await?;
            let newest = lines.first().map(|line| line.newest);
            let newest = newest.ok_or_else(|| gone(operation))?;
            let news = news(seen, newest, lines);
            let is_of_catalog = |subject: &Subject| matches!(subject, Subject::Catalog | Subject::Everybody);
            let changed = news.iter().any(is_of_catalog);
            match self.memory.follower.get() {
                Some(follower) if changed || self.memory.missed.load(Ordering::Acquire) => {
                    let followed = follower.catalog().await;
                    followed.map_err(|reason| Fault::Other(reason).during("follow the changed catalogue"))?;
                    self.memory.missed.store(false, Ordering::Release);
                }
                // what is read after the first look is no news
                None if changed && seen.is_some() => self.memory.missed.store(true, Ordering::Release),
                Some(_) | None => {}
            }
            self.memory.forget(&news);
            self.memory.set_seen(newest);
            if let Some(follower) = self.memory.follower.get().filter(|_| !news.is_empty()) {
                follower.rights();
            }
            let Some(replica) = self.memory.replica.get() else {
                self.memory.hold(mark, heard, None);
                return Ok(());
            };
            // before it is sent: the lease never ends later here than where it is waited for
            let asked = ClockReading::now();
            if self.engine.renew(replica, newest).await? == newest {
                self.memory.hold(mark, heard, Some(asked));
                return Ok(());
            }
        }
    }

    /// The number of the last change there is.
    pub(crate) async fn newest(&self) -> Result<i64, StoreError> {
        let operation = "see what changed last";
        let newest: Option<Number> = self.engine.find(operation, Statement::new(NEWEST, [])).await?;
        newest.map(|number| number.0).ok_or_else(|| gone(operation))
    }

    /// Makes a change if no other came after `since`, and answers when nobody uses what was before it. False: another came,
    /// and nothing was done.
    pub(crate) async fn change(
        &self,
        operation: &'static str,
        since: i64,
        mut about: Vec<Subject>,
        statements: Vec<Statement>,
    ) -> Result<bool, StoreError> {
        about.sort();
        about.dedup();
        if about.len() > MOST_SUBJECTS {
            about = vec![Subject::Everybody];
        }
        let mut write = Write::new(Statement::new(BUMP, []))
            .then(Statement::new(ONLY_AFTER, [Value::int(since.saturating_add(1))]))
            .then(Statement::new(TRIM, []));
        for subject in &about {
            write = write.then(Statement::new(LOG, [Value::Id(subject.to_text())]));
        }
        write = statements.into_iter().fold(write, Write::then);
        match self.engine.write::<Touched>(operation, write.announcing(Change::Rights)).await {
            Ok(_) => match self.engine.confirm_rights(operation).await {
                Ok(()) => Ok(true),
                Err(fault) => {
                    let reason = format!("it is stored, and it is not known that every replica follows: {fault}");
                    Err(Fault::OutcomeUnknown(reason).during(operation))
                }
            },
            // of the count, or of a row that somebody made meanwhile
            Err(StoreError::Duplicate { .. }) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}

fn gone(operation: &'static str) -> StoreError {
    Fault::Other("the count of changes is gone".to_owned()).during(operation)
}

struct Number(i64);

impl FromRow for Number {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Self(row.int()?))
    }
}

/// What to forget. Where the log does not reach back far enough, everything.
fn news(seen: Option<i64>, newest: i64, lines: Vec<Line>) -> Vec<Subject> {
    let logged: Vec<(i64, String)> = lines.into_iter().filter_map(|line| line.logged).collect();
    let is_whole = seen.is_some_and(|seen| match logged.first() {
        Some((first, _)) => *first == seen.saturating_add(1),
        None => newest == seen,
    });
    if is_whole {
        logged.iter().map(|(_, subject)| Subject::from_text(subject)).collect()
    } else {
        vec![Subject::Everybody]
    }
}

struct Line {
    newest: i64,
    logged: Option<(i64, String)>,
}

impl FromRow for Line {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (newest, at, subject) = (row.int()?, row.maybe_int()?, row.maybe_text()?);
        Ok(Line { newest, logged: at.zip(subject) })
    }
}
