//! Every parameter there is, as data, and what is wrong with a set of them.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::failure::short;

const CATALOG: &str = include_str!("catalog.json");
const PROFILES: &str = include_str!("profiles.json");

static PARSED: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(CATALOG).unwrap_or_default());
static KNOWN_PROFILES: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(PROFILES).unwrap_or_default());

fn parameters() -> impl Iterator<Item = &'static Value> {
    let list = |value: &'static Value, key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
    list(&PARSED, "categories")
        .flat_map(move |category| list(category, "modules"))
        .flat_map(move |module| list(module, "parameters"))
}

pub(in crate::fitness) fn catalog() -> Value {
    let count = parameters().count();
    let mut catalog = PARSED.clone();
    if let Some(catalog) = catalog.as_object_mut() {
        catalog.insert("total_parameters".to_owned(), json!(count));
    }
    json!({"catalog": catalog, "catalog_type": "complete", "parameter_count": count})
}

pub(in crate::fitness) fn profiles() -> Value {
    let count = KNOWN_PROFILES.as_array().map_or(0, Vec::len);
    json!({"profiles": *KNOWN_PROFILES, "total_count": count})
}

/// A profile's parameters.
pub(in crate::fitness) fn profile(name: &str) -> Option<Map<String, Value>> {
    let found =
        KNOWN_PROFILES.as_array()?.iter().find(|profile| profile.get("name").is_some_and(|found| found == name))?;
    found.get("profile")?.as_object().cloned()
}

/// What is wrong, a sentence for each.
pub(in crate::fitness) fn problems(given: &Map<String, Value>) -> Vec<String> {
    let mut problems: Vec<String> = given.iter().filter_map(|(key, value)| problem(key, value)).collect();
    let number = |key: &str| given.get(key).and_then(Value::as_f64);
    for (lower, higher) in [("resting_hr", "threshold_hr"), ("threshold_hr", "max_hr"), ("resting_hr", "max_hr")] {
        if let (Some(low), Some(high)) = (number(lower), number(higher))
            && low >= high
        {
            problems.push(format!("{lower} must be lower than {higher}"));
        }
    }
    problems
}

fn problem(key: &str, value: &Value) -> Option<String> {
    let Some(parameter) = parameters().find(|parameter| parameter.get("key").is_some_and(|known| known == key)) else {
        return Some(format!("Unknown parameter '{}'", short(key)));
    };
    if let Some(allowed) = parameter.get("allowed_values").and_then(Value::as_array) {
        let words: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        return (!allowed.contains(value)).then(|| format!("{key} must be one of: {}", words.join(", ")));
    }
    let range = parameter.get("valid_range")?;
    let bound = |name: &str| range.get(name).and_then(Value::as_f64);
    let (least, most) = (bound("min")?, bound("max")?);
    match value.as_f64() {
        Some(number) if (least..=most).contains(&number) => None,
        Some(_) => Some(format!("{key} must be between {least} and {most}")),
        None => Some(format!("{key} must be a number between {least} and {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(given: Value) -> Vec<String> {
        problems(given.as_object().unwrap())
    }

    #[test]
    fn every_range_holds_at_its_edges() {
        // the ranges that clients are promised
        for (key, least, most) in [
            ("max_hr", 100, 220),
            ("resting_hr", 30, 100),
            ("threshold_hr", 100, 200),
            ("vo2_max", 20, 90),
            ("ftp", 50, 600),
        ] {
            for good in [least, most] {
                assert_eq!(wrong(json!({ key: good })), [""; 0], "{key} {good}");
            }
            for bad in [least - 1, most + 1] {
                assert_eq!(wrong(json!({ key: bad })), [format!("{key} must be between {least} and {most}")]);
            }
            assert_eq!(wrong(json!({ key: "x" })), [format!("{key} must be a number between {least} and {most}")]);
        }
    }

    #[test]
    fn heart_rates_are_in_order_and_unknown_names_are_said() {
        assert_eq!(wrong(json!({"resting_hr": 60, "threshold_hr": 160, "max_hr": 190, "sex": "female"})), [""; 0]);
        let out_of_order = wrong(json!({"resting_hr": 100, "threshold_hr": 100, "max_hr": 100}));
        assert_eq!(out_of_order.len(), 3);
        assert_eq!(
            wrong(json!({"sex": "x", "shoe": 1})),
            ["sex must be one of: female, male", "Unknown parameter 'shoe'"]
        );
    }

    #[test]
    fn the_data_reads_and_every_profile_is_valid() {
        assert_eq!(parameters().count(), 10);
        for known in KNOWN_PROFILES.as_array().unwrap() {
            let parameters = profile(known["name"].as_str().unwrap()).unwrap();
            assert_eq!(problems(&parameters), [""; 0]);
        }
        for default in parameters().filter(|parameter| !parameter["default_value"].is_null()) {
            let key = default["key"].as_str().unwrap();
            assert_eq!(profile("default").unwrap()[key], default["default_value"], "one default, said twice");
        }
    }
}
