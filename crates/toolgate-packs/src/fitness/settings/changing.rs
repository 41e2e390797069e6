//! Changing a user's configuration: the profile, single parameters, or both.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_store::fitness::Configuration;

use super::{effective, parameters, problems, profile};
use crate::{
    failure::{Failure, short},
    fitness::{athlete::Athlete, undoing::Undo},
    times,
};

/// Others may change it at the same time; each time one of them got on.
const TRIES: u32 = 16;

#[derive(Deserialize)]
pub(in crate::fitness) struct Change {
    profile: Option<String>,
    parameters: Option<Map<String, Value>>,
}

/// The configuration before and after.
pub(in crate::fitness) struct Changed {
    before: Option<Configuration>,
    profile: Option<String>,
    parameters: Map<String, Value>,
}

impl Changed {
    pub(in crate::fitness) fn content(&self, message: &str, dry: bool) -> Value {
        json!({
            "profile": self.profile,
            "parameters": self.parameters,
            "effective": effective(self.profile.as_deref(), &self.parameters),
            "message": message,
            "dryRun": dry,
        })
    }
}

/// What a change would make of the configuration as it is.
pub(in crate::fitness) async fn changed_by(athlete: &Athlete, change: &Change) -> Result<Changed, Failure> {
    if change.profile.is_none() && change.parameters.is_none() {
        return Err(Failure::invalid("At least profile or parameters required"));
    }
    if let Some(unknown) = change.profile.as_deref().filter(|name| profile(name).is_none()) {
        return Err(Failure::invalid(format!(
            "Unknown profile '{}'. Call get_configuration_profiles.",
            short(unknown)
        )));
    }
    let before = athlete.repository.configuration().await.map_err(|fault| Failure::store(&fault))?;
    let mut own = before.as_ref().map(parameters).unwrap_or_default();
    for (key, value) in change.parameters.iter().flatten() {
        if value.is_null() {
            own.shift_remove(key);
        } else {
            own.insert(key.clone(), value.clone());
        }
    }
    let problems = problems(&own);
    if !problems.is_empty() {
        return Err(Failure::invalid(format!("Invalid configuration: {}", problems.join("; "))));
    }
    let name = change.profile.clone().or_else(|| before.as_ref().and_then(|before| before.profile.clone()));
    Ok(Changed { before, profile: name, parameters: own })
}

pub(in crate::fitness) async fn change(athlete: &Athlete, wanted: &Change) -> Result<(Value, Undo), Failure> {
    for _ in 0..TRIES {
        let changed = changed_by(athlete, wanted).await?;
        let revision = changed.before.as_ref().map_or(0, |before| before.revision);
        let text = Value::Object(changed.parameters.clone()).to_string();
        let stored = athlete.repository.configure(changed.profile.as_deref(), &text, revision, times::now()).await;
        if let Some(stored) = stored.map_err(|fault| Failure::store(&fault))? {
            let content = changed.content("Configuration updated.", false);
            let undo = Undo::Configured {
                revision: stored.revision,
                profile: changed.before.as_ref().and_then(|before| before.profile.clone()),
                parameters: changed.before.as_ref().map(parameters).unwrap_or_default(),
            };
            return Ok((content, undo));
        }
    }
    Err(Failure::conflict("The configuration is being changed by others. Try again."))
}
