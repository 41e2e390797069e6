//! A user's own figures: which there are, what they may be, and what holds for one user.

mod catalog;
mod changing;

use serde_json::{Map, Value, json};
use toolgate_store::fitness::Configuration;

pub(super) use self::{
    catalog::{catalog, problems, profile, profiles},
    changing::{change, changed_by},
};

/// What analyses read. Absent is not known; the last two have a value in any case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) max_hr: Option<f64>,
    pub(super) resting_hr: Option<f64>,
    pub(super) threshold_hr: Option<f64>,
    pub(super) ftp: Option<f64>,
    pub(super) weight_kg: Option<f64>,
    pub(super) age: Option<f64>,
    pub(super) sex: Option<Sex>,
    pub(super) similar_distance_percent: f64,
    pub(super) hard_intensity_percent: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sex {
    Female,
    Male,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_parameters(&profile("default").unwrap_or_default())
    }
}

impl Settings {
    pub(super) fn of(stored: &Configuration) -> Self {
        Self::from_parameters(&effective(stored.profile.as_deref(), &parameters(stored)))
    }

    fn from_parameters(parameters: &Map<String, Value>) -> Self {
        let number = |key: &str| parameters.get(key).and_then(Value::as_f64);
        Self {
            max_hr: number("max_hr"),
            resting_hr: number("resting_hr"),
            threshold_hr: number("threshold_hr"),
            ftp: number("ftp"),
            weight_kg: number("weight_kg"),
            age: number("age"),
            sex: match parameters.get("sex").and_then(Value::as_str) {
                Some("female") => Some(Sex::Female),
                Some("male") => Some(Sex::Male),
                _ => None,
            },
            similar_distance_percent: number("similar_distance_percent").unwrap_or(10.0),
            hard_intensity_percent: number("hard_intensity_percent").unwrap_or(80.0),
        }
    }
}

/// What was stored, as an object.
fn parameters(stored: &Configuration) -> Map<String, Value> {
    serde_json::from_str(&stored.parameters).unwrap_or_default()
}

/// The profile's parameters, and over them the user's own.
fn effective(name: Option<&str>, own: &Map<String, Value>) -> Map<String, Value> {
    let mut all = profile("default").unwrap_or_default();
    all.extend(name.and_then(profile).unwrap_or_default());
    all.extend(own.clone());
    all
}

/// What `validate_configuration` answers.
pub(super) fn validated(parameters: &Map<String, Value>) -> Value {
    let problems = problems(parameters);
    let message = match problems.len() {
        0 => "All parameters are valid.".to_owned(),
        1 => "1 parameter is not valid.".to_owned(),
        many => format!("{many} parameters are not valid."),
    };
    json!({
        "validation_passed": problems.is_empty(),
        "parameters_validated": parameters.len(),
        "message": message,
        "errors": if problems.is_empty() { Value::Null } else { json!(problems) },
    })
}
