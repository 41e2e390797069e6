//! One activity beside others: similar ones, the best, the average, the last few, or one that is named.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::fitness::Activity;

use crate::{
    failure::Failure,
    fitness::{
        athlete::Athlete,
        measure::{Measures, count, rounded},
    },
};

/// Similar or recent ones that are looked at.
const FEW: usize = 5;
/// The best pace is looked for among those that are at least about as long.
const LONG_ENOUGH: f64 = 0.9;

#[derive(Deserialize)]
pub(in crate::fitness) struct Asked {
    provider: Option<String>,
    activity_id: String,
    comparison_type: Kind,
    compare_activity_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    SimilarActivities,
    #[serde(alias = "pr_comparison")]
    PersonalBest,
    Average,
    Recent,
    SpecificActivity,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::SimilarActivities => "similar_activities",
            Self::PersonalBest => "personal_best",
            Self::Average => "average",
            Self::Recent => "recent",
            Self::SpecificActivity => "specific_activity",
        }
    }
}

/// A figure, how to read it, and whether less of it is better.
type Figure = (&'static str, fn(&Activity) -> Option<f64>, bool);
const FIGURES: [Figure; 6] = [
    ("pace", |activity| activity.pace(), true),
    ("speed", |activity| activity.speed(), false),
    ("distance", |activity| Some(activity.meters()).filter(|meters| *meters > 0.0), false),
    ("duration", |activity| Some(activity.seconds()), false),
    ("elevation", |activity| Some(activity.climbed_meters()).filter(|meters| *meters > 0.0), false),
    ("heart_rate", |activity| activity.heart_rate(), true),
];

pub(in crate::fitness) async fn compare(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let current = athlete.activity(provider, &asked.activity_id).await?;
    let settings = athlete.settings().await?;
    let others = match (asked.comparison_type, &asked.compare_activity_id) {
        (Kind::SpecificActivity, Some(id)) => vec![athlete.activity(provider, id).await?],
        (Kind::SpecificActivity, None) => {
            return Err(Failure::invalid("compare_activity_id is required for specific_activity"));
        }
        (kind, _) => {
            let all = athlete.activities(provider, Some(&current.sport)).await?;
            let others = all.into_iter().filter(|other| other.id != current.id).collect();
            chosen(kind, &current, others, settings.similar_distance_percent)
        }
    };
    let comparisons: Vec<Value> =
        FIGURES.iter().filter_map(|figure| beside(asked.comparison_type, figure, &current, &others)).collect();
    Ok(json!({
        "activity_id": current.id,
        "comparison_type": asked.comparison_type.name(),
        "comparison_count": others.len(),
        "sport_type": current.sport,
        "insights": insights(asked.comparison_type, &comparisons, others.len()),
        "comparisons": comparisons,
    }))
}

/// Of others of the same sport, newest first.
fn chosen(kind: Kind, current: &Activity, others: Vec<Activity>, percent: f64) -> Vec<Activity> {
    let most = if matches!(kind, Kind::SimilarActivities | Kind::Recent) { FEW } else { usize::MAX };
    let counts = |other: &Activity| match kind {
        Kind::SimilarActivities => (other.meters() - current.meters()).abs() <= current.meters() * percent / 100.0,
        Kind::Recent => other.started_at < current.started_at,
        _ => true,
    };
    others.into_iter().filter(counts).take(most).collect()
}

fn beside(kind: Kind, &(name, of, low): &Figure, current: &Activity, others: &[Activity]) -> Option<Value> {
    let now = of(current)?;
    let comparable = |other: &&Activity| {
        kind != Kind::PersonalBest
            || !matches!(name, "pace" | "speed")
            || other.meters() >= current.meters() * LONG_ENOUGH
    };
    let values: Vec<f64> = others.iter().filter(comparable).filter_map(of).collect();
    let reference = match kind {
        Kind::PersonalBest if low => values.iter().copied().reduce(f64::min)?,
        Kind::PersonalBest => values.iter().copied().reduce(f64::max)?,
        _ if values.is_empty() => return None,
        _ => values.iter().sum::<f64>() / count(values.len()),
    };
    let difference = (reference.abs() > f64::EPSILON).then(|| (now - reference) / reference.abs() * 100.0);
    Some(json!({
        "metric": name,
        "current": rounded(now, 2),
        "average": rounded(reference, 2),
        "difference_percent": difference.map(|difference| rounded(difference, 1)),
        "improved": if low { now < reference } else { now > reference },
    }))
}

fn insights(kind: Kind, comparisons: &[Value], others: usize) -> Vec<String> {
    if others == 0 {
        return vec!["There is no other activity to compare with yet.".to_owned()];
    }
    let with = match kind {
        Kind::PersonalBest => "your best",
        Kind::SpecificActivity => "the other activity",
        Kind::SimilarActivities => "similar activities",
        Kind::Average => "your average",
        Kind::Recent => "your last activities",
    };
    let said = |comparison: &Value| {
        let name =
            comparison.get("metric")?.as_str().filter(|name| matches!(*name, "pace" | "heart_rate" | "distance"))?;
        let difference = comparison.get("difference_percent")?.as_f64()?;
        let direction = if difference < 0.0 { "lower than" } else { "higher than" };
        Some(match difference.abs() {
            size if size < 0.1 => format!("{name} is the same as {with}."),
            size => format!("{name} is {size} % {direction} {with}."),
        })
    };
    comparisons.iter().filter_map(said).collect()
}
