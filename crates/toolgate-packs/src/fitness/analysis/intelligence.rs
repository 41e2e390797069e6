//! One activity: what it was, what stands out, and what follows from it.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::fitness::{Activity, Place};

use super::heart::{self, Highest};
use crate::{
    failure::Failure,
    fitness::{
        athlete::Athlete,
        globe,
        measure::{Measures, clock, float, rounded},
        samples::Sample,
        settings::Settings,
        sport,
    },
    times,
};

/// Ends this near to each other are one place.
const SAME_PLACE_METERS: f64 = 200.0;
/// More drift than this is more than a steady effort has.
const STEADY_PERCENT: f64 = 5.0;

#[derive(Deserialize)]
pub(in crate::fitness) struct Asked {
    provider: Option<String>,
    activity_id: String,
    include_location: Option<bool>,
    include_weather: Option<bool>,
}

/// Everything that is known of one activity.
struct Known {
    activity: Activity,
    samples: Vec<Sample>,
    settings: Settings,
    highest: Highest,
}

async fn known(athlete: &Athlete, provider: &str, id: &str) -> Result<Known, Failure> {
    let activity = athlete.activity(provider, id).await?;
    let samples = athlete.samples(provider, id).await?;
    let settings = athlete.settings().await?;
    let highest = heart::highest(None, None, &settings);
    Ok(Known { activity, samples, settings, highest })
}

pub(in crate::fitness) async fn intelligence(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let known = known(athlete, provider, &asked.activity_id).await?;
    let mut intelligence = said(&known);
    if let Some(said) = intelligence.as_object_mut() {
        if asked.include_location.unwrap_or(true) {
            said.insert("location".to_owned(), location(&known.activity));
        }
        if asked.include_weather.unwrap_or(true) {
            // no service is asked: files have no weather in them
            said.insert("weather".to_owned(), Value::Null);
        }
    }
    Ok(answer(&known.activity, intelligence))
}

pub(in crate::fitness) async fn analyze(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let known = known(athlete, provider, &asked.activity_id).await?;
    let mut content = answer(&known.activity, said(&known));
    if let Some(content) = content.as_object_mut() {
        let measured = |name: &'static str, is_there: bool| is_there.then_some(name);
        let figures = &known.activity.figures;
        let measured: Vec<&str> = [
            measured("distance", figures.distance_cm > 0),
            measured("heart_rate", figures.average_heart_rate.is_some()),
            measured("power", figures.average_power.is_some()),
            measured("cadence", figures.average_cadence.is_some()),
            measured("calories", figures.calories.is_some()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let metadata = json!({
            "provider": provider, "name": known.activity.name, "samples": known.samples.len(), "measured": measured,
            "max_hr_used": known.highest.rate, "max_hr_source": known.highest.source,
        });
        content.insert("metadata".to_owned(), metadata);
    }
    Ok(content)
}

fn answer(activity: &Activity, intelligence: Value) -> Value {
    json!({
        "activity_id": activity.id,
        "activity_type": activity.sport,
        "timestamp": times::iso(activity.started_at),
        "intelligence": intelligence,
    })
}

fn said(known: &Known) -> Value {
    let Known { activity, samples, settings, highest } = known;
    let zones = heart::zones(samples, highest.rate, settings.resting_hr);
    let hard: f64 = zones.iter().skip(3).map(|zone| zone.percent).sum();
    let drift = heart::decoupling(samples);
    let impulse = settings.resting_hr.zip(activity.heart_rate()).and_then(|(resting, average)| {
        heart::impulse(activity.moving_seconds() / 60.0, average, highest.rate, resting, settings.sex)
    });
    let mut insights = Vec::new();
    let mut recommendations = Vec::new();
    if let (Some(pace), Some(speed)) = (activity.pace(), activity.speed()) {
        insights.push(format!("{} a kilometer while moving, {} km/h.", clock(pace), rounded(speed, 1)));
    }
    if let Some(faster) = second_half(samples) {
        insights.push(match faster {
            faster if faster > 1.0 => format!("The second half was {} % faster than the first.", rounded(faster, 1)),
            faster if faster < -1.0 => format!("The second half was {} % slower than the first.", rounded(-faster, 1)),
            _ => "Both halves were equally fast.".to_owned(),
        });
    }
    if activity.climbed_meters() >= 1.0 && activity.meters() > 0.0 {
        let per_kilometer = activity.climbed_meters() / (activity.meters() / 1000.0);
        insights.push(format!(
            "{} m of climbing, {} m a kilometer.",
            rounded(activity.climbed_meters(), 0),
            rounded(per_kilometer, 0)
        ));
    }
    if let Some(drift) = drift {
        let rounded = rounded(drift, 1);
        if drift > STEADY_PERCENT {
            insights.push(format!("Heart rate drifted: a meter took {rounded} % more in the second half."));
            recommendations
                .push("Hold long easy efforts at a lower heart rate until the drift stays under 5 %.".to_owned());
        } else {
            insights.push(format!("Heart rate kept step with speed ({rounded} % drift)."));
        }
    }
    if !zones.is_empty() {
        insights.push(format!("{} % of the time was in the two highest heart rate zones.", rounded(hard, 0)));
        if hard >= 40.0 {
            recommendations.push("That was hard: keep the next day easy.".to_owned());
        }
    } else {
        recommendations.push("Record heart rate: zones, drift and load need it.".to_owned());
    }
    if highest.source == "default_assumed" && !zones.is_empty() {
        recommendations.push(
            "Set max_hr or age with update_user_configuration: zones are by an assumed highest heart rate.".to_owned(),
        );
    }
    json!({
        "summary": summary(activity),
        "insights": insights,
        "recommendations": recommendations,
        "performance_metrics": {
            "distance_km": rounded(activity.meters() / 1000.0, 2),
            "duration_minutes": rounded(activity.seconds() / 60.0, 1),
            "moving_minutes": rounded(activity.moving_seconds() / 60.0, 1),
            "elevation_meters": rounded(activity.climbed_meters(), 1),
            "average_heart_rate": activity.heart_rate(),
            "max_heart_rate": activity.figures.max_heart_rate,
            "average_power": activity.figures.average_power,
            "calories": activity.figures.calories,
            "pace_seconds_per_km": activity.pace().map(|pace| rounded(pace, 1)),
            "speed_kmh": activity.speed().map(|speed| rounded(speed, 2)),
            "trimp": impulse.map(|impulse| rounded(impulse, 1)),
            "decoupling_percent": drift.map(|drift| rounded(drift, 1)),
            "heart_rate_zones": zones,
        },
    })
}

fn summary(activity: &Activity) -> String {
    let mut parts = vec![sport::titled(&activity.sport)];
    if activity.figures.distance_cm > 0 {
        parts.push(format!("of {} km", rounded(activity.meters() / 1000.0, 2)));
    }
    parts.push(format!("in {}", clock(activity.seconds())));
    if let Some(rate) = activity.heart_rate() {
        parts.push(format!("at an average heart rate of {}", rounded(rate, 0)));
    }
    format!("{}.", parts.join(" "))
}

/// By how many percent the second half of the distance was faster.
fn second_half(samples: &[Sample]) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let half = first.decimeters + (last.decimeters - first.decimeters) / 2;
    let middle = samples.iter().find(|sample| sample.decimeters >= half)?;
    let (one, other) = (float(middle.second - first.second), float(last.second - middle.second));
    let (near, far) = (float(middle.decimeters - first.decimeters), float(last.decimeters - middle.decimeters));
    (one > 0.0 && other > 0.0 && near > 0.0 && far > 0.0).then(|| ((far / other) / (near / one) - 1.0) * 100.0)
}

fn location(activity: &Activity) -> Value {
    let degrees = |place: Place| (float(place.latitude) / 1e6, float(place.longitude) / 1e6);
    match (activity.figures.start.map(degrees), activity.figures.end.map(degrees)) {
        (Some(start), Some(end)) => json!({
            "start": {"latitude": start.0, "longitude": start.1},
            "end": {"latitude": end.0, "longitude": end.1},
            "is_loop": globe::meters(start, end) <= SAME_PLACE_METERS,
        }),
        _ => Value::Null,
    }
}
