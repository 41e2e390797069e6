//! Argument names that differ from a declared name in case alone. A reader that does not regard case takes such a name for
//! the declared one, so that it would run with another value than the one that was checked.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// An argument whose name is another's in another case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NameVariant {
    /// JSON pointer to the argument.
    pub(crate) path: String,
    pub(crate) name: String,
    /// The name that is declared, or given as well.
    pub(crate) meant: String,
}

/// The first such argument. `bound` are the names that are filled from the caller, whatever the schema declares.
pub(crate) fn name_variant<'a>(
    schema: &'a Value,
    bound: impl Iterator<Item = &'a String>,
    arguments: &Value,
) -> Option<NameVariant> {
    let given = arguments.as_object()?;
    let mut declared: Vec<&str> = properties(schema).map(|(name, _)| name.as_str()).collect();
    declared.extend(bound.map(String::as_str));
    variant_beside(&declared, given, "")
        .or_else(|| variant_of_each_other(&declared, given))
        .or_else(|| inside(schema, given, ""))
}

/// Goes where the schema says by `properties` and `items` what is there.
fn inside(schema: &Value, given: &Map<String, Value>, at: &str) -> Option<NameVariant> {
    properties(schema).find_map(|(name, schema)| {
        let value = given.get(name)?;
        let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        within(schema, value, &at)
    })
}

fn within(schema: &Value, value: &Value, at: &str) -> Option<NameVariant> {
    match value {
        Value::Object(given) => {
            let declared: Vec<&str> = properties(schema).map(|(name, _)| name.as_str()).collect();
            variant_beside(&declared, given, at).or_else(|| inside(schema, given, at))
        }
        Value::Array(items) => {
            let schema = schema.get("items")?;
            items.iter().enumerate().find_map(|(index, item)| within(schema, item, &format!("{at}/{index}")))
        }
        _ => None,
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn variant_beside(declared: &[&str], given: &Map<String, Value>, at: &str) -> Option<NameVariant> {
    let mut others = given.keys().filter(|name| !declared.contains(&name.as_str())).peekable();
    others.peek()?;
    let folded: HashMap<String, &str> = declared.iter().map(|name| (folded(name), *name)).collect();
    others.find_map(|name| folded.get(&self::folded(name)).map(|meant| variant(name, meant, at)))
}

/// Two arguments of which one is the other in another case, where the schema does not declare both.
fn variant_of_each_other(declared: &[&str], given: &Map<String, Value>) -> Option<NameVariant> {
    let mut others = given.keys().filter(|name| !declared.contains(&name.as_str()));
    let mut seen: HashMap<String, &str> = HashMap::new();
    others.find_map(|name| seen.insert(folded(name), name).map(|meant| variant(name, meant, "")))
}

fn variant(name: &str, meant: &str, at: &str) -> NameVariant {
    let path = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    NameVariant { path, name: name.to_owned(), meant: meant.to_owned() }
}

/// The name without regard to case: through upper case, so that every letter with one upper case is one.
fn folded(name: &str) -> String {
    name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: &Value, arguments: &Value) -> Option<(String, String)> {
        let bound = ["user_id".to_owned()];
        name_variant(schema, bound.iter(), arguments).map(|found| (found.path, found.meant))
    }

    #[test]
    fn a_name_in_another_case_is_found_beside_declared_bound_and_given_ones() {
        let item = json!({"properties": {"id": {}}});
        let schema = json!({"properties": {"amount": {}, "to": {"properties": {"iban": {}}}, "all": {"items": item}, "kind": {}}});
        for (arguments, path, meant) in [
            (json!({"amount": 1, "Amount": 5000}), "/Amount", "amount"),
            (json!({"AMOUNT": 5000}), "/AMOUNT", "amount"),
            (json!({"USER_ID": "bob"}), "/USER_ID", "user_id"),
            (json!({"\u{212a}ind": 1}), "/\u{212a}ind", "kind"),
            (json!({"other": 1, "Other": 2}), "/Other", "other"),
            (json!({"to": {"iban": 1, "IBAN": 2}}), "/to/IBAN", "iban"),
            (json!({"all": [{"id": 1}, {"Id": 2}]}), "/all/1/Id", "id"),
        ] {
            assert_eq!(found(&schema, &arguments), Some((path.to_owned(), meant.to_owned())), "{arguments}");
        }
        for arguments in [
            json!({"amount": 1, "user_id": "x", "other": 1, "to": {"iban": 1, "bic": 2, "BIC": 3}}),
            json!({"free": {"a": 1, "A": 2}}),
            json!([]),
        ] {
            assert_eq!(found(&schema, &arguments), None, "{arguments}");
        }
        assert_eq!(found(&json!({"properties": {"a": {}, "A": {}}}), &json!({"a": 1, "A": 2})), None);
    }
}
