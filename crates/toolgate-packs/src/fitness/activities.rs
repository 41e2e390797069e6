//! A user's activities as lists and sums.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::fitness::{Activity, ActivityFilter};

use super::{
    athlete::Athlete,
    format::Format,
    measure::{Measures, clock, float, rounded},
    sport,
};
use crate::{failure::Failure, times};

#[derive(Deserialize)]
pub(super) struct List {
    provider: Option<String>,
    limit: Option<i64>,
    offset: Option<i64>,
    sport_type: Option<String>,
    /// Unix seconds.
    before: Option<i64>,
    after: Option<i64>,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    format: Format,
}

#[derive(Deserialize)]
pub(super) struct OfProvider {
    provider: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Summary,
    Detailed,
}

impl List {
    fn limit(&self) -> i64 {
        let usual = match (self.format, self.mode) {
            (Format::Json, Mode::Summary) => 20,
            (Format::Json, Mode::Detailed) => 10,
            (Format::Toon, Mode::Summary) => 200,
            (Format::Toon, Mode::Detailed) => 25,
        };
        self.limit.unwrap_or(usual)
    }
}

pub(super) async fn list(athlete: &Athlete, asked: &List) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let (limit, offset) = (asked.limit(), asked.offset.unwrap_or(0));
    let sport = asked.sport_type.as_deref().map(sport::of);
    let milliseconds = |seconds: Option<i64>| seconds.map(|seconds| seconds.saturating_mul(1000));
    let filter = ActivityFilter {
        provider,
        sport: sport.as_deref(),
        after: milliseconds(asked.after),
        before: milliseconds(asked.before),
        limit: limit + 1,
        offset,
    };
    let mut found = athlete.repository.activities(&filter).await.map_err(|fault| Failure::store(&fault))?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = found.len() > most;
    found.truncate(most);
    let (activities, mode): (Vec<Value>, _) = match asked.mode {
        Mode::Summary => (found.iter().map(summary).collect(), "summary"),
        Mode::Detailed => (found.iter().map(detailed).collect(), "detailed"),
    };
    let text = found.iter().map(line).collect::<Vec<_>>().join("\n");
    let context = match &sport {
        Some(sport) => format!("Newest first, {sport} alone."),
        None => "Newest first, all sports.".to_owned(),
    };
    // about four letters to a token
    let tokens = serde_json::to_string(&activities).map_or(0, |text| text.len().div_ceil(4));
    Ok(json!({
        "count": activities.len(),
        "activities": activities,
        "activity_list": text,
        "provider": provider,
        "mode": mode,
        "format": asked.format.name(),
        "offset": offset,
        "limit": limit,
        "has_more": has_more,
        "token_estimate": tokens,
        "retrieval_context": context,
    }))
}

fn summary(activity: &Activity) -> Value {
    json!({
        "id": activity.id,
        "name": activity.name,
        "sport_type": activity.sport,
        "start_date": times::iso(activity.started_at),
        "distance_meters": rounded(activity.meters(), 1),
        "duration_seconds": activity.figures.elapsed_s,
    })
}

fn detailed(activity: &Activity) -> Value {
    let mut all = summary(activity);
    let figures = &activity.figures;
    let degrees = |millionths: i64| float(millionths) / 1e6;
    let more = json!({
        "moving_seconds": figures.moving_s,
        "elevation_gain_meters": rounded(activity.climbed_meters(), 1),
        "average_heart_rate": activity.heart_rate(),
        "max_heart_rate": figures.max_heart_rate,
        "average_power": figures.average_power,
        "max_power": figures.max_power,
        "average_cadence": figures.average_cadence,
        "calories": figures.calories,
        "average_speed_kmh": activity.speed().map(|speed| rounded(speed, 2)),
        "start_latitude": figures.start.map(|place| degrees(place.latitude)),
        "start_longitude": figures.start.map(|place| degrees(place.longitude)),
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

fn line(activity: &Activity) -> String {
    let date = times::iso(activity.started_at);
    let day = date.get(..10).unwrap_or_default();
    let kilometers = rounded(activity.meters() / 1000.0, 2);
    format!("{day} {}: {kilometers} km in {} ({})", activity.name, clock(activity.seconds()), activity.id)
}

pub(super) async fn athlete_of(athlete: &Athlete, asked: &OfProvider) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    Ok(json!({"athlete": {"id": athlete.user, "username": athlete.user, "provider": provider}}))
}

pub(super) async fn stats(athlete: &Athlete, asked: &OfProvider) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let totals = athlete.repository.totals(provider).await.map_err(|fault| Failure::store(&fault))?;
    Ok(json!({"stats": {
        "total_activities": totals.activities,
        "total_distance": rounded(float(totals.distance_cm) / 100.0, 1),
        "total_duration": totals.elapsed_s,
        "total_elevation_gain": rounded(float(totals.elevation_gain_cm) / 100.0, 1),
    }}))
}
