//! Schemas that are refused, those that are not, and what checking costs.

use serde_json::json;

use super::*;
use crate::offload::deep_work;

fn is_checked(cost: &SchemaCost, value: &Value) -> bool {
    cost.steps(value, &ValueSize::of(value)).is_some()
}

fn refused(schema: &Value) -> Option<SchemaTooLarge> {
    SchemaCost::of(schema).err()
}

#[test]
fn doubling_references_are_refused_and_plain_recursion_is_not() {
    for name in [|n: usize| format!("#/$defs/d{n}"), |n: usize| format!("#d{n}"), |n: usize| format!("#/%24defs/d{n}")]
    {
        let mut defs = serde_json::Map::new();
        for n in 0..30 {
            let next = name(n + 1);
            defs.insert(
                format!("d{n}"),
                json!({"$anchor": format!("d{n}"), "allOf": [{"$ref": next}, {"$ref": next}]}),
            );
        }
        defs.insert("d30".into(), json!({"$anchor": "d30", "type": "string"}));
        assert_eq!(refused(&json!({"$ref": name(0), "$defs": defs})), Some(SchemaTooLarge::Expansion));
    }
    let tree = json!({"$defs": {"node": {"properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node"});
    assert_eq!(refused(&tree), None);
}

#[test]
fn deep_schemas_are_refused() {
    let mut schema = json!({"type": "string"});
    for _ in 0..200 {
        schema = json!({"properties": {"x": schema}});
    }
    assert_eq!(refused(&schema), Some(SchemaTooLarge::Depth));
}

#[test]
fn what_leads_back_without_going_into_the_value_is_refused() {
    let all = |n: usize| (0..n).map(|n| json!({"$ref": format!("#/$defs/d{n}")})).collect::<Vec<_>>();
    let each =
        |n: usize| (0..n).map(|k| (format!("d{k}"), json!({"allOf": all(n)}))).collect::<serde_json::Map<_, _>>();
    assert_eq!(refused(&json!({"$ref": "#/$defs/d0", "$defs": each(12)})), Some(SchemaTooLarge::Loop));
    assert_eq!(refused(&json!({"anyOf": [{"$ref": "#"}]})), Some(SchemaTooLarge::Loop));
    assert_eq!(refused(&json!({"properties": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}})), None);
    // nobody gets there
    assert_eq!(refused(&json!({"$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}})), None);
}

#[test]
fn references_that_could_mean_two_things_are_refused() {
    let nested = json!({"properties": {"a": {"$id": "https://x/y", "$ref": "#/$defs/n"}}, "$defs": {"n": {}}});
    assert_eq!(refused(&nested), Some(SchemaTooLarge::NestedId));
    assert_eq!(
        refused(&json!({"$id": "https://x/y", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {}}})),
        None
    );
    assert_eq!(refused(&json!({"properties": {"$id": {"type": "string"}, "b": {"$ref": "#/properties/$id"}}})), None);
}

#[test]
fn a_long_chain_of_references_is_refused_and_one_within_the_bound_fits_the_stack() {
    let chain = |length: usize| {
        let link = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
        let mut defs: serde_json::Map<_, _> =
            (0..length).map(|n| (format!("d{n}"), json!({"allOf": [link(n + 1)]}))).collect();
        defs.insert(format!("d{length}"), json!({"type": "object", "properties": {"a": link(0)}}));
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    };
    assert_eq!(refused(&chain(20_000)), Some(SchemaTooLarge::Expansion));
    assert_eq!(refused(&chain(100)), Some(SchemaTooLarge::Height));
    let (schema, mut value) = (chain(15), json!(1));
    for _ in 0..120 {
        value = json!({"a": value});
    }
    let cost = SchemaCost::of(&schema).unwrap();
    assert!(!cost.is_inline(&ValueSize::of(&value)), "a thread that serves has no stack for it");
    let validator = jsonschema::options().build(&schema).unwrap();
    let checked = deep_work(|| {
        assert!(!validator.is_valid(&value) && cost.can_explain(&value) && validator.validate(&value).is_err());
    });
    assert_eq!(checked, Some(()));
}

#[test]
fn what_is_checked_at_once_fits_the_stack_of_a_thread_that_serves() {
    // the most that is checked there: every level of the value goes through a chain of subschemas
    for height in [1, 3, 7, 15, 30] {
        let mut node = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        for _ in 0..height {
            node = json!({"allOf": [node]});
        }
        let cost = SchemaCost::of(&node).unwrap();
        let deepest = (1..120).rev().map(nested).find(|value| cost.is_inline(&ValueSize::of(value))).unwrap();
        let validator = jsonschema::options().build(&node).unwrap();
        let serving = std::thread::Builder::new().stack_size(1 << 20);
        let checked = serving.spawn(move || {
            assert!(cost.can_explain(&deepest) && validator.is_valid(&deepest) && validator.validate(&deepest).is_ok());
        });
        checked.unwrap().join().unwrap();
    }
}

/// Schemas under which one part of a value is reached in 2^depth ways.
fn doubling() -> Vec<Value> {
    let down = json!({"properties": {"a": {"$ref": "#/$defs/n"}}});
    let of = |node: Value| json!({"$defs": {"n": node}, "$ref": "#/$defs/n", "type": "object"});
    let mut all: Vec<Value> =
        ["allOf", "anyOf", "oneOf"].map(|keyword| of(json!({"type": "object", keyword: [down, down]}))).into();
    all.push(of(json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "additionalProperties": false,
        "patternProperties": {"a": {"$ref": "#/$defs/n"}}})));
    all.push(of(json!({"anyOf": [down], "unevaluatedProperties": false})));
    all.push(of(json!({"oneOf": [
        {"properties": {"op": {"const": "and"}, "a": {"$ref": "#/$defs/n"}}},
        {"properties": {"op": {"const": "or"}, "a": {"$ref": "#/$defs/n"}}}]})));
    all
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({ "a": inner }))
}

#[test]
fn a_recursive_schema_is_checked_and_only_explained_where_that_ends() {
    for schema in doubling() {
        let cost = SchemaCost::of(&schema).unwrap();
        assert!(cost.can_explain(&nested(5)), "{schema}");
        assert!(!cost.can_explain(&nested(60)), "{schema}");
        assert!(is_checked(&cost, &nested(120)));
        // ends, which is what is asked here
        let _ = jsonschema::options().build(&schema).unwrap().is_valid(&nested(60));
    }
    let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}}});
    let mut value = json!({});
    for _ in 0..60 {
        value = json!({"left": value, "right": {"left": {}}, "all": [{}, {"right": {}}]});
    }
    assert!(SchemaCost::of(&tree).unwrap().can_explain(&value));
}

#[test]
fn the_work_of_a_value_grows_with_the_value_and_not_faster() {
    let graph =
        SchemaGraph::of(&json!({"properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}}}), 100).unwrap();
    let value = |n: usize| json!({"b": vec![json!({"a": {"a": {}}}); n]});
    let steps = |n: usize| graph.steps(&value(n), usize::MAX).unwrap();
    assert!(steps(800) <= 9 * steps(100));
}

#[test]
fn more_than_can_be_checked_is_refused_unchecked() {
    let many: Vec<Value> = (0..9_000).map(|n| json!({"const": n})).collect();
    let cost = SchemaCost::of(&json!({"properties": {"all": {"items": {"anyOf": many}}}})).unwrap();
    assert!(!is_checked(&cost, &json!({"all": vec![-1; 3_000]})));
    assert!(is_checked(&cost, &json!({"all": vec![-1; 90]})));
}

#[test]
fn values_to_compare_with_text_under_patterns_and_items_that_differ_count_too() {
    let numbers: Vec<usize> = (0..10_000).collect();
    let compared = SchemaCost::of(&json!({"items": {"enum": numbers}})).unwrap();
    assert!(is_checked(&compared, &json!(vec![-1; 100])) && !is_checked(&compared, &json!(vec![-1; 1_000])));
    let patterned = SchemaCost::of(&json!({"items": {"pattern": "(a|b)*a(a|b){1000}"}})).unwrap();
    let text = |length: usize| json!(["a".repeat(length)]);
    assert!(is_checked(&patterned, &text(16_000)) && !is_checked(&patterned, &text(160_000)));
    let differing = SchemaCost::of(&json!({"uniqueItems": true, "items": {"$ref": "#"}})).unwrap();
    let deep = |levels: usize| (0..levels).fold(json!(vec![0; 20_000]), |inner, _| json!([inner]));
    assert!(is_checked(&differing, &deep(2)) && !is_checked(&differing, &deep(110)));
}

#[test]
fn a_large_value_is_counted_by_what_is_there_and_not_by_the_size_of_the_schema() {
    let properties: serde_json::Map<_, _> =
        (0..400).map(|n| (format!("p{n}"), json!({"type": "object", "properties": {"a": {}, "b": {}}}))).collect();
    let schema = json!({"type": "object", "properties": {"rows": {"items": {"type": "integer"}}, "more": {"properties": properties}}});
    let cost = SchemaCost::of(&schema).unwrap();
    assert!(is_checked(&cost, &json!({"rows": vec![1; 100_000]})));
    assert!(!cost.is_inline(&ValueSize::of(&json!({"rows": vec![1; 100_000]}))));
    assert!(cost.is_inline(&ValueSize::of(&json!({"rows": [1, 2, 3], "more": {"p1": {"a": 1}}}))));
}
