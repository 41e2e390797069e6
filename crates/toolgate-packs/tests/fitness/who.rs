//! Who may ask: strangers get the catalogue and nothing else, and nobody gets a hint of anybody else's.

use serde_json::{Value, json};
use toolgate_core::{Caller, caller::Task};
use toolgate_spine::Outcome;

use crate::{
    generate::{MONDAY, Outing},
    world::{World, assert_fits, user_named},
};

/// Shown to everybody.
pub const PUBLIC: [&str; 17] = [
    "analyze_activity",
    "analyze_meal_nutrition",
    "analyze_performance_trends",
    "calculate_daily_nutrition",
    "calculate_metrics",
    "compare_activities",
    "detect_patterns",
    "get_activities",
    "get_activity_intelligence",
    "get_athlete",
    "get_configuration_catalog",
    "get_configuration_profiles",
    "get_food_details",
    "get_stats",
    "search_food",
    "suggest_goals",
    "validate_configuration",
];
const OPEN: [&str; 3] = ["get_configuration_catalog", "get_configuration_profiles", "validate_configuration"];

fn names(listed: &[Value]) -> Vec<&str> {
    listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn is_marked(tool: &Value) -> bool {
    tool["_meta"]["toolgate/callable"] == false
}

on_both! {
    async fn a_stranger_sees_the_public_tools_and_may_call_three(world: World) {
        let stranger = Caller::anonymous();
        let listed = world.listed(&stranger);
        assert_eq!(names(&listed), PUBLIC);
        for tool in &listed {
            assert_eq!(is_marked(tool), !OPEN.contains(&tool["name"].as_str().unwrap()), "{tool}");
        }
        for tool in toolgate_packs::fitness::offered().unwrap() {
            let name = tool.name.as_str();
            let arguments = if name == "validate_configuration" { json!({"parameters": {"max_hr": 90}}) } else { json!({}) };
            match world.call(&stranger, name, arguments, false).await {
                Outcome::Answered(bytes) => {
                    assert!(OPEN.contains(&name), "{name}");
                    let result: Value = serde_json::from_slice(&bytes).unwrap();
                    assert_eq!(result["isError"], false, "{result}");
                    assert_fits(name, &result["structuredContent"]);
                }
                Outcome::Denied { denial, needs_identity: true, .. } => {
                    assert!(!OPEN.contains(&name), "{name}");
                    assert_eq!(denial.code, "authentication_required", "{name}");
                    assert_fits(name, &serde_json::to_value(&denial).unwrap());
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    async fn a_plan_that_lacks_a_tool_says_so(world: World) {
        let mut starter = user_named("ann");
        starter.tenant.as_mut().unwrap().plan = Some("starter".into());
        for tool in ["analyze_performance_trends", "detect_patterns"] {
            match world.call(&starter, tool, json!({"timeframe": "week", "metric": "pace"}), false).await {
                Outcome::Denied { denial, .. } => assert_eq!(denial.code, "plan_restricted", "{tool}"),
                other => panic!("{tool}: {other:?}"),
            }
        }
        let listed = world.listed(&starter);
        assert_eq!(listed.iter().filter(|tool| is_marked(tool)).count(), 0);
        assert_eq!(listed.len(), 22);
    }

    async fn a_caller_without_a_user_has_food_and_settings_alone(world: World) {
        let task = Caller { task: Some(Task { id: "t".into(), process: None, orchestrator: false }), ..Caller::default() };
        for tool in ["get_activities", "connect_provider", "set_goal", "update_user_configuration"] {
            let arguments = json!({"provider": "files", "goal_type": "time", "target_value": 1, "user_id": "ann"});
            match world.call(&task, tool, arguments, false).await {
                Outcome::Unbound { argument, .. } => assert_eq!(argument, "user_id", "{tool}"),
                other => panic!("{tool}: {other:?}"),
            }
        }
        assert!(matches!(world.call(&task, "search_food", json!({"query": "oats"}), false).await, Outcome::Answered(_)));
    }

    async fn another_users_id_in_the_arguments_is_refused(world: World) {
        for tool in ["get_activities", "get_stats"] {
            let (error, code) = world.bad("ann", tool, json!({"user_id": "bob"})).await;
            assert_eq!(code, "validation", "{error}");
        }
        world.send("ann", &[]).await;
        world.good("ann", "get_stats", json!({"user_id": "ann"})).await;
    }

    async fn anothers_activity_answers_byte_for_byte_as_a_missing_one(world: World) {
        world.send("ann", &[("a.gpx", Outing::run(MONDAY, 30, 30).gpx())]).await;
        world.send("bob", &[]).await;
        let hers = world.ids("ann").await.remove(0);
        let none = format!("act_{}", "0".repeat(32));
        for (tool, more) in [
            ("get_activity_intelligence", json!({})),
            ("analyze_activity", json!({})),
            ("calculate_metrics", json!({})),
            ("compare_activities", json!({"comparison_type": "average"})),
        ] {
            let asked = async |id: &str| {
                let mut arguments = more.clone();
                arguments["activity_id"] = json!(id);
                world.result("bob", tool, arguments, false).await.to_string().replace(id, "ID")
            };
            let theirs = asked(&hers).await;
            assert_eq!(theirs, asked(&none).await, "{tool}");
            assert!(theirs.contains("not_found"), "{theirs}");
        }
        assert_eq!(world.good("bob", "get_stats", json!({})).await["stats"]["total_activities"], 0);
    }

    async fn anothers_recipe_can_be_neither_seen_nor_deleted(world: World) {
        let recipe = json!({"name": "Hers", "servings": 1, "instructions": [], "ingredients": [{"name": "x"}]});
        let saved = world.good("ann", "save_recipe", recipe).await;
        let hers = saved["recipe_id"].as_str().unwrap();
        let none = format!("recipe_{}", "0".repeat(32));
        let tried = async |id: &str, dry: bool| {
            world.result("bob", "delete_recipe", json!({"recipe_id": id}), dry).await.to_string().replace(id, "ID")
        };
        for dry in [false, true] {
            assert_eq!(tried(hers, dry).await, tried(&none, dry).await);
        }
        assert_eq!(world.good("ann", "delete_recipe", json!({"recipe_id": hers})).await["status"], "deleted");
    }

    async fn a_store_that_does_not_answer_is_not_talked_about(world: World) {
        world.store.close().await;
        for (tool, arguments) in [
            ("get_activities", json!({})),
            ("connect_provider", json!({"provider": "files"})),
            ("set_goal", json!({"goal_type": "time", "target_value": 1})),
            ("update_user_configuration", json!({"profile": "elite"})),
        ] {
            let (error, code) = world.bad("ann", tool, arguments).await;
            assert_eq!((error.as_str(), code.as_str()), ("The store can't be reached. Try again later.", "internal"), "{tool}");
        }
        world.good("ann", "search_food", json!({"query": "oats"})).await;
    }
}
