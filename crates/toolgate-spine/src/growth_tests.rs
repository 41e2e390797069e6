//! How work grows with arguments and results: in proportion.

use serde_json::{Value, json, value::RawValue};
use toolgate_core::tool::Counterpart;

use crate::{
    arguments_summary, counterpart::CounterCall, cutting::Whole, linear::assert_linear, name_variant::name_variant,
};

fn names(count: usize, prefix: &str) -> serde_json::Map<String, Value> {
    (0..count).map(|number| (format!("{prefix}{number}"), json!({}))).collect()
}

#[test]
fn argument_names_are_compared_in_linear_time() {
    let none: [String; 0] = [];
    assert_linear("many declared and many given", 64, |count| {
        let schema = json!({"properties": names(count, "n")});
        let mut given = names(count, "n");
        given.extend(names(count, "other"));
        assert_eq!(name_variant(&schema, none.iter(), &Value::Object(given)), Ok(None));
    });
    for item in [json!({}), json!({"x": 1}), json!({"n1": {}, "x": {}})] {
        assert_linear("many declared and many items", 64, |count| {
            let schema = json!({"properties": {"all": {"items": {"properties": names(count, "n")}}}});
            let given = json!({"all": vec![item.clone(); count]});
            assert_eq!(name_variant(&schema, none.iter(), &given), Ok(None));
        });
    }
    assert_linear("a long name over many items", 1 << 12, |count| {
        let name = "k".repeat(count);
        let schema = json!({"properties": {&name: {"items": {"properties": {"a": {}}}}}});
        assert_eq!(name_variant(&schema, none.iter(), &json!({&name: vec![json!({}); count / 16]})), Ok(None));
    });
}

#[test]
fn arguments_of_counterparts_are_made_in_linear_time() {
    for expression in [
        "{id: output.structuredContent.id}",
        "{all: input.items[].name}",
        "{all: input.items[?name=='x'] | [0], keys: keys(input)}",
        "{joined: join(',', input.items[*].name)}",
        "{last: sort_by(input.items, &name)[-1]}",
    ] {
        let counterpart = Counterpart { tool: "other".to_owned(), arguments: expression.to_owned() };
        assert_linear(expression, 32, |count| {
            let input = json!({"items": vec![json!({"name": "x"}); count]}).to_string();
            let output = json!({"structuredContent": {"id": "i".repeat(count)}}).to_string();
            let input = RawValue::from_string(input).unwrap();
            assert!(CounterCall::of(&counterpart, &input, Some(output.as_bytes())).is_ok(), "{expression}");
        });
    }
}

#[test]
fn results_are_cut_and_arguments_summed_up_in_linear_time() {
    for block in [json!({"type": "text", "text": "x"}), json!({"type": "text", "text": "\n\u{1}".repeat(20)}), json!(1)]
    {
        assert_linear("blocks of a result", 64, |count| {
            let members: serde_json::Map<String, Value> = names(count, "m");
            let result = json!({"content": vec![block.clone(); count], "_meta": members}).to_string();
            let whole = Whole::read(result.as_bytes()).unwrap();
            whole.cut(result.len() / 2, (result.len(), "toolgate://results/1", "t"));
        });
    }
    assert_linear("arguments in a line", 256, |count| {
        let mut given = names(count, "\u{202e}");
        given.insert("long".to_owned(), json!("a b".repeat(count)));
        arguments_summary(&Value::Object(given), usize::MAX);
    });
}
