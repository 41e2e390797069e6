//! Food and settings over the wire's own forms.

use serde_json::{Value, json};

use crate::world::World;

on_both! {
    async fn a_day_is_reckoned_and_what_is_missing_is_said(world: World) {
        let person = json!({
            "weight_kg": 70, "height_cm": 175, "age": 30, "gender": "male",
            "activity_level": "very_active", "training_goal": "endurance_performance",
        });
        let day = world.good("ann", "calculate_daily_nutrition", person.clone()).await;
        // 1648.75 × 1.725; 2 and 10 g for each kilogram
        assert_eq!((&day["bmr"], &day["tdee"], &day["protein_g"], &day["carbs_g"]), (&json!(1649.0), &json!(2844.0), &json!(140.0), &json!(700.0)));
        let shares = day["macro_percentages"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum::<f64>();
        assert!((shares - 100.0).abs() < 0.2, "{day}");
        for key in person.as_object().unwrap().keys() {
            let mut without = person.clone();
            without.as_object_mut().unwrap().shift_remove(key);
            assert_eq!(world.error("ann", "calculate_daily_nutrition", without).await, format!("Argument '{key}' is required."));
        }
        for (key, wrong) in [("age", json!(151)), ("weight_kg", json!(0)), ("gender", json!("x")), ("height_cm", json!("tall"))] {
            let mut other = person.clone();
            other[key] = wrong;
            assert_eq!(world.bad("ann", "calculate_daily_nutrition", other).await.1, "validation", "{key}");
        }
    }

    async fn foods_are_found_looked_up_and_added_up(world: World) {
        let found = world.good("ann", "search_food", json!({"query": "banana"})).await;
        assert_eq!((&found["total_hits"], &found["foods"][0]["fdc_id"]), (&json!(1), &json!(173_944)));
        let food = world.good("ann", "get_food_details", json!({"fdc_id": 173_944})).await;
        assert_eq!(food["nutrients"][0], json!({"name": "Energy", "amount": 89.0, "unit": "kcal"}));
        assert_eq!(world.bad("ann", "get_food_details", json!({"fdc_id": 1})).await.1, "not_found");
        let meal = world.good("ann", "analyze_meal_nutrition", json!({"ingredients": [{"fdc_id": 173_944, "amount_g": 200}]})).await;
        assert_eq!(meal["meal_totals"]["calories"], 178.0);
        assert_eq!(world.error("ann", "analyze_meal_nutrition", json!({"ingredients": []})).await, "At least one ingredient is required");
        assert_eq!(world.error("ann", "analyze_meal_nutrition", json!({})).await, "At least one ingredient is required");
        for wrong in [json!({"query": ""}), json!({"query": "x", "page_size": 51}), json!({"query": "x", "page_number": 101})] {
            assert_eq!(world.bad("ann", "search_food", wrong).await.1, "validation");
        }
    }

    async fn settings_are_listed_and_validated(world: World) {
        let catalog = world.good("ann", "get_configuration_catalog", json!({})).await;
        assert_eq!((&catalog["catalog_type"], &catalog["parameter_count"], &catalog["catalog"]["total_parameters"]), (&json!("complete"), &json!(10), &json!(10)));
        let profiles = world.good("ann", "get_configuration_profiles", json!({})).await;
        assert_eq!(profiles["total_count"], 6);
        let good = world.good("ann", "validate_configuration", json!({"parameters": {"max_hr": 190, "resting_hr": 50}})).await;
        assert_eq!((&good["validation_passed"], &good["parameters_validated"], &good["errors"]), (&json!(true), &json!(2), &Value::Null));
        let bad = world.good("ann", "validate_configuration", json!({"parameters": {"max_hr": 90}})).await;
        assert_eq!((&bad["validation_passed"], &bad["errors"]), (&json!(false), &json!(["max_hr must be between 100 and 220"])));
    }
}
