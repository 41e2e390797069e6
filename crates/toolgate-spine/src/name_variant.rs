//! Argument names that differ from a declared name in case alone. A reader that does not regard case takes such a name for
//! the declared one, so that it would run with another value than the one that was checked.

use std::{
    collections::{HashMap, HashSet},
    ptr,
};

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
    let bound: HashSet<&str> = bound.map(String::as_str).collect();
    let properties = properties(schema);
    let is_declared = |name: &str| bound.contains(name) || properties.is_some_and(|all| all.contains_key(name));
    let others: Vec<&String> = given.keys().filter(|name| !is_declared(name)).collect();
    let mut search = VariantSearch::default();
    if !others.is_empty() {
        let bound: HashMap<String, &str> = bound.iter().map(|name| (folded(name), *name)).collect();
        let declared = properties.map(|properties| search.folded(properties));
        let meant = |name: &str| declared.and_then(|declared| declared.get(name)).or_else(|| bound.get(name));
        // of each other as well, where the schema does not declare both
        let mut seen: HashMap<String, &str> = HashMap::new();
        let found = others.into_iter().find_map(|name| {
            let folded = folded(name);
            let meant = meant(&folded).copied().or_else(|| seen.get(&folded).copied());
            seen.insert(folded, name);
            meant.map(|meant| NameVariant::of(name, meant))
        });
        if found.is_some() {
            return found;
        }
    }
    search.inside(properties?, given)
}

/// Goes where the schema says by `properties` and `items` what is there. What a schema declares is folded once, however
/// many values are held against it.
#[derive(Default)]
struct VariantSearch<'a> {
    folded: HashMap<*const Map<String, Value>, HashMap<String, &'a str>>,
}

impl<'a> VariantSearch<'a> {
    fn inside(&mut self, properties: &'a Map<String, Value>, given: &Map<String, Value>) -> Option<NameVariant> {
        given.iter().find_map(|(name, value)| {
            let found = self.within(properties.get(name)?, value)?;
            Some(found.under(name))
        })
    }

    fn within(&mut self, schema: &'a Value, value: &Value) -> Option<NameVariant> {
        match value {
            Value::Object(given) => {
                let properties = properties(schema)?;
                self.beside(properties, given).or_else(|| self.inside(properties, given))
            }
            Value::Array(items) => {
                let schema = schema.get("items")?;
                let mut items = items.iter().enumerate();
                items.find_map(|(index, item)| self.within(schema, item).map(|found| found.under(&index.to_string())))
            }
            _ => None,
        }
    }

    fn beside(&mut self, properties: &'a Map<String, Value>, given: &Map<String, Value>) -> Option<NameVariant> {
        let mut others = given.keys().filter(|name| !properties.contains_key(*name)).peekable();
        others.peek()?;
        let declared = self.folded(properties);
        others.find_map(|name| declared.get(&folded(name)).map(|meant| NameVariant::of(name, meant)))
    }

    fn folded(&mut self, properties: &'a Map<String, Value>) -> &HashMap<String, &'a str> {
        let fold = || properties.keys().map(|name| (folded(name), name.as_str())).collect();
        self.folded.entry(ptr::from_ref(properties)).or_insert_with(fold)
    }
}

impl NameVariant {
    fn of(name: &str, meant: &str) -> Self {
        Self { path: pointer(name, ""), name: name.to_owned(), meant: meant.to_owned() }
    }

    fn under(self, name: &str) -> Self {
        Self { path: pointer(name, &self.path), ..self }
    }
}

/// A JSON pointer with a step before it.
fn pointer(name: &str, rest: &str) -> String {
    format!("/{}{rest}", name.replace('~', "~0").replace('/', "~1"))
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
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
