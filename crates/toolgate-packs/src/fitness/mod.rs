//! The fitness pack: activities out of a user's own files, what can be said of them, goals, food, and the figures all of it
//! rests on.
//!
//! Tools call use cases, use cases call a repository made for one user. Formulas and their sources are in docs/fitness.md.

mod activities;
mod analysis;
mod athlete;
mod config;
mod connections;
mod facts;
mod files;
mod folder;
mod format;
mod globe;
mod goals;
mod ids;
mod importing;
mod measure;
mod nutrition;
mod recipes;
mod samples;
mod settings;
mod sport;
mod summary;
mod track;
mod undoing;

use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};
use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Previewed, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::Store;

use crate::{
    definitions::{BadPack, compact, offers},
    failure::{Failure, undo_fault},
    whole_numbers::read_arguments,
};
use analysis::{compare, intelligence, metrics, patterns, trends};
use athlete::Athlete;
use format::Format;
use nutrition::{foods, meal, needs};
use undoing::{Stays, Undo};

pub use config::{FitnessConfig, FitnessProblem};

/// A file for each part of the pack.
const DEFINITIONS: [&str; 4] = [
    include_str!("tools/data.json"),
    include_str!("tools/analysis.json"),
    include_str!("tools/food.json"),
    include_str!("tools/settings.json"),
];

/// The pack's tools, without the store and the files that running them takes.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    let parts = DEFINITIONS.iter().map(|part| offers("pack 'fitness'", &compact(part), facts::facts));
    Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
}

pub struct FitnessPack {
    store: Store,
    files: PathBuf,
    offers: Vec<ToolOffer>,
}

/// What takes a change back, and whose it was: an operator may take back what others did.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    user: String,
    change: Undo,
}

impl FitnessPack {
    pub fn new(store: Store, config: &FitnessConfig) -> Result<Self, FitnessProblem> {
        if config.must_exist && !config.files.is_dir() {
            return Err(FitnessProblem::NoFolder(config.files.display().to_string()));
        }
        Ok(Self { store, files: config.files.clone(), offers: offered()? })
    }

    async fn answer(&self, tool: &str, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
        // the gate keeps dry runs from getting here; should one ever, it still changes nothing
        if is_dry(arguments)
            && let Some(shown) = self.shown(tool, arguments).await?
        {
            return Format::Json.write(&shown);
        }
        if let Some(content) = of_nobody(tool, arguments)? {
            return Format::of(arguments).write(&content);
        }
        let athlete = self.athlete(arguments)?;
        let content = match tool {
            "get_activities" => activities::list(&athlete, &read(arguments)?).await?,
            "get_athlete" => activities::athlete_of(&athlete, &read(arguments)?).await?,
            "get_stats" => activities::stats(&athlete, &read(arguments)?).await?,
            "get_activity_intelligence" => intelligence::intelligence(&athlete, &read(arguments)?).await?,
            "analyze_activity" => intelligence::analyze(&athlete, &read(arguments)?).await?,
            "calculate_metrics" => metrics::calculate(&athlete, &read(arguments)?).await?,
            "analyze_performance_trends" => trends::trends(&athlete, &read(arguments)?).await?,
            "compare_activities" => compare::compare(&athlete, &read(arguments)?).await?,
            "detect_patterns" => patterns::detect(&athlete, &read(arguments)?).await?,
            "suggest_goals" => goals::suggest(&athlete, &read(arguments)?).await?,
            "get_connection_status" => connections::status(&athlete, &read(arguments)?).await?,
            _ => return self.change(tool, &athlete, arguments).await,
        };
        Format::of(arguments).write(&content)
    }

    async fn change(&self, tool: &str, athlete: &Athlete, arguments: &RawValue) -> Result<ToolAnswer, Failure> {
        let always = |(content, undo): (Value, Undo)| (content, Some(undo));
        let (content, undo) = match tool {
            "connect_provider" => connections::connect(athlete, &self.files, read(arguments)?).await?,
            "disconnect_provider" => connections::disconnect(athlete, &read(arguments)?).await?,
            "set_goal" => always(goals::set(athlete, &read(arguments)?).await?),
            "save_recipe" => always(recipes::save(athlete, &read(arguments)?).await?),
            "delete_recipe" => always(recipes::delete(athlete, &read(arguments)?).await?),
            "update_user_configuration" => always(settings::change(athlete, &read(arguments)?).await?),
            _ => return Err(Failure::not_found("The pack has no such tool.")),
        };
        let final_because = match tool {
            "disconnect_provider" => "The activities were deleted; import the files again to have them back.",
            _ => "Nothing is left to take back.",
        };
        taken_back(&content, &athlete.user, undo, final_because)
    }

    /// What a change would change; `None` for tools that change nothing.
    async fn shown(&self, tool: &str, arguments: &RawValue) -> Result<Option<Value>, Failure> {
        let athlete = || self.athlete(arguments);
        Ok(Some(match tool {
            "connect_provider" => connections::shown(&athlete()?, &self.files, read(arguments)?).await?,
            "disconnect_provider" => connections::shown_end(&athlete()?, &read(arguments)?).await?,
            "set_goal" => read::<goals::Goal>(arguments)?.shown()?,
            "save_recipe" => read::<recipes::Recipe>(arguments)?.shown()?,
            "delete_recipe" => recipes::shown_deletion(&athlete()?, &read(arguments)?).await?,
            "update_user_configuration" => {
                let changed = settings::changed_by(&athlete()?, &read(arguments)?).await?;
                changed.content("It would be changed to this.", true)
            }
            _ => return Ok(None),
        }))
    }

    fn athlete(&self, arguments: &RawValue) -> Result<Athlete, Failure> {
        #[derive(Deserialize)]
        struct Bound {
            user_id: String,
        }
        let Bound { user_id } = read(arguments)?;
        self.athlete_named(user_id).map_err(|fault| Failure::store(&fault))
    }

    fn athlete_named(&self, user: String) -> Result<Athlete, toolgate_store::StoreError> {
        Ok(Athlete { repository: self.store.fitness(&user)?, user })
    }
}

/// Tools that are about no user.
fn of_nobody(tool: &str, arguments: &RawValue) -> Result<Option<Value>, Failure> {
    #[derive(Deserialize)]
    struct Validate {
        parameters: Map<String, Value>,
    }
    Ok(Some(match tool {
        "calculate_daily_nutrition" => needs::daily(&read(arguments)?)?,
        "search_food" => foods::search(&read(arguments)?)?,
        "get_food_details" => foods::details(&read(arguments)?)?,
        "analyze_meal_nutrition" => meal::analyze(&read(arguments)?)?,
        "get_configuration_catalog" => settings::catalog(),
        "get_configuration_profiles" => settings::profiles(),
        "validate_configuration" => settings::validated(&read::<Validate>(arguments)?.parameters),
        _ => return Ok(None),
    }))
}

#[async_trait]
impl ToolSource for FitnessPack {
    fn name(&self) -> &str {
        "fitness"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let answer = self.answer(call.tool().own_name.as_str(), call.arguments()).await;
        Ok(answer.unwrap_or_else(Failure::into_answer))
    }

    async fn preview(&self, call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        let shown = self.shown(call.tool().own_name.as_str(), call.arguments()).await;
        let answer = shown.and_then(|shown| shown.map(|shown| Format::Json.write(&shown)).transpose());
        Ok(answer.unwrap_or_else(|failure| Some(failure.into_answer())))
    }

    async fn undo(&self, _call: Recorded, undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let unreadable = |fault| SourceFault::Conflict(format!("what takes it back can't be read: {fault}"));
        let Back { user, change } = serde_json::from_str(undo.get()).map_err(unreadable)?;
        let athlete = self.athlete_named(user).map_err(|fault| undo_fault(&fault))?;
        match undoing::undo(&athlete, change).await {
            Ok((content, again)) => {
                let answer = taken_back(&content, &athlete.user, again, "Import the files again to have them back.");
                Ok(answer.unwrap_or_else(Failure::into_answer))
            }
            Err(Stays::Conflict(why)) => Err(SourceFault::Conflict(why.to_owned())),
            Err(Stays::Store(fault)) => Err(undo_fault(&fault)),
            Err(Stays::HalfDone(fault)) => Err(SourceFault::unavailable(Failure::store(&fault).error)),
        }
    }

    fn word(&self, _tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        Some(Failure::of_arguments(fault).into_answer())
    }
}

/// An answer with what takes it back, or why nothing does.
fn taken_back(content: &Value, user: &str, undo: Option<Undo>, why_not: &str) -> Result<ToolAnswer, Failure> {
    let answer = Format::Json.write(content)?;
    let Some(change) = undo else { return Ok(answer.never_undone(why_not)) };
    let back = to_raw_value(&Back { user: user.to_owned(), change });
    Ok(answer.undone_by(back.map_err(|_| Failure::internal("The answer can't be written."))?))
}

fn read<T: DeserializeOwned>(arguments: &RawValue) -> Result<T, Failure> {
    read_arguments(arguments.get()).map_err(|fault| Failure::invalid(misread(arguments, &fault)))
}

/// The schema has let the arguments through, so that most often a whole number is larger than any that is meant.
fn misread(arguments: &RawValue, fault: &serde_json::Error) -> String {
    let members: Map<String, Value> = serde_json::from_str(arguments.get()).unwrap_or_default();
    let vast = |value: &Value| value.as_i64().is_none() && value.as_f64().is_some_and(|number| number.abs() >= 9e18);
    match members.iter().find(|(_, value)| vast(value)) {
        Some((name, _)) => format!("Argument '{name}' is out of range: it is too large a number."),
        None => format!("Invalid arguments: {fault}."),
    }
}

fn is_dry(arguments: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Dry {
        dry_run: Option<bool>,
    }
    serde_json::from_str::<Dry>(arguments.get()).is_ok_and(|dry| dry.dry_run == Some(true))
}
