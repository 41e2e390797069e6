//! What one user trains, eats and wants: connections, activities, goals, recipes, and the body's own figures.
//!
//! INVARIANT: every statement says `user_id = $1` with the user the repository was made for, so another user's record and one
//! that does not exist are the same to it.

mod activities;
mod configuration;
mod connections;
mod records;

use std::sync::Arc;

pub use self::{
    activities::{Activity, ActivityFilter, ActivityTotals, Figures, NewActivity, Place},
    configuration::Configuration,
    connections::Connection,
    records::{Record, RecordKind},
};
use crate::{
    StoreError,
    engine::Engine,
    statement::{Value, check_id},
};

/// Made for exactly one user; nothing outside that user's records exists for it.
pub struct FitnessRepository {
    engine: Arc<Engine>,
    user: String,
}

impl FitnessRepository {
    pub(crate) fn new(engine: Arc<Engine>, user: &str) -> Result<Self, StoreError> {
        check_id(user).map_err(|fault| fault.during("open a user's fitness records"))?;
        Ok(Self { engine, user: user.to_owned() })
    }

    fn user(&self) -> Value {
        Value::id(&self.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_about_one_user() {
        let all = [activities::STATEMENTS, configuration::STATEMENTS, connections::STATEMENTS, records::STATEMENTS];
        for sql in all.concat() {
            assert!(sql.contains("user_id = $1") || sql.contains("VALUES ($1, "), "{sql}");
        }
    }
}
