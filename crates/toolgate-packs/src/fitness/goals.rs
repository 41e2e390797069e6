//! Goals: what a user set, and what the last weeks suggest.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::calendar;
use toolgate_store::fitness::{Activity, Record, RecordKind};

use super::{
    analysis::trends::within,
    athlete::Athlete,
    ids,
    measure::{Measures, count, float, rounded},
    sport,
    undoing::Undo,
};
use crate::{
    failure::{Failure, short},
    times,
};

/// Of one user.
const MOST_GOALS: i64 = 500;
/// Shown with suggestions.
const SHOWN_GOALS: u32 = 20;
/// Weeks that suggestions are made from.
const WEEKS: i64 = 4;
/// How much more than usual is still a step.
const STEP: f64 = 1.1;
/// WHO guidelines on physical activity, 2020: 150 to 300 minutes a week.
const GUIDELINE_MINUTES: (f64, f64) = (150.0, 300.0);

#[derive(Deserialize)]
pub(super) struct Goal {
    goal_type: String,
    target_value: f64,
    timeframe: Option<String>,
    target_date: Option<String>,
    title: Option<String>,
    description: Option<String>,
    #[serde(alias = "sport_type")]
    sport: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Suggest {
    provider: Option<String>,
    goal_category: Option<String>,
}

impl Goal {
    fn content(&self) -> Value {
        let sport = self.sport.as_deref().map(sport::of);
        let title = self.title.clone().unwrap_or_else(|| {
            let of = sport.as_deref().map(|sport| format!(" ({sport})")).unwrap_or_default();
            format!("{}: {}{of}", self.goal_type, self.target_value)
        });
        json!({
            "goal_type": self.goal_type, "target_value": self.target_value, "timeframe": self.timeframe,
            "target_date": self.target_date, "title": title, "description": self.description, "sport": sport,
        })
    }

    /// The schema knows what a date looks like, not which ones there are.
    fn checked(&self) -> Result<(), Failure> {
        let Some(text) = &self.target_date else { return Ok(()) };
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let mut next = || parts.next().flatten();
        let exists = next().zip(next()).zip(next()).is_some_and(|((year, month), day)| {
            (1..=12).contains(&month) && calendar::date(calendar::days(year, month, day)) == (year, month, day)
        });
        let wrong = || Failure::invalid(format!("target_date '{}' is no day of the calendar.", short(text)));
        exists.then_some(()).ok_or_else(wrong)
    }

    pub(super) fn shown(&self) -> Result<Value, Failure> {
        self.checked()?;
        Ok(json!({"goal_id": null, "goal": self.content(), "status": "preview", "dryRun": true}))
    }
}

pub(super) async fn set(athlete: &Athlete, goal: &Goal) -> Result<(Value, Undo), Failure> {
    goal.checked()?;
    let held = athlete.repository.count_records(RecordKind::Goal).await.map_err(|fault| Failure::store(&fault))?;
    if held >= MOST_GOALS {
        return Err(Failure::conflict(format!("There are {MOST_GOALS} goals already.")));
    }
    let content = goal.content();
    let record = Record { id: ids::new("goal"), content: content.to_string(), created_at: times::now() };
    athlete.repository.add_record(RecordKind::Goal, &record).await.map_err(|fault| Failure::store(&fault))?;
    let answer = json!({"goal_id": record.id, "goal": content, "status": "created", "dryRun": false});
    Ok((answer, Undo::Added { kind: super::undoing::Kind::Goal, id: record.id }))
}

pub(super) async fn suggest(athlete: &Athlete, asked: &Suggest) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let activities = within(athlete.activities(provider, None).await?, WEEKS * 7);
    let goals =
        athlete.repository.records(RecordKind::Goal, SHOWN_GOALS).await.map_err(|fault| Failure::store(&fault))?;
    let goals: Vec<Value> = goals.iter().filter_map(shown).collect();
    let minutes = activities.iter().map(|activity| activity.seconds() / 60.0).sum::<f64>() / float(WEEKS);
    let level = match minutes {
        minutes if minutes < GUIDELINE_MINUTES.0 => "beginner",
        minutes if minutes <= GUIDELINE_MINUTES.1 => "intermediate",
        _ => "advanced",
    };
    let wanted = asked.goal_category.as_deref().unwrap_or("all");
    let suggested: Vec<Value> = suggestions(&activities)
        .into_iter()
        .filter(|(category, _)| wanted == "all" || wanted == *category)
        .map(|(_, goal)| goal)
        .collect();
    let message = if activities.is_empty() {
        "No activities yet: import some, and goals follow from them."
    } else {
        "Made from the four weeks up to your newest activity."
    };
    Ok(json!({
        "suggested_goals": suggested,
        "activities_analyzed": activities.len(),
        "fitness_level": level,
        "weekly_minutes": rounded(minutes, 1),
        "provider": provider,
        "active_goals": goals,
        "message": message,
    }))
}

fn shown(record: &Record) -> Option<Value> {
    let mut goal: Value = serde_json::from_str(&record.content).ok()?;
    goal.as_object_mut()?.insert("goal_id".to_owned(), json!(record.id));
    Some(goal)
}

/// Each a step beyond what the last weeks show, with how many of those weeks came near it.
fn suggestions(activities: &[Activity]) -> Vec<(&'static str, Value)> {
    let Some(newest) = activities.first().map(Measures::day) else { return Vec::new() };
    let week = |index: i64| activities.iter().filter(move |activity| (newest - activity.day()) / 7 == index);
    let kilometers: Vec<f64> =
        (0..WEEKS).map(|index| week(index).map(|activity| activity.meters() / 1000.0).sum()).collect();
    let numbers: Vec<f64> = (0..WEEKS).map(|index| count(week(index).count())).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count(values.len());
    let mut all = Vec::new();
    let distance = mean(&kilometers) * STEP;
    if distance > 0.0 {
        let rationale = format!("Ten percent more than the mean of {} km a week.", rounded(mean(&kilometers), 1));
        all.push((
            "distance",
            goal("distance", rounded(distance, 1), "moderate", &rationale, 7, &kilometers, distance),
        ));
    }
    let often = mean(&numbers).floor() + 1.0;
    let rationale = format!("More than the usual {} a week.", rounded(mean(&numbers), 1));
    all.push(("consistency", goal("frequency", often, "easy", &rationale, 28, &numbers, often)));
    let longest = activities.iter().map(Measures::meters).fold(0.0, f64::max) / 1000.0;
    if longest > 0.0 {
        let each: Vec<f64> = (0..WEEKS)
            .map(|index| week(index).map(|activity| activity.meters() / 1000.0).fold(0.0, f64::max))
            .collect();
        let rationale = format!("Ten percent beyond the longest of {} km.", rounded(longest, 1));
        let target = longest * STEP;
        all.push((
            "performance",
            goal("performance", rounded(target, 1), "challenging", &rationale, 28, &each, target),
        ));
    }
    all
}

/// The chance is the share of weeks that came within a tenth of the target, with one of each kind added (Laplace's rule).
fn goal(kind: &str, target: f64, difficulty: &str, why: &str, days: i64, weeks: &[f64], exact: f64) -> Value {
    let near = count(weeks.iter().filter(|week| **week >= exact * 0.9).count());
    let chance = (near + 1.0) / (count(weeks.len()) + 2.0) * 100.0;
    json!({
        "goal_type": kind, "target_value": target, "difficulty": difficulty, "rationale": why,
        "estimated_days": days, "success_probability": rounded(chance, 0),
    })
}
