//! Every change: tried dry it changes nothing, done it can be taken back, and what moved on stays.

use serde_json::{Value, json};

use crate::{
    generate::{DAY, MONDAY, Outing},
    world::{World, sent},
};

fn porridge() -> Value {
    json!({
        "name": "Porridge", "servings": 2, "instructions": ["Boil", "Wait"],
        "ingredients": [{"name": "Oats", "fdc_id": 173_904, "amount_g": 100}, {"name": "Banana", "fdc_id": 173_944, "amount_g": 100}],
    })
}

on_both! {
    async fn an_import_is_shown_done_and_taken_back_whole(world: World) {
        let (old, new) = (Outing::run(MONDAY, 30, 30).gpx(), Outing::run(MONDAY + DAY, 30, 30).gpx());
        let files = json!({"provider": "files", "files": sent(&[("a.gpx", old.clone()), ("b.txt", vec![])])});
        let shown = world.preview("ann", "connect_provider", files).await;
        assert_eq!((&shown["imported"], &shown["status"]), (&json!(1), &json!("preview")));
        assert_eq!(shown["refused"][0]["name"], "b.txt");
        assert_eq!(world.good("ann", "get_connection_status", json!({"provider": "files"})).await["connected"], false);

        world.send("ann", &[("a.gpx", old.clone())]).await;
        let first = world.undo();
        world.send("ann", &[("b.gpx", new), ("a.gpx", old)]).await;
        let second = world.undo();
        let back = world.take_back("connect_provider", &second).await.unwrap();
        assert_eq!((&back["status"], &back["message"]), (&json!("connected"), &json!("Activities removed: 1.")));
        assert_eq!(world.ids("ann").await.len(), 1, "what was there before stays");
        assert!(world.take_back("connect_provider", &second).await.unwrap_err().contains("gone already"));
        let back = world.take_back("connect_provider", &first).await.unwrap();
        assert_eq!(back["status"], "disconnected", "it came with that import");
        assert!(world.last_is_final());
        world.send("ann", &[]).await;
        assert_eq!(world.ids("ann").await, [""; 0]);
        world.send("ann", &[]).await;
        assert!(world.last_is_final(), "nothing was changed, so nothing is taken back");
    }

    async fn disconnecting_keeps_activities_unless_told_otherwise(world: World) {
        world.send("ann", &[("a.gpx", Outing::run(MONDAY, 30, 30).gpx())]).await;
        let files = json!({"provider": "files"});
        world.preview("ann", "disconnect_provider", files.clone()).await;
        assert_eq!(world.ids("ann").await.len(), 1);
        let done = world.good("ann", "disconnect_provider", files.clone()).await;
        assert_eq!((&done["status"], &done["provider"]), (&json!("disconnected"), &json!("files")));
        let undo = world.undo();
        assert_eq!(world.bad("ann", "get_activities", json!({})).await.1, "not_connected");
        assert_eq!(world.take_back("disconnect_provider", &undo).await.unwrap()["status"], "connected");
        let redo = world.undo();
        assert_eq!(world.ids("ann").await.len(), 1);
        assert!(world.take_back("disconnect_provider", &undo).await.unwrap_err().contains("connected already"));
        world.take_back("disconnect_provider", &redo).await.unwrap();
        assert!(world.take_back("disconnect_provider", &redo).await.unwrap_err().contains("no longer that one"));

        world.send("ann", &[]).await;
        assert_eq!(world.ids("ann").await.len(), 1, "they come back when it is connected again");
        let deleting = json!({"provider": "files", "delete_activities": true});
        world.preview("ann", "disconnect_provider", deleting.clone()).await;
        assert_eq!(world.good("ann", "disconnect_provider", deleting).await["message"], "Disconnected. 1 activity deleted.");
        assert!(world.last_is_final());
        world.send("ann", &[]).await;
        assert_eq!(world.ids("ann").await, [""; 0]);
    }

    async fn a_goal_is_shown_set_taken_back_and_set_again(world: World) {
        let goal = json!({"goal_type": "distance", "target_value": 42.2, "timeframe": "month", "title": "Marathon", "sport": "Running"});
        let shown = world.preview("ann", "set_goal", goal.clone()).await;
        assert_eq!((&shown["status"], &shown["goal_id"]), (&json!("preview"), &Value::Null));
        let set = world.good("ann", "set_goal", goal).await;
        assert_eq!((&set["status"], &set["goal"]), (&json!("created"), &shown["goal"]));
        assert_eq!((&set["goal"]["sport"], &set["goal"]["title"]), (&json!("run"), &json!("Marathon")));
        let undo = world.undo();
        world.send("ann", &[]).await;
        let goals = async || world.good("ann", "suggest_goals", json!({})).await["active_goals"].as_array().unwrap().clone();
        assert_eq!(goals().await[0]["goal_id"], set["goal_id"]);
        assert_eq!(world.take_back("set_goal", &undo).await.unwrap()["status"], "removed");
        let redo = world.undo();
        assert_eq!(goals().await.len(), 0);
        assert!(world.take_back("set_goal", &undo).await.unwrap_err().contains("gone already"));
        assert_eq!(world.take_back("set_goal", &redo).await.unwrap()["goal_id"], set["goal_id"]);
        assert_eq!(goals().await.len(), 1);
        assert!(world.take_back("set_goal", &redo).await.unwrap_err().contains("back already"));
        for wrong in [json!({}), json!({"goal_type": "x", "target_value": 1}), json!({"goal_type": "time", "target_value": 0}), json!({"goal_type": "time", "target_value": 1, "target_date": "soon"})] {
            assert_eq!(world.bad("ann", "set_goal", wrong).await.1, "validation");
        }
    }

    async fn a_recipe_is_saved_with_its_nutrition_deleted_and_restored(world: World) {
        let shown = world.preview("ann", "save_recipe", porridge()).await;
        let saved = world.good("ann", "save_recipe", porridge()).await;
        assert_eq!(shown["nutrition_per_serving"], saved["nutrition_per_serving"]);
        // (379 + 89) / 2
        assert_eq!(saved["nutrition_per_serving"]["calories"], 234.0);
        let undo = world.undo();
        let id = saved["recipe_id"].as_str().unwrap();
        world.preview("ann", "delete_recipe", json!({"recipe_id": id})).await;
        assert_eq!(world.good("ann", "delete_recipe", json!({"recipe_id": id})).await["status"], "deleted");
        let restore = world.undo();
        assert_eq!(world.error("ann", "delete_recipe", json!({"recipe_id": id})).await, format!("Recipe '{id}' not found"));
        assert!(world.take_back("save_recipe", &undo).await.unwrap_err().contains("gone already"));
        let back = world.take_back("delete_recipe", &restore).await.unwrap();
        assert_eq!((&back["status"], &back["recipe"]), (&json!("restored"), &saved["recipe"]));
        assert_eq!(world.take_back("save_recipe", &undo).await.unwrap()["status"], "removed");
    }

    async fn a_recipe_of_unknown_things_has_no_figures_and_a_wrong_food_is_refused(world: World) {
        let mut recipe = porridge();
        recipe["ingredients"][1] = json!({"name": "Love", "quantity": "a lot"});
        assert!(world.good("ann", "save_recipe", recipe.clone()).await["nutrition_per_serving"].is_null());
        recipe["ingredients"] = json!([{"name": "x", "fdc_id": 1, "amount_g": 1}]);
        assert_eq!(world.bad("ann", "save_recipe", recipe.clone()).await.1, "not_found");
        recipe["name"] = json!("  ");
        assert_eq!(world.error("ann", "save_recipe", recipe.clone()).await, "name is required");
        recipe["name"] = json!("a\u{0}b");
        recipe["ingredients"] = json!([{"name": "x"}]);
        world.good("ann", "save_recipe", recipe).await;
    }

    async fn a_configuration_is_merged_checked_and_taken_back_unless_it_moved_on(world: World) {
        let first = json!({"profile": "elite", "parameters": {"max_hr": 195, "resting_hr": 45}});
        let shown = world.preview("ann", "update_user_configuration", first.clone()).await;
        assert_eq!(shown["effective"]["hard_intensity_percent"], 85);
        let done = world.good("ann", "update_user_configuration", first).await;
        assert_eq!((&done["parameters"], &done["effective"]), (&shown["parameters"], &shown["effective"]));
        let to_nothing = world.undo();
        let second = world.good("ann", "update_user_configuration", json!({"parameters": {"max_hr": null, "weight_kg": 70}})).await;
        assert_eq!((&second["profile"], &second["parameters"]), (&json!("elite"), &json!({"resting_hr": 45, "weight_kg": 70})));
        let to_first = world.undo();
        assert!(world.take_back("update_user_configuration", &to_nothing).await.unwrap_err().contains("changed since"));
        let back = world.take_back("update_user_configuration", &to_first).await.unwrap();
        assert_eq!(back["parameters"], json!({"max_hr": 195, "resting_hr": 45}));
        let again = world.undo();
        assert!(world.take_back("update_user_configuration", &to_first).await.is_err());
        let redone = world.take_back("update_user_configuration", &again).await.unwrap();
        assert_eq!(redone["parameters"], json!({"resting_hr": 45, "weight_kg": 70}));

        let wrong = json!({"parameters": {"threshold_hr": 300}});
        let error = world.error("ann", "update_user_configuration", wrong).await;
        assert_eq!(error, "Invalid configuration: threshold_hr must be between 100 and 200");
        assert_eq!(world.error("ann", "update_user_configuration", json!({})).await, "At least profile or parameters required");
        let unknown = world.error("ann", "update_user_configuration", json!({"profile": "x"})).await;
        assert_eq!(unknown, "Unknown profile 'x'. Call get_configuration_profiles.");
    }

    async fn many_changes_at_once_are_all_in_the_configuration(world: World) {
        let keys = [("max_hr", 190), ("resting_hr", 50), ("threshold_hr", 170), ("ftp", 250), ("weight_kg", 70), ("age", 30)];
        let changes = keys.map(|(key, value)| {
            let world = world.clone();
            tokio::spawn(async move { world.good("ann", "update_user_configuration", json!({"parameters": {key: value}})).await })
        });
        for change in changes {
            change.await.unwrap();
        }
        let shown = world.preview("ann", "update_user_configuration", json!({"parameters": {}})).await;
        assert_eq!(shown["parameters"].as_object().unwrap().len(), keys.len(), "{shown}");
    }
}
