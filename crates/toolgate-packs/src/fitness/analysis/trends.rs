//! How a figure changes over time: a line through it, and whether chance explains the line as well.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_store::fitness::Activity;

use super::regression::{self, Line};
use crate::{
    failure::Failure,
    fitness::{
        athlete::Athlete,
        measure::{Measures, float, rounded},
        sport,
    },
    times,
};

/// Less likely than this by chance is a trend.
const SIGNIFICANT: f64 = 0.05;

#[derive(Deserialize)]
pub(in crate::fitness) struct Asked {
    provider: Option<String>,
    timeframe: Timeframe,
    metric: Metric,
    sport_type: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::fitness) enum Timeframe {
    Week,
    Month,
    Quarter,
    SixMonths,
    Year,
}

impl Timeframe {
    pub(in crate::fitness) fn days(self) -> i64 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 91,
            Self::SixMonths => 182,
            Self::Year => 365,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::SixMonths => "sixmonths",
            Self::Year => "year",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Metric {
    Pace,
    Speed,
    HeartRate,
    Power,
    Distance,
    Duration,
    Elevation,
}

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Self::Pace => "pace",
            Self::Speed => "speed",
            Self::HeartRate => "heart_rate",
            Self::Power => "power",
            Self::Distance => "distance",
            Self::Duration => "duration",
            Self::Elevation => "elevation",
        }
    }

    fn of(self, activity: &Activity) -> Option<f64> {
        match self {
            Self::Pace => activity.pace(),
            Self::Speed => activity.speed(),
            Self::HeartRate => activity.heart_rate(),
            Self::Power => activity.power(),
            Self::Distance => Some(activity.meters()).filter(|meters| *meters > 0.0),
            Self::Duration => Some(activity.seconds()).filter(|seconds| *seconds > 0.0),
            Self::Elevation => Some(activity.climbed_meters()),
        }
    }

    /// Less of it is better: the same done in less time, or with less heart.
    fn is_better_low(self) -> bool {
        matches!(self, Self::Pace | Self::HeartRate)
    }
}

/// Activities within a time before the newest, which is in it.
pub(in crate::fitness) fn within(activities: Vec<Activity>, days: i64) -> Vec<Activity> {
    let from = activities.first().map_or(i64::MIN, |newest| newest.started_at - days * 86_400_000);
    activities.into_iter().filter(|activity| activity.started_at > from).collect()
}

pub(in crate::fitness) async fn trends(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let sport = asked.sport_type.as_deref().map(sport::of);
    let activities = within(athlete.activities(provider, sport.as_deref()).await?, asked.timeframe.days());
    // oldest first
    let measured: Vec<(&Activity, f64)> =
        activities.iter().rev().filter_map(|activity| Some((activity, asked.metric.of(activity)?))).collect();
    let start = measured.first().map_or(0, |(first, _)| first.started_at);
    let days = |activity: &Activity| float(activity.started_at - start) / 86_400_000.0;
    let points: Vec<(f64, f64)> = measured.iter().map(|(activity, value)| (days(activity), *value)).collect();
    let name = asked.metric.name();
    let judged = match (points.len(), regression::fit(&points)) {
        (0 | 1, _) => (
            "insufficient_data",
            Value::Null,
            vec![format!("{} activity with {name} in this time: two are the least.", points.len())],
        ),
        (_, None) => ("needs_more_data", Value::Null, vec!["All activities are at one time.".to_owned()]),
        (count, Some(line)) => judge(asked.metric, &points, &line, count),
    };
    let (trend, statistics, insights) = judged;
    let date = |activity: Option<&(&Activity, f64)>| activity.map(|(activity, _)| times::iso(activity.started_at));
    Ok(json!({
        "metric": name,
        "timeframe": asked.timeframe.name(),
        "sport_type": sport,
        "trend": trend,
        "activities_analyzed": points.len(),
        "from": date(measured.first()),
        "to": date(measured.last()),
        "statistics": statistics,
        "insights": insights,
    }))
}

fn judge(metric: Metric, points: &[(f64, f64)], line: &Line, count: usize) -> (&'static str, Value, Vec<String>) {
    let last = points.last().map_or(0.0, |(day, _)| *day);
    let (start, end) = (line.at(0.0), line.at(last));
    let percent = (start.abs() > f64::EPSILON).then(|| (end - start) / start.abs() * 100.0);
    let rises = line.slope > 0.0;
    let trend = match line.p_value {
        None => "needs_more_data",
        Some(p) if p >= SIGNIFICANT => "stable",
        Some(_) if rises != metric.is_better_low() => "improving",
        Some(_) => "declining",
    };
    let insight = match (trend, line.p_value, percent) {
        ("needs_more_data", ..) => "Two activities make a line and no trend: a third is needed.".to_owned(),
        ("stable", Some(p), _) => {
            format!("No trend: chance alone makes such a line in {} % of all cases.", rounded(p * 100.0, 0))
        }
        (_, _, Some(percent)) if metric == Metric::Pace => {
            let less = if rises { "more" } else { "less" };
            format!("A kilometer takes {} % {less} time than {count} activities ago.", rounded(percent.abs(), 1))
        }
        (_, _, Some(percent)) => {
            let rose = if rises { "rose" } else { "fell" };
            format!("{} {rose} by {} % over {count} activities.", metric.name(), rounded(percent.abs(), 1))
        }
        _ => format!("{} {}.", metric.name(), if rises { "rose" } else { "fell" }),
    };
    let statistics = json!({
        "slope_per_day": rounded(line.slope, 6),
        "intercept": rounded(line.intercept, 4),
        "r_squared": rounded(line.r_squared, 6),
        "correlation": rounded(line.correlation, 6),
        "p_value": line.p_value.map(|p| rounded(p, 6)),
        "start_value": rounded(start, 3),
        "end_value": rounded(end, 3),
        "percent_change": percent.map(|percent| rounded(percent, 2)),
    });
    (trend, statistics, vec![insight])
}
