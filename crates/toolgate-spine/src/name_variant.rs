//! Argument names that differ from another name in case alone. A reader that does not regard case takes such a name for
//! the other, so that it would run with another value than the one that was checked.
//!
//! Two rules, for every object of the arguments: no two names are equal without regard to case, unless the schema declares
//! both; and no name equals a declared one in another case. Declared is what `properties` has of any subschema that may
//! apply there, also by reference or as one of several.

use std::{
    collections::{HashMap, HashSet},
    ptr,
    rc::Rc,
};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

/// Subschemas that are looked at for one call, and names that are compared. Beyond that the arguments are not checked,
/// and so not let through.
const MOST_WORK: usize = 500_000;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const CONDITIONS: [&str; 3] = ["if", "then", "else"];

/// An argument whose name is another's in another case.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NameVariant {
    /// JSON pointer to the argument.
    pub(crate) path: String,
    pub(crate) name: String,
    /// The name that is declared, or given as well.
    pub(crate) meant: String,
}

/// The arguments are too many to be compared with the schema.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyNames;

/// The first such argument. `bound` are the names that are filled from the caller, whatever the schema declares.
pub(crate) fn name_variant<'a>(
    schema: &'a Value,
    bound: impl Iterator<Item = &'a String>,
    arguments: &'a Value,
) -> Result<Option<NameVariant>, TooManyNames> {
    if is_flat_and_declared(schema, arguments) {
        return Ok(None);
    }
    let mut reader = SchemaReader { root: schema, left: MOST_WORK, known: HashMap::new() };
    let root = reader.declared(&[schema])?.with(bound);
    let mut steps = Steps::default();
    let mut open = vec![Place { declared: Rc::new(root), value: arguments, at: Steps::ROOT }];
    while let Some(Place { declared, value, at }) = open.pop() {
        let first = open.len();
        match value {
            Value::Object(given) => {
                reader.spend(given.len())?;
                if let Some((name, meant)) = declared.variant_in(given) {
                    let path = pointer(&steps.path(at), name);
                    return Ok(Some(NameVariant { path, name: name.to_owned(), meant: meant.to_owned() }));
                }
                for (name, value) in given.iter().filter(|(_, value)| is_container(value)) {
                    reader.spend(declared.schemas.len())?;
                    let schemas: Vec<_> = declared.schemas.iter().filter_map(|one| of_member(one, name)).collect();
                    let (declared, at) = (reader.declared(&schemas)?, steps.to(at, Step::Name(name)));
                    open.push(Place { declared, value, at });
                }
            }
            Value::Array(items) => {
                reader.spend(items.len())?;
                for (index, value) in items.iter().enumerate().filter(|(_, value)| is_container(value)) {
                    reader.spend(declared.schemas.len())?;
                    let schemas: Vec<_> = declared.schemas.iter().filter_map(|one| of_item(one, index)).collect();
                    let (declared, at) = (reader.declared(&schemas)?, steps.to(at, Step::Index(index)));
                    open.push(Place { declared, value, at });
                }
            }
            _ => {}
        }
        // the first argument is looked at first
        if let Some(inner) = open.get_mut(first..) {
            inner.reverse();
        }
    }
    Ok(None)
}

/// A value within the arguments, with what the schema declares there.
struct Place<'a> {
    declared: Rc<Declared<'a>>,
    value: &'a Value,
    /// Its number among the steps.
    at: usize,
}

/// One step from a value to a value within it.
#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

/// The steps to all values that were looked at, each with the one before. A path is written only where it is needed.
#[derive(Default)]
struct Steps<'a>(Vec<(usize, Step<'a>)>);

impl<'a> Steps<'a> {
    const ROOT: usize = usize::MAX;

    fn to(&mut self, from: usize, step: Step<'a>) -> usize {
        self.0.push((from, step));
        self.0.len() - 1
    }

    fn path(&self, mut at: usize) -> String {
        let mut steps = Vec::new();
        while let Some((before, step)) = self.0.get(at) {
            steps.push(*step);
            at = *before;
        }
        steps.iter().rev().fold(String::new(), |path, step| match step {
            Step::Name(name) => pointer(&path, name),
            Step::Index(index) => format!("{path}/{index}"),
        })
    }
}

/// What a schema declares at one place.
#[derive(Clone, Default)]
struct Declared<'a> {
    /// The subschemas that may apply there.
    schemas: Vec<&'a Value>,
    names: HashSet<&'a str>,
    /// The same without regard to case.
    folded: HashMap<String, &'a str>,
}

impl<'a> Declared<'a> {
    fn with(self: Rc<Self>, more: impl Iterator<Item = &'a String>) -> Self {
        let mut declared = Self::clone(&self);
        for name in more {
            declared.names.insert(name);
            declared.folded.insert(folded(name), name);
        }
        declared
    }

    /// A name of the object that is a declared one, or another of the object, in another case.
    fn variant_in<'g>(&self, given: &'g Map<String, Value>) -> Option<(&'g str, &'g str)>
    where
        'a: 'g,
    {
        let mut others = given.keys().map(String::as_str).filter(|name| !self.names.contains(name)).peekable();
        others.peek()?;
        let mut seen: HashMap<String, &'g str> = HashMap::new();
        others.find_map(|name| {
            let folded = folded(name);
            if let Some(meant) = self.folded.get(&folded) {
                return Some((name, *meant));
            }
            seen.insert(folded, name).map(|meant| (name, meant))
        })
    }
}

/// Follows references within one schema, for a bounded number of steps.
struct SchemaReader<'a> {
    root: &'a Value,
    left: usize,
    /// What was read before: of the items of an array all but the first.
    known: HashMap<Vec<*const Value>, Rc<Declared<'a>>>,
}

impl<'a> SchemaReader<'a> {
    fn spend(&mut self, steps: usize) -> Result<(), TooManyNames> {
        self.left = self.left.checked_sub(steps).ok_or(TooManyNames)?;
        Ok(())
    }

    /// What these subschemas declare together.
    fn declared(&mut self, schemas: &[&'a Value]) -> Result<Rc<Declared<'a>>, TooManyNames> {
        self.spend(schemas.len())?;
        let key: Vec<*const Value> = schemas.iter().map(|schema| ptr::from_ref(*schema)).collect();
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let schemas = self.expanded(schemas)?;
        let names: HashSet<&str> =
            schemas.iter().flat_map(|schema| properties(schema)).map(|(name, _)| name.as_str()).collect();
        self.spend(names.len())?;
        let folded = names.iter().map(|name| (folded(name), *name)).collect();
        let declared = Rc::new(Declared { schemas, names, folded });
        self.known.insert(key, Rc::clone(&declared));
        Ok(declared)
    }

    /// These subschemas and all that apply to the same value with them, each once.
    fn expanded(&mut self, schemas: &[&'a Value]) -> Result<Vec<&'a Value>, TooManyNames> {
        let mut found: Vec<&'a Value> = Vec::new();
        let mut seen: HashSet<*const Value> = HashSet::new();
        let mut open: Vec<&'a Value> = schemas.to_vec();
        while let Some(schema) = open.pop() {
            self.spend(1)?;
            let Some(members) = schema.as_object() else { continue };
            if !seen.insert(ptr::from_ref(schema)) {
                continue;
            }
            found.push(schema);
            let texts = REFERENCES.iter().filter_map(|keyword| members.get(*keyword)?.as_str());
            open.extend(texts.filter_map(|reference| self.target(reference)));
            open.extend(LISTS.iter().filter_map(|keyword| members.get(*keyword)?.as_array()).flatten());
            open.extend(CONDITIONS.iter().filter_map(|keyword| members.get(*keyword)));
            open.extend(members.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values));
        }
        Ok(found)
    }

    /// The subschema that a reference within the schema leads to.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        let pointer = percent_decode_str(reference.strip_prefix('#')?).decode_utf8().ok()?;
        self.root.pointer(&pointer)
    }
}

/// Most calls: an object without others in it, each of whose names the schema itself declares as it is written.
fn is_flat_and_declared(schema: &Value, arguments: &Value) -> bool {
    let declared = schema.get("properties").and_then(Value::as_object);
    let Some((declared, given)) = declared.zip(arguments.as_object()) else { return false };
    given.iter().all(|(name, value)| !is_container(value) && declared.contains_key(name))
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The subschema for the member of a name. Patterns are not matched: what they describe declares no names here.
fn of_member<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let own = schema.get("properties").and_then(|properties| properties.get(name));
    own.or_else(|| schema.get("additionalProperties"))
}

fn of_item(schema: &Value, index: usize) -> Option<&Value> {
    let listed = |keyword: &str| schema.get(keyword)?.as_array()?.get(index);
    listed("prefixItems").or_else(|| listed("items")).or_else(|| schema.get("items"))
}

fn pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
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
        let found = name_variant(schema, bound.iter(), arguments).unwrap();
        found.map(|found| (found.path, found.meant))
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
            (json!({"to": {"iban": 1, "bic": 2, "BIC": 3}}), "/to/BIC", "bic"),
            (json!({"free": [[{"a": 1, "A": 2}]]}), "/free/0/0/A", "a"),
        ] {
            assert_eq!(found(&schema, &arguments), Some((path.to_owned(), meant.to_owned())), "{arguments}");
        }
        for arguments in [
            json!({"amount": 1, "user_id": "x", "other": 1, "to": {"iban": 1, "bic": 2}}),
            json!({"free": {"a": 1, "b": {"A": 2}}}),
            json!([]),
        ] {
            assert_eq!(found(&schema, &arguments), None, "{arguments}");
        }
        assert_eq!(found(&json!({"properties": {"a": {}, "A": {}}}), &json!({"a": 1, "A": 2})), None);
    }

    #[test]
    fn names_are_declared_through_references_and_parts_of_the_schema() {
        let to = json!({"$ref": "#/$defs/an%20account"});
        let base =
            json!({"properties": {"amount": {}, "to": to, "all": {"prefixItems": [to]}}, "additionalProperties": to});
        let defs = json!({"an account": {"anyOf": [{"properties": {"iban": {}}}, {"$ref": "#/$defs/bank"}]}, "base": base,
            "bank": {"if": {"properties": {"bic": {}}}, "properties": {"inner": {"$ref": "#/$defs/an account"}}}});
        for whole in
            [json!({"$ref": "#/$defs/base", "$defs": defs}), json!({"allOf": [{}, {"oneOf": [base]}], "$defs": defs})]
        {
            for (arguments, path) in [
                (json!({"AMOUNT": 1}), "/AMOUNT"),
                (json!({"to": {"iban": "A", "IBAN": "B"}}), "/to/IBAN"),
                (json!({"to": {"IBAN": "B"}}), "/to/IBAN"),
                (json!({"to": {"Bic": "B"}}), "/to/Bic"),
                (json!({"to": {"inner": {"inner": {"BIC": 1}}}}), "/to/inner/inner/BIC"),
                (json!({"all": [{"IBAN": 1}]}), "/all/0/IBAN"),
                (json!({"more": {"IBAN": 1}}), "/more/IBAN"),
            ] {
                assert_eq!(found(&whole, &arguments).map(|(path, _)| path).as_deref(), Some(path), "{arguments}");
            }
            assert_eq!(found(&whole, &json!({"amount": 1, "to": {"iban": "A", "bic": "B", "other": 1}})), None);
        }
    }

    #[test]
    fn the_work_is_bounded_whatever_the_schema() {
        let wide: Vec<Value> = (0..9_000).map(|n| json!({"properties": {format!("p{n}"): {}}})).collect();
        let schema = json!({"properties": {"all": {"items": {"anyOf": wide}}}});
        let arguments = json!({"all": vec![json!({"a": {}}); 10_000]});
        assert_eq!(name_variant(&schema, [].iter(), &arguments), Err(TooManyNames));
    }
}
