//! What clients are promised of both packs: names, parameters, answers. A change here breaks somebody.

use serde_json::{Value, json};
use toolgate_packs::{process, workspace};
use toolgate_spine::ToolOffer;

/// Each tool with its parameters, those that are required marked, and the members of its answer.
const PROMISED: [(&str, &str, &str); 17] = [
    ("write_result", "result! key_files tags", "status task_id summary_preview"),
    ("load_result", "task_name task_id", "result_text key_files tags created_at"),
    ("read_result_summary", "task_name task_id", "summary_text key_files created_at"),
    ("write_artifact", "title! content! format! template_name tags", "status artifact_id title"),
    ("load_artifact", "artifact_id!", "id task_id title format template_name tags created_at content"),
    ("list_artifacts", "task_id", "artifacts"),
    ("list_artifact_templates", "", "templates"),
    ("load_artifact_template", "template_name!", "name description format tags content"),
    ("write_knowledge", "key! content! reason!", "status key version created_at"),
    ("get_knowledge", "key! version", "key version content reason created_at"),
    ("view_knowledge_history", "key!", "key versions"),
    ("search_knowledge", "query! page", "query page results has_more"),
    (
        "get_process_state",
        "",
        "process_id process_name state completed_steps pending_steps current_index injections_left orchestrator_decisions",
    ),
    ("set_process_decision", "decision! reasoning! injected_steps", "status decision task_id decision_id effect"),
    ("get_git_diff", "since_commit", "diff since_commit truncated"),
    ("get_commit_log", "since_commit", "since_commit commits truncated"),
    ("inject_steps", "steps!", "status injected_count steps effect"),
];

fn offers() -> Vec<(ToolOffer, Value)> {
    let all = workspace::offered(false).unwrap().into_iter().chain(process::offered().unwrap());
    all.map(|offer| (offer.clone(), serde_json::from_str(offer.definition.get()).unwrap())).collect()
}

fn words(values: &Value) -> Vec<&str> {
    values.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn the_tools_are_the_promised_ones() {
    let offers = offers();
    let names: Vec<&str> = offers.iter().map(|(offer, _)| offer.name.as_str()).collect();
    assert_eq!(names, PROMISED.map(|(name, ..)| name));
    for ((name, parameters, answer), (_, definition)) in PROMISED.iter().zip(&offers) {
        let input = &definition["inputSchema"];
        let required = words(&input["required"]);
        let mark = |name: &String| if required.contains(&name.as_str()) { format!("{name}!") } else { name.clone() };
        let given: Vec<String> = input["properties"].as_object().unwrap().keys().map(mark).collect();
        assert_eq!(given.join(" "), *parameters, "{name}");
        assert_eq!(words(&definition["outputSchema"]["anyOf"][0]["required"]).join(" "), *answer, "{name}");
    }
}

#[test]
fn each_is_described_in_both_languages_and_its_example_fits() {
    for (offer, definition) in offers() {
        let (name, facts) = (&offer.name, &offer.facts);
        assert!(definition["description"].as_str().is_some_and(|text| text.ends_with('.')), "{name}");
        assert!(facts.descriptions.contains_key("ja"), "{name}");
        let example: Value = serde_json::from_str(&facts.example.as_ref().unwrap().0).unwrap();
        let schema = jsonschema::validator_for(&definition["inputSchema"]).unwrap();
        assert!(schema.is_valid(&example), "{name}: {example}");
        let reads = facts.effect.as_str() == "read";
        assert_eq!(definition["annotations"]["readOnlyHint"], json!(reads), "{name}");
    }
}

#[test]
fn who_each_is_for_is_a_fact() {
    let said = |offers: Vec<ToolOffer>| -> Vec<String> {
        let mut said: Vec<String> = offers
            .iter()
            .map(|offer| format!("{} {} {}", offer.facts.permission, offer.facts.scope, offer.facts.help_names))
            .collect();
        said.dedup();
        said
    };
    assert_eq!(said(workspace::offered(false).unwrap()), ["signed_in task true"]);
    assert_eq!(said(workspace::offered(true).unwrap()), ["unauthenticated shared true"]);
    assert_eq!(said(process::offered().unwrap()), ["signed_in orchestrator false"]);
}
