//! Lists and sums of activities.

use serde_json::{Value, json};

use crate::{
    generate::{DAY, MONDAY, Outing},
    world::World,
};

/// Three runs and a ride on four days.
async fn four(world: &World) {
    let ride = Outing { sport: "Biking", name: "Ride", ..Outing::run(MONDAY + DAY, 60, 80) };
    world
        .send(
            "ann",
            &[
                ("1.gpx", Outing::run(MONDAY, 30, 30).gpx()),
                ("2.tcx", ride.tcx()),
                ("3.fit", Outing::run(MONDAY + 2 * DAY, 30, 30).fit()),
                ("4.gpx", Outing::run(MONDAY + 3 * DAY, 20, 35).gpx()),
            ],
        )
        .await;
}

on_both! {
    async fn activities_are_listed_newest_first_in_pages(world: World) {
        four(&world).await;
        let all = world.good("ann", "get_activities", json!({})).await;
        assert_eq!((&all["count"], &all["limit"], &all["has_more"], &all["mode"]), (&json!(4), &json!(20), &json!(false), &json!("summary")));
        let dates: Vec<&str> = all["activities"].as_array().unwrap().iter().map(|activity| &activity["start_date"].as_str().unwrap()[..10]).collect();
        assert_eq!(dates, ["2026-03-05", "2026-03-04", "2026-03-03", "2026-03-02"]);
        let keys: Vec<&String> = all["activities"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["id", "name", "sport_type", "start_date", "distance_meters", "duration_seconds"]);
        assert_eq!(all["activity_list"].as_str().unwrap().lines().count(), 4);
        let mut paged = Vec::new();
        for offset in 0..4 {
            let page = world.good("ann", "get_activities", json!({"limit": 1, "offset": offset})).await;
            assert_eq!(page["has_more"], offset < 3);
            paged.extend(page["activities"].as_array().unwrap().clone());
        }
        assert_eq!(&Value::Array(paged), &all["activities"]);
    }

    async fn filters_narrow_and_defaults_follow_mode_and_format(world: World) {
        four(&world).await;
        let count = async |arguments: Value| world.good("ann", "get_activities", arguments).await["count"].as_i64().unwrap();
        assert_eq!(count(json!({"sport_type": "RUN"})).await, 3);
        assert_eq!(count(json!({"sport_type": "Cycling"})).await, 1);
        assert_eq!(count(json!({"sport_type": "swim"})).await, 0);
        assert_eq!(count(json!({"after": MONDAY, "before": MONDAY + 3 * DAY})).await, 2, "both ends are out");
        for (arguments, limit) in [
            (json!({}), 20), (json!({"mode": "detailed"}), 10),
            (json!({"format": "toon"}), 200), (json!({"format": "toon", "mode": "detailed"}), 25),
        ] {
            assert_eq!(world.good("ann", "get_activities", arguments).await["limit"], limit);
        }
        for wrong in [json!({"limit": 0}), json!({"limit": 401}), json!({"offset": -1}), json!({"mode": "x"}), json!({"format": "xml"})] {
            assert_eq!(world.bad("ann", "get_activities", wrong).await.1, "validation");
        }
    }

    async fn toon_is_in_the_text_and_the_structured_content_stays(world: World) {
        four(&world).await;
        let as_json = world.result("ann", "get_stats", json!({}), false).await;
        let as_toon = world.result("ann", "get_stats", json!({"format": "toon"}), false).await;
        assert_eq!(as_json["structuredContent"], as_toon["structuredContent"]);
        assert_eq!(
            as_toon["content"][0]["text"],
            "stats:\n  total_activities: 4\n  total_distance: 43800\n  total_duration: 8400\n  total_elevation_gain: 80"
        );
        let list = world.result("ann", "get_activities", json!({"format": "toon"}), false).await;
        assert!(list["content"][0]["text"].as_str().unwrap().contains("activities[4]{id,name,sport_type,"), "{list}");
    }

    async fn the_athlete_is_the_caller(world: World) {
        world.send("corp/ann", &[]).await;
        let athlete = world.good("corp/ann", "get_athlete", json!({})).await;
        assert_eq!(athlete, json!({"athlete": {"id": "corp/ann", "username": "corp/ann", "provider": "files"}}));
        let stats = world.good("corp/ann", "get_stats", json!({})).await;
        assert_eq!(stats["stats"], json!({"total_activities": 0, "total_distance": 0.0, "total_duration": 0, "total_elevation_gain": 0.0}));
    }
}
