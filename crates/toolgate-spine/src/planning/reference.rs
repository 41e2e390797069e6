//! Values that come from earlier steps: `{"$from": "<id or number of a step>", "path": "<JSON pointer>"}` stands for what
//! that step's result holds there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    Reason,
    raw_places::{replaced, values_at},
};

const FROM: &str = "$from";
const PATH: &str = "path";
/// Bytes of the pointers to all references of one call.
const MOST_POINTERS: usize = 1 << 20;
/// Bytes that references of one call are filled with.
const MOST_FILLED: usize = 16 << 20;

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
    let mut gathering = Gathering { earlier, at: String::new(), pointers: 0, found: Vec::new() };
    gathering.gather(arguments)?;
    Ok(gathering.found)
}

/// The way through the arguments of one call.
struct Gathering<'a> {
    earlier: &'a [Option<&'a str>],
    /// JSON pointer to the value that is looked at.
    at: String,
    /// Bytes of the pointers found.
    pointers: usize,
    found: Vec<Reference>,
}

impl Gathering<'_> {
    fn gather(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Object(members) if members.contains_key(FROM) => {
                self.pointers = self.pointers.saturating_add(self.at.len());
                if self.pointers > MOST_POINTERS {
                    return Err("the names that lead to its references are too long together".to_owned());
                }
                self.found.push(reference(members, self.at.clone(), self.earlier)?);
                Ok(())
            }
            Value::Object(members) => members
                .iter()
                .try_for_each(|(name, value)| self.step(&name.replace('~', "~0").replace('/', "~1"), value)),
            Value::Array(items) => {
                items.iter().enumerate().try_for_each(|(index, value)| self.step(&index.to_string(), value))
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self, token: &str, value: &Value) -> Result<(), String> {
        // most values are neither references nor hold any
        if !value.is_object() && !value.is_array() {
            return Ok(());
        }
        let before = self.at.len();
        self.at.push('/');
        self.at.push_str(token);
        self.gather(value)?;
        self.at.truncate(before);
        Ok(())
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
    /// By JSON pointer; absent where the result has nothing there. As text: every digit of a number stays.
    values: BTreeMap<String, Box<RawValue>>,
}

impl Kept {
    /// `None` where nobody asks.
    pub(super) fn of<'a>(result: &RawValue, paths: impl Iterator<Item = &'a str>) -> Option<String> {
        let found = values_at(result, paths.collect::<BTreeSet<&str>>());
        let values: BTreeMap<String, Box<RawValue>> =
            found.into_iter().map(|(path, value)| (path.to_owned(), value.to_owned())).collect();
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
    // by step, read once
    let mut read: HashMap<usize, Kept> = HashMap::new();
    for Reference { from, .. } in references {
        if !read.contains_key(from)
            && let Some(kept) = results.get(*from).copied().flatten()
        {
            read.insert(*from, serde_json::from_str(kept).map_err(unreadable)?);
        }
    }
    let mut values = Vec::with_capacity(references.len());
    let mut size = 0_usize;
    for Reference { at, from, path } in references {
        let value = read.get(from).and_then(|kept| kept.values.get(path)).ok_or_else(|| {
            let step = from + 1;
            let what = format!("the result of step {step} has nothing at '{path}', which '{at}' is to be filled with");
            Reason::new("unfilled_reference", what)
        })?;
        size = size.saturating_add(value.get().len());
        if size > MOST_FILLED {
            let what = format!("the values that '{at}' and others are to be filled with are too large together");
            return Err(Reason::new("unfilled_reference", what));
        }
        values.push((at.as_str(), &**value));
    }
    replaced(arguments, &values).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "in a test, giving up is how a failure is reported")]

    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::linear::assert_linear;

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
        let result = to_raw_value(&result).unwrap();
        let kept = Kept::of(&result, found.iter().map(|reference| reference.path.as_str())).unwrap();
        assert!(!kept.contains("secret"));
        let arguments = to_raw_value(&arguments).unwrap();
        let whole = filled(&arguments, &found, &[Some(&kept), None]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(whole.get()).unwrap(), json!({"id": "b", "n": 1.50}));
        let missing = filled(&arguments, &found, &[None, None]).unwrap_err();
        assert!(missing.message.contains("nothing at '/items/1/id'"), "{missing:?}");
    }

    #[test]
    fn references_are_found_and_filled_in_linear_time() {
        assert_linear("a long name over many values", 1 << 12, |count| {
            let found = references(&json!({"k".repeat(count): vec![json!([]); count / 8]}), &EARLIER).unwrap();
            assert!(found.is_empty());
        });
        assert_linear("many references to many values", 16, |count| {
            let all: Vec<Value> = (0..count).map(|at| json!({"$from": 1, "path": format!("/items/{at}")})).collect();
            let arguments = json!({ "all": all });
            let found = references(&arguments, &EARLIER).unwrap();
            let result = json!({"items": vec!["x"; count]});
            let result = to_raw_value(&result).unwrap();
            let kept = Kept::of(&result, found.iter().map(|reference| reference.path.as_str())).unwrap();
            filled(&to_raw_value(&arguments).unwrap(), &found, &[Some(&kept), None]).unwrap();
        });
        assert_linear("many references to one value", 64, |count| {
            let result = json!({"items": vec!["x"; count], "id": 1});
            let result = to_raw_value(&result).unwrap();
            let kept = Kept::of(&result, (0..count).map(|_| "")).unwrap();
            assert!(kept.len() < 8 * count + 100);
        });
    }

    #[test]
    fn a_plan_can_not_make_more_of_a_value_than_a_call_can_carry() {
        let all = |at: &str| json!({at: vec![json!({"$from": 1}); 5_000]});
        let deep = references(&all(&"k".repeat(10_000)), &EARLIER).unwrap_err();
        assert!(deep.contains("too long"), "{deep}");
        let arguments = all("a");
        let found = references(&arguments, &EARLIER).unwrap();
        let result = to_raw_value(&json!(["x".repeat(20_000)])).unwrap();
        let kept = Kept::of(&result, [""].into_iter()).unwrap();
        let reason = filled(&to_raw_value(&arguments).unwrap(), &found, &[Some(&kept), None]).unwrap_err();
        assert!(reason.message.contains("too large"), "{reason:?}");
    }
}
