//! What slows down who guesses passkeys, on all replicas together: an agent at one address, and an address as a whole.
//!
//! INVARIANT: an attempt is counted before its passkey is looked at, so that many at once get no further than one after
//! the other; while a place waits, attempts are not counted, so that nobody can make it wait for ever.

use std::sync::Arc;

use super::agents::Id;
use crate::{
    StoreError,
    engine::{Engine, Touched, Write},
    error::Fault,
    statement::{FromRow, Row, Statement, Value},
};

/// Where an attempt is made: text that names it, and how many may fail before it has to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    name: String,
    free: i64,
}

impl Place {
    /// One agent at one address, or wherever it is where addresses are not known.
    pub fn agent(agent: &str, address: Option<&str>) -> Self {
        Self { name: format!("agent {} {agent}", address.unwrap_or("-")), free: 5 }
    }

    /// An address, whatever agents are tried from it. Many may share one.
    pub fn address(address: &str) -> Self {
        Self { name: format!("address {address}"), free: 30 }
    }

    /// The same place once the right passkey was given there: more attempts are free, and they are counted apart. A caller
    /// that is known there is not locked out by a few failures of its neighbours, and nobody guesses any faster for good.
    pub fn once_known(&self) -> Self {
        Self { name: format!("at-known {}", self.name), free: 30 }
    }

    /// The name of the mark that a place is known.
    fn mark(&self) -> String {
        format!("known {}", self.name)
    }
}

/// Too many failed here: nothing is looked at before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slow {
    pub until: i64,
}

pub struct Guesses {
    engine: Arc<Engine>,
}

/// Failures are forgotten this long after the last one.
const FADES: i64 = 15 * 60_000;
/// Where the right passkey was given, and how long that is remembered.
const KNOWN: i64 = 30 * 24 * 3_600_000;

/// After `$3` failures each next attempt waits longer than the one before, a minute at the most.
macro_rules! count {
    ($only_if:literal) => {
        concat!(
            "INSERT INTO team_guesses (place, failures, until, fades_at) VALUES ($1, 1, $2, $4)
            ON CONFLICT (place) DO UPDATE SET
                failures = CASE WHEN team_guesses.fades_at <= $2 THEN 1 ELSE team_guesses.failures + 1 END,
                until = $2 + CASE
                    WHEN team_guesses.fades_at <= $2 OR team_guesses.failures + 1 < $3 THEN 0
                    WHEN team_guesses.failures >= $3 + 6 THEN 60000
                    ELSE 1000 * (team_guesses.failures - $3 + 2) * (team_guesses.failures - $3 + 2) END,
                fades_at = $4 ",
            $only_if,
            " RETURNING place"
        )
    };
}
const TAKE: &str = count!("WHERE team_guesses.until <= $2");
const COUNT: &str = count!("");
const WAITS: &str = "SELECT until FROM team_guesses WHERE place = $1 AND until > $2";
const IS_KNOWN: &str = "SELECT place FROM team_guesses WHERE place = $1 AND fades_at > $2";
const FORGET: &str = "DELETE FROM team_guesses WHERE place = $1";
const REMEMBER: &str = "INSERT INTO team_guesses (place, failures, until, fades_at) VALUES ($1, 0, 0, $2)
    ON CONFLICT (place) DO UPDATE SET fades_at = $2 RETURNING place";
const PURGE: &str = "DELETE FROM team_guesses WHERE fades_at <= $1";

impl Guesses {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }

    /// Takes the next attempt at a place, counted as failed until [`Guesses::good`] says otherwise.
    pub async fn take(&self, place: &Place, now: i64) -> Result<Option<Slow>, StoreError> {
        let write = Write::new(counted(TAKE, place, now));
        if !self.engine.write::<Touched>("count an attempt to sign in", write).await?.is_empty() {
            return Ok(None);
        }
        // it may have been let go in between
        Ok(Some(self.waits(place, now).await?.unwrap_or(Slow { until: now })))
    }

    /// Whether a place has to wait. Nothing is counted.
    pub async fn waits(&self, place: &Place, now: i64) -> Result<Option<Slow>, StoreError> {
        let statement = Statement::new(WAITS, [Value::id(&place.name), Value::int(now)]);
        self.engine.find("look up failed attempts", statement).await
    }

    /// Counts a failure, whether or not the place waits, and forgets what has faded.
    pub async fn failed(&self, place: &Place, now: i64) -> Result<(), StoreError> {
        let write = Write::new(counted(COUNT, place, now)).then(Statement::new(PURGE, [Value::int(now)]));
        self.engine.write::<Touched>("count a failed attempt", write).await.map(drop)
    }

    /// The right passkey was given: what was counted here is forgotten, and the place is known from now on.
    pub async fn good(&self, place: &Place, now: i64) -> Result<(), StoreError> {
        let until = now.saturating_add(KNOWN);
        let write = Write::new(Statement::new(REMEMBER, [Value::id(&place.mark()), Value::int(until)]))
            .then(Statement::new(FORGET, [Value::id(&place.name)]))
            .then(Statement::new(FORGET, [Value::id(&place.once_known().name)]))
            .then(Statement::new(PURGE, [Value::int(now)]));
        self.engine.write::<Touched>("note a good attempt", write).await.map(drop)
    }

    /// Whether the right passkey was given here not long ago.
    pub async fn is_known(&self, place: &Place, now: i64) -> Result<bool, StoreError> {
        let statement = Statement::new(IS_KNOWN, [Value::id(&place.mark()), Value::int(now)]);
        Ok(self.engine.find::<Id>("look up good attempts", statement).await?.is_some())
    }
}

fn counted(sql: &'static str, place: &Place, now: i64) -> Statement {
    let fades = now.saturating_add(FADES);
    Statement::new(sql, [Value::id(&place.name), Value::int(now), Value::int(place.free), Value::int(fades)])
}

impl FromRow for Slow {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        row.int().map(|until| Slow { until })
    }
}
