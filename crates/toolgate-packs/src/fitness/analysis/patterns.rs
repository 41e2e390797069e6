//! What repeats: hard and easy days, days of the week, how much from week to week, and whether that grows too fast.

use serde::Deserialize;
use serde_json::{Value, json};
use toolgate_core::calendar;
use toolgate_store::fitness::Activity;

use super::{
    heart,
    trends::{Timeframe, within},
};
use crate::{
    failure::Failure,
    fitness::{
        athlete::Athlete,
        measure::{Measures, count, float, rounded},
        settings::Settings,
    },
};

const LEAST: usize = 3;
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// T. J. Gabbett, British Journal of Sports Medicine 50, 2016: load of a week over the mean of four, safe up to 1.3 and
/// dangerous from 1.5.
const SAFE_RATIO: f64 = 1.3;
const DANGEROUS_RATIO: f64 = 1.5;

#[derive(Deserialize)]
pub(in crate::fitness) struct Asked {
    provider: Option<String>,
    weeks: Option<i64>,
    pattern_type: Option<Pattern>,
    timeframe: Option<Timeframe>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Pattern {
    TrainingConsistency,
    SeasonalTrends,
    PerformancePlateaus,
    InjuryRisk,
}

pub(in crate::fitness) async fn detect(athlete: &Athlete, asked: &Asked) -> Result<Value, Failure> {
    let provider = athlete.connected(asked.provider.as_deref()).await?;
    let days = match (asked.weeks, asked.timeframe) {
        (Some(weeks), _) => weeks * 7,
        (None, Some(timeframe)) => timeframe.days(),
        (None, None) => 28,
    };
    let settings = athlete.settings().await?;
    let activities = within(athlete.activities(provider, None).await?, days);
    let weeks = (days + 6) / 7;
    if activities.len() < LEAST {
        return Ok(json!({
            "activities_analyzed": activities.len(),
            "weeks": weeks,
            "message": format!("At least {LEAST} activities within {weeks} weeks are needed; there are {}.", activities.len()),
        }));
    }
    let (schedule, consistent) = schedule(&activities, weeks);
    let (volume, progress) = volume(&activities);
    let (load, ratio) = load(&activities);
    Ok(json!({
        "activities_analyzed": activities.len(),
        "weeks": weeks,
        "hard_easy_pattern": hard_and_easy(&activities, &settings),
        "weekly_schedule": schedule,
        "volume_progression": volume,
        "overtraining_signals": load,
        "analysis_summary": summary(asked.pattern_type, consistent, progress, ratio),
    }))
}

fn hard_and_easy(activities: &[Activity], settings: &Settings) -> Value {
    let highest = heart::highest(None, None, settings);
    let is_hard = |activity: &Activity| {
        let rate = activity.heart_rate()?;
        let over = settings.threshold_hr.is_some_and(|threshold| rate >= threshold);
        Some(over || rate / highest.rate * 100.0 >= settings.hard_intensity_percent)
    };
    let judged: Vec<Option<bool>> = activities.iter().map(is_hard).collect();
    let of = |kind: Option<bool>| judged.iter().filter(|judged| **judged == kind).count();
    let (hard, easy, unknown) = (of(Some(true)), of(Some(false)), of(None));
    let after_another = judged.windows(2).filter(|pair| matches!(pair, [Some(true), Some(true)])).count();
    let message = match (hard, easy) {
        (0, 0) => "No heart rates: hard and easy can't be told apart.".to_owned(),
        _ if after_another > 0 => format!("{after_another} times a hard activity followed a hard one."),
        _ => "No two hard activities followed each other.".to_owned(),
    };
    json!({
        "hard": hard, "easy": easy, "unknown": unknown, "hard_after_hard": after_another,
        "max_hr_source": highest.source, "message": message,
    })
}

/// Monday is 0.
fn weekday(day: i64) -> usize {
    usize::try_from((day + 3).rem_euclid(7)).unwrap_or_default()
}

fn schedule(activities: &[Activity], weeks: i64) -> (Value, f64) {
    let on = |index: usize| activities.iter().filter(|activity| weekday(activity.day()) == index).count();
    let counts: serde_json::Map<String, Value> =
        (0..).zip(WEEKDAYS).map(|(index, name)| (name.to_owned(), json!(on(index)))).collect();
    let usual: Vec<&str> = (0..)
        .zip(WEEKDAYS)
        .filter(|(index, _)| float(weeks) / 2.0 <= count(on(*index)))
        .map(|(_, name)| name)
        .collect();
    let newest = activities.first().map_or(0, Measures::day);
    // counted back from the newest, so that the last week is never a part of one
    let mut active: Vec<i64> = activities.iter().map(|activity| (newest - activity.day()) / 7).collect();
    active.sort_unstable();
    active.dedup();
    let consistency = count(active.len()) / float(weeks) * 100.0;
    let value = json!({
        "by_weekday": counts, "usual_days": usual, "active_weeks": active.len(),
        "activities_per_week": rounded(count(activities.len()) / float(weeks), 2),
        "consistency_percent": rounded(consistency, 1),
    });
    (value, consistency)
}

/// Week by week, from Monday, and by how many percent the later half has more than the earlier.
fn volume(activities: &[Activity]) -> (Value, Option<f64>) {
    let monday = |activity: &Activity| activity.day() - i64::try_from(weekday(activity.day())).unwrap_or_default();
    let mut weeks: Vec<(i64, usize, f64, f64)> = Vec::new();
    for activity in activities.iter().rev() {
        let start = monday(activity);
        match weeks.last_mut() {
            Some(week) if week.0 == start => {
                *week = (start, week.1 + 1, week.2 + activity.meters(), week.3 + activity.seconds());
            }
            _ => weeks.push((start, 1, activity.meters(), activity.seconds())),
        }
    }
    let minutes = |weeks: &[(i64, usize, f64, f64)]| weeks.iter().map(|week| week.3).sum::<f64>() / count(weeks.len());
    let half = weeks.len() / 2;
    let change = match (weeks.get(..half), weeks.get(weeks.len() - half..)) {
        (Some(earlier), Some(later)) if half > 0 => {
            Some((minutes(later) / minutes(earlier) - 1.0) * 100.0).filter(|change| change.is_finite())
        }
        _ => None,
    };
    let shown: Vec<Value> = weeks
        .iter()
        .map(|(start, number, meters, seconds)| {
            let (year, month, day) = calendar::date(*start);
            json!({
                "week_of": format!("{year:04}-{month:02}-{day:02}"), "activities": number,
                "distance_km": rounded(meters / 1000.0, 2), "duration_minutes": rounded(seconds / 60.0, 1),
            })
        })
        .collect();
    (json!({"weeks": shown, "change_percent": change.map(|change| rounded(change, 1))}), change)
}

/// Minutes of the last seven days over the mean of the last four weeks.
fn load(activities: &[Activity]) -> (Value, Option<f64>) {
    let newest = activities.first().map_or(0, Measures::day);
    let minutes = |days: i64| {
        let recent = activities.iter().filter(|activity| newest - activity.day() < days);
        recent.map(|activity| activity.seconds() / 60.0).sum::<f64>()
    };
    let covered = activities.last().map_or(0, |oldest| newest - oldest.day());
    let (acute, chronic) = (minutes(7), minutes(28) / 4.0);
    // a mean of four weeks takes more than three of them
    let ratio = (covered >= 21 && chronic > 0.0).then(|| acute / chronic);
    let (signal, message) = match ratio {
        None => ("needs_more_data", "Four weeks of activities are needed to compare a week with."),
        Some(ratio) if ratio >= DANGEROUS_RATIO => {
            ("danger", "This week is far above the last four: injuries are likelier.")
        }
        Some(ratio) if ratio > SAFE_RATIO => ("caution", "This week is well above the last four."),
        Some(_) => ("none", "This week is within what the last four prepared."),
    };
    let value = json!({
        "acute_minutes": rounded(acute, 1), "chronic_minutes": rounded(chronic, 1),
        "ratio": ratio.map(|ratio| rounded(ratio, 2)), "signal": signal, "message": message,
    });
    (value, ratio)
}

fn summary(pattern: Option<Pattern>, consistent: f64, progress: Option<f64>, ratio: Option<f64>) -> String {
    let consistency = format!("Active in {} % of the weeks.", rounded(consistent, 0));
    let progress = match progress {
        Some(change) if change.abs() < 5.0 => "Volume is level.".to_owned(),
        Some(change) => {
            format!("Volume {} by {} %.", if change > 0.0 { "rose" } else { "fell" }, rounded(change.abs(), 0))
        }
        None => "One week says nothing of volume over time.".to_owned(),
    };
    let risk = match ratio {
        Some(ratio) => format!("The last week is {} times the mean of four.", rounded(ratio, 2)),
        None => "There are not yet four weeks to judge load by.".to_owned(),
    };
    match pattern {
        Some(Pattern::TrainingConsistency) => consistency,
        Some(Pattern::SeasonalTrends | Pattern::PerformancePlateaus) => progress,
        Some(Pattern::InjuryRisk) => risk,
        None => format!("{consistency} {progress} {risk}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_day_of_1970_was_a_thursday() {
        assert_eq!(WEEKDAYS[weekday(0)], "thursday");
        // 2026-03-16 is a Monday
        assert_eq!(WEEKDAYS[weekday(calendar::days(2026, 3, 16))], "monday");
        assert_eq!(WEEKDAYS[weekday(-1)], "wednesday");
    }
}
