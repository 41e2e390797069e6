//! Single figures of an activity, or of one that the caller describes.

use serde::Deserialize;
use serde_json::{Value, json};

use super::heart;
use crate::{
    failure::Failure,
    fitness::{
        athlete::Athlete,
        measure::{self, Measures, clock, rounded},
    },
};

#[derive(Deserialize)]
pub(in crate::fitness) struct Asked {
    provider: Option<String>,
    activity_id: Option<String>,
    activity: Option<Described>,
    metrics: Option<Vec<String>>,
    max_hr: Option<f64>,
    age: Option<f64>,
}

/// An activity in the caller's own figures.
#[derive(Deserialize)]
struct Described {
    #[serde(alias = "distance")]
    distance_meters: Option<f64>,
    #[serde(alias = "duration")]
    duration_seconds: f64,
    average_heart_rate: Option<f64>,
    average_power: Option<f64>,
}

pub(in crate::fitness) async fn calculate(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let described = match (&asked.activity, &asked.activity_id) {
        (Some(described), _) => Described { ..*described },
        (None, Some(id)) => {
            let provider = athlete.connected(asked.provider.as_deref()).await?;
            let activity = athlete.activity(provider, id).await?;
            Described {
                distance_meters: Some(activity.meters()).filter(|meters| *meters > 0.0),
                duration_seconds: activity.moving_seconds(),
                average_heart_rate: activity.heart_rate(),
                average_power: activity.power(),
            }
        }
        (None, None) => return Err(Failure::invalid("Either activity_id or activity is required")),
    };
    let settings = athlete.settings().await?;
    let highest = heart::highest(asked.max_hr, asked.age, &settings);
    let (meters, seconds) = (described.distance_meters.unwrap_or_default(), described.duration_seconds);
    let (pace, speed) = (measure::pace(meters, seconds), measure::speed(meters, seconds));
    let rate = described.average_heart_rate.filter(|rate| *rate > 0.0);
    let intensity = rate.map(|rate| rate / highest.rate * 100.0);
    // meters a minute for each beat a minute
    let efficiency = speed.zip(rate).map(|(speed, rate)| speed / 3.6 * 60.0 / rate);
    let impulse = settings
        .resting_hr
        .zip(rate)
        .and_then(|(resting, rate)| heart::impulse(seconds / 60.0, rate, highest.rate, resting, settings.sex));
    let to_weight = described.average_power.zip(settings.weight_kg).map(|(power, weight)| power / weight);
    let to_threshold = described.average_power.zip(settings.ftp).map(|(power, ftp)| power / ftp * 100.0);
    let wanted = |name: &str| asked.metrics.as_ref().is_none_or(|metrics| metrics.iter().any(|metric| metric == name));
    let metrics = [
        ("pace", pace, 1),
        ("speed", speed, 2),
        ("intensity_score", intensity, 1),
        ("efficiency_score", efficiency, 3),
        ("trimp", impulse, 1),
        ("power_to_weight", to_weight, 2),
        ("power_to_threshold", to_threshold, 1),
    ];
    let mut content = serde_json::Map::new();
    let mut missing = Vec::new();
    for (name, value, digits) in metrics.into_iter().filter(|(name, ..)| wanted(short(name))) {
        if value.is_none() {
            missing.push(name);
        }
        content.insert(name.to_owned(), json!(value.map(|value| rounded(value, digits))));
    }
    content.insert("max_hr_used".to_owned(), json!(highest.rate));
    content.insert("max_hr_source".to_owned(), json!(highest.source));
    content.insert("metrics_summary".to_owned(), json!(summary(pace, intensity, &missing)));
    Ok(Value::Object(content))
}

/// What callers call it in `metrics`.
fn short(name: &str) -> &str {
    name.strip_suffix("_score").unwrap_or(name)
}

fn summary(pace: Option<f64>, intensity: Option<f64>, missing: &[&str]) -> String {
    let mut parts = Vec::new();
    parts.extend(pace.map(|pace| format!("{} a kilometer", clock(pace))));
    parts.extend(intensity.map(|intensity| format!("{} % of the highest heart rate", rounded(intensity, 0))));
    if !missing.is_empty() {
        parts.push(format!("not known: {}", missing.join(", ")));
    }
    if parts.is_empty() { "Nothing was asked for.".to_owned() } else { format!("{}.", parts.join("; ")) }
}
