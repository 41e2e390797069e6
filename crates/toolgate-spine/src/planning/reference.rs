//! Values that come from earlier steps: `{"$from": "<id or number of a step>", "path": "<JSON pointer>"}` stands for what
//! that step's result holds there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::Reason;

const FROM: &str = "$from";
const PATH: &str = "path";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// JSON pointer to the place in the arguments.
    pub(super) at: String,
    /// The earlier step, counted from 0.
    pub(super) from: usize,
    /// JSON pointer into that step's result.
    pub(super) path: String,
}

/// All in the arguments of one call. `earlier` are the ids of the steps before it.
pub(super) fn references(arguments: &Value, earlier: &[Option<&str>]) -> Result<Vec<Reference>, String> {
    if arguments.get(FROM).is_some() {
        return Err("the arguments as a whole can't be a reference; put references inside them".to_owned());
    }
    let mut found = Vec::new();
    gather(arguments, String::new(), earlier, &mut found)?;
    Ok(found)
}

fn gather(value: &Value, at: String, earlier: &[Option<&str>], found: &mut Vec<Reference>) -> Result<(), String> {
    match value {
        Value::Object(members) if members.contains_key(FROM) => {
            found.push(reference(members, at, earlier)?);
            Ok(())
        }
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            let token = name.replace('~', "~0").replace('/', "~1");
            gather(value, format!("{at}/{token}"), earlier, found)
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| gather(value, format!("{at}/{index}"), earlier, found)),
        _ => Ok(()),
    }
}

fn reference(
    members: &serde_json::Map<String, Value>,
    at: String,
    earlier: &[Option<&str>],
) -> Result<Reference, String> {
    if let Some(other) = members.keys().find(|name| ![FROM, PATH].contains(&name.as_str())) {
        let other: String = other.chars().take(80).collect();
        return Err(format!("the reference at '{at}' has '{other}'; it takes '{FROM}' and '{PATH}' alone"));
    }
    let named = members.get(FROM).map(word).unwrap_or_default();
    let by_id = earlier.iter().position(|id| id.is_some_and(|id| id == named));
    let by_number = || named.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < earlier.len());
    let from = by_id.or_else(by_number).ok_or_else(|| {
        let named: String = named.chars().take(80).collect();
        format!("the reference at '{at}' names step '{named}', which is no earlier step; name one by its id, or by its number, counted from 1")
    })?;
    let path = members.get(PATH).map_or_else(|| Some(String::new()), |path| path.as_str().map(str::to_owned));
    match path.filter(|path| path.is_empty() || path.starts_with('/')) {
        Some(path) => Ok(Reference { at, from, path }),
        None => Err(format!("the reference at '{at}' needs a JSON pointer as its '{PATH}', such as '/items/0/id'")),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What later steps refer to of a step's result, and nothing else of it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// By JSON pointer; absent where the result has nothing there.
    values: BTreeMap<String, Value>,
}

impl Kept {
    /// `None` where nobody asks.
    pub(super) fn of<'a>(result: &Value, paths: impl Iterator<Item = &'a str>) -> Option<String> {
        let values: BTreeMap<String, Value> =
            paths.filter_map(|path| Some((path.to_owned(), result.pointer(path)?.clone()))).collect();
        (!values.is_empty()).then(|| serde_json::to_string(&Self { values }).ok()).flatten()
    }
}

/// The arguments with every reference replaced by its value. `results` are what was kept of the steps before.
pub(super) fn filled(
    arguments: &RawValue,
    references: &[Reference],
    results: &[Option<&str>],
) -> Result<Box<RawValue>, Reason> {
    if references.is_empty() {
        return Ok(arguments.to_owned());
    }
    let unreadable = |fault: serde_json::Error| Reason::new("unfilled_reference", fault.to_string());
    let mut whole: Value = serde_json::from_str(arguments.get()).map_err(unreadable)?;
    for Reference { at, from, path } in references {
        let missing = || {
            let step = from + 1;
            let what = format!("the result of step {step} has nothing at '{path}', which '{at}' is to be filled with");
            Reason::new("unfilled_reference", what)
        };
        let kept = results.get(*from).copied().flatten().ok_or_else(missing)?;
        let kept: Kept = serde_json::from_str(kept).map_err(unreadable)?;
        let value = kept.values.get(path).ok_or_else(missing)?;
        *whole.pointer_mut(at).ok_or_else(missing)? = value.clone();
    }
    to_raw_value(&whole).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "in a test, giving up is how a failure is reported")]

    use serde_json::json;

    use super::*;

    const EARLIER: [Option<&str>; 2] = [Some("find"), None];

    #[test]
    fn references_are_found_anywhere_by_id_and_by_number() {
        let arguments =
            json!({"a/b": [{"$from": "find", "path": "/x"}], "c": {"d": {"$from": "2"}}, "e": {"$from": 2}});
        let found = references(&arguments, &EARLIER).unwrap();
        let of = |at: &str, from: usize, path: &str| Reference { at: at.to_owned(), from, path: path.to_owned() };
        assert_eq!(found, [of("/a~1b/0", 0, "/x"), of("/c/d", 1, ""), of("/e", 1, "")]);
    }

    #[test]
    fn what_leads_nowhere_is_refused_and_says_where() {
        for (arguments, why) in [
            (json!({"a": {"$from": "later"}}), "'later', which is no earlier step"),
            (json!({"a": {"$from": 3}}), "'3', which is no earlier step"),
            (json!({"a": {"$from": 0}}), "'0', which is no earlier step"),
            (json!({"a": {"$from": null}}), "no earlier step"),
            (json!({"a": [{"$from": "find", "path": "x"}]}), "'/a/0' needs a JSON pointer"),
            (json!({"a": {"$from": "find", "path": 1}}), "needs a JSON pointer"),
            (json!({"a": {"$from": "find", "or": 1}}), "has 'or'"),
            (json!({"$from": "find"}), "as a whole"),
        ] {
            let said = references(&arguments, &EARLIER).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn only_what_is_asked_for_is_kept_and_filled_in() {
        let arguments = json!({"id": {"$from": 1, "path": "/items/1/id"}, "n": 1.50});
        let found = references(&arguments, &EARLIER).unwrap();
        let result = json!({"items": [{"id": "a"}, {"id": "b", "secret": "s"}]});
        let kept = Kept::of(&result, found.iter().map(|reference| reference.path.as_str())).unwrap();
        assert!(!kept.contains("secret"));
        let arguments = to_raw_value(&arguments).unwrap();
        let whole = filled(&arguments, &found, &[Some(&kept), None]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(whole.get()).unwrap(), json!({"id": "b", "n": 1.50}));
        let missing = filled(&arguments, &found, &[None, None]).unwrap_err();
        assert!(missing.message.contains("nothing at '/items/1/id'"), "{missing:?}");
    }
}
