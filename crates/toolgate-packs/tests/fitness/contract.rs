//! What clients are promised: the definitions as they are listed, and the facts. A change here breaks somebody.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_packs::fitness::offered;

use crate::{
    who::PUBLIC,
    world::{World, user_named},
};

/// Name, group, effect.
const PROMISED: [(&str, &str, &str); 24] = [
    ("analyze_activity", "analysis", "read"),
    ("analyze_meal_nutrition", "nutrition", "read"),
    ("analyze_performance_trends", "analysis", "read"),
    ("calculate_daily_nutrition", "nutrition", "read"),
    ("calculate_metrics", "analysis", "read"),
    ("compare_activities", "analysis", "read"),
    ("connect_provider", "connections", "write"),
    ("delete_recipe", "recipes", "write"),
    ("detect_patterns", "analysis", "read"),
    ("disconnect_provider", "connections", "write"),
    ("get_activities", "fitness", "read"),
    ("get_activity_intelligence", "analysis", "read"),
    ("get_athlete", "fitness", "read"),
    ("get_configuration_catalog", "configuration", "read"),
    ("get_configuration_profiles", "configuration", "read"),
    ("get_connection_status", "connections", "read"),
    ("get_food_details", "nutrition", "read"),
    ("get_stats", "fitness", "read"),
    ("save_recipe", "recipes", "write"),
    ("search_food", "nutrition", "read"),
    ("set_goal", "goals", "write"),
    ("suggest_goals", "goals", "read"),
    ("update_user_configuration", "configuration", "write"),
    ("validate_configuration", "configuration", "read"),
];

#[test]
fn the_tools_are_as_promised() {
    let offers: BTreeMap<String, _> = offered().unwrap().into_iter().map(|offer| (offer.name.clone(), offer)).collect();
    assert_eq!(offers.keys().map(String::as_str).collect::<Vec<_>>(), PROMISED.map(|(name, ..)| name));
    for (name, group, effect) in PROMISED {
        let offer = &offers[name];
        let facts = &offer.facts;
        assert_eq!((facts.group.as_deref(), facts.effect.as_str()), (Some(group), effect), "{name}");
        assert_eq!((facts.when_denied.as_str(), facts.advertised), ("explained", PUBLIC.contains(&name)), "{name}");
        let plan = matches!(name, "analyze_performance_trends" | "detect_patterns").then_some("professional");
        assert_eq!(facts.min_plan.as_deref(), plan, "{name}");
        let open =
            matches!(name, "get_configuration_catalog" | "get_configuration_profiles" | "validate_configuration");
        assert_eq!(facts.permission.as_str(), if open { "unauthenticated" } else { "signed_in" }, "{name}");
        assert!(facts.help_names && facts.descriptions.contains_key("ja"), "{name}");
        let definition: Value = serde_json::from_str(offer.definition.get()).unwrap();
        let input = &definition["inputSchema"];
        assert_eq!(input["properties"].get("user_id").is_some(), facts.bind.contains_key("user_id"), "{name}");
        assert_eq!(input["properties"].get("dryRun").is_some(), effect == "write", "{name}");
        assert!(!input.to_string().contains("secret"), "{name} asks for no secret");
        assert_eq!(definition["annotations"]["readOnlyHint"], effect == "read", "{name}");
        let mut example: Value = serde_json::from_str(&facts.example.as_ref().unwrap().0).unwrap();
        if facts.bind.contains_key("user_id") {
            example["user_id"] = json!("ann");
        }
        assert!(jsonschema::validator_for(input).unwrap().is_valid(&example), "{name}: {example}");
        let output = jsonschema::validator_for(&definition["outputSchema"]).unwrap();
        for refusal in [json!({"error": "e", "code": "c"}), json!({"code": "c", "message": "m", "rule": "r"})] {
            assert!(output.is_valid(&refusal), "{name}");
        }
        assert!(!output.is_valid(&json!({})), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_is_as_it_was() {
    World::on_sqlite(|world| async move {
        let listed = Value::Array(world.listed(&user_named("ann")));
        insta::with_settings!({prepend_module_to_snapshot => false}, {
            insta::assert_json_snapshot!("fitness_listed", listed);
        });
    })
    .await;
}
