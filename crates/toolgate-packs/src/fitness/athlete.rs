//! Who calls, with what is theirs: connection, activities, figures.

use toolgate_store::fitness::{Activity, ActivityFilter, FitnessRepository};

use super::{
    samples::{self, Sample},
    settings::Settings,
};
use crate::failure::{Failure, short};

/// The one source of activities there is.
pub(super) const FILES: &str = "files";
/// Activities that an analysis looks at, newest first.
pub(super) const MOST_ACTIVITIES: i64 = 2_000;

pub(super) struct Athlete {
    pub(super) user: String,
    pub(super) repository: FitnessRepository,
}

/// A source by its name, which may be left out.
pub(super) fn provider(given: Option<&str>) -> Result<&'static str, Failure> {
    match given {
        None | Some(FILES) => Ok(FILES),
        Some(other) => {
            let other = short(other);
            Err(Failure::invalid(format!("Invalid provider '{other}'. Supported providers are: {FILES}")))
        }
    }
}

impl Athlete {
    /// A source that is connected.
    pub(super) async fn connected(&self, given: Option<&str>) -> Result<&'static str, Failure> {
        let provider = provider(given)?;
        let connection = self.repository.connection(provider).await.map_err(|fault| Failure::store(&fault))?;
        connection.map(|_| provider).ok_or_else(|| Failure {
            error: format!("No valid token for {provider}. Please connect using the connect_provider tool first."),
            code: "not_connected",
        })
    }

    /// The same words for one that does not exist and for another user's.
    pub(super) async fn activity(&self, provider: &str, id: &str) -> Result<Activity, Failure> {
        let found = self.repository.activity(provider, id).await.map_err(|fault| Failure::store(&fault))?;
        found.ok_or_else(|| Failure::not_found(format!("Activity '{}' not found", short(id))))
    }

    pub(super) async fn samples(&self, provider: &str, id: &str) -> Result<Vec<Sample>, Failure> {
        let packed = self.repository.samples(provider, id).await.map_err(|fault| Failure::store(&fault))?;
        Ok(packed.and_then(|packed| samples::unpack(&packed)).unwrap_or_default())
    }

    /// All of one sport or of every one, newest first.
    pub(super) async fn activities(&self, provider: &str, sport: Option<&str>) -> Result<Vec<Activity>, Failure> {
        let filter = ActivityFilter { sport, ..ActivityFilter::all(provider, MOST_ACTIVITIES) };
        self.repository.activities(&filter).await.map_err(|fault| Failure::store(&fault))
    }

    pub(super) async fn settings(&self) -> Result<Settings, Failure> {
        let stored = self.repository.configuration().await.map_err(|fault| Failure::store(&fault))?;
        Ok(stored.map_or_else(Settings::default, |stored| Settings::of(&stored)))
    }
}
