//! What is said of activities: the same every time, and nothing that the files do not bear.

use serde_json::{Value, json};

use crate::{
    generate::{DAY, MONDAY, Outing},
    world::World,
};

/// Runs of half an hour, a day apart, at these speeds in decimeters a second. Ids oldest first.
async fn runs(world: &World, speeds: &[i64]) -> Vec<String> {
    for (speed, day) in speeds.iter().zip(0..) {
        let heart_rate = 140 + day;
        let run = Outing { heart_rate, ..Outing::run(MONDAY + day * DAY, 30, *speed) };
        world.send("ann", &[("run.tcx", run.tcx())]).await;
    }
    let mut ids = world.ids("ann").await;
    ids.reverse();
    ids
}

on_both! {
    async fn an_activity_is_told_in_figures_and_sentences(world: World) {
        let ids = runs(&world, &[30]).await;
        world.good("ann", "update_user_configuration", json!({"parameters": {"max_hr": 190, "resting_hr": 50, "sex": "male"}})).await;
        let told = world.good("ann", "get_activity_intelligence", json!({"provider": "files", "activity_id": ids[0]})).await;
        assert_eq!((&told["activity_type"], &told["timestamp"]), (&json!("run"), &json!("2026-03-02T06:00:00.000Z")));
        let intelligence = &told["intelligence"];
        assert_eq!(intelligence["summary"], "Run of 5.4 km in 30:00 at an average heart rate of 145.");
        let metrics = &intelligence["performance_metrics"];
        assert_eq!((&metrics["distance_km"], &metrics["duration_minutes"], &metrics["speed_kmh"]), (&json!(5.4), &json!(30.0), &json!(10.8)));
        assert_eq!(metrics["pace_seconds_per_km"], 333.3);
        assert_eq!((&metrics["calories"], &metrics["max_heart_rate"]), (&json!(321), &json!(150)));
        // 60 to 80 % of a reserve of 140 over 50: from 134 and from 148 on
        let zones: Vec<f64> = metrics["heart_rate_zones"].as_array().unwrap().iter().map(|zone| zone["seconds"].as_f64().unwrap()).collect();
        assert_eq!(zones.iter().sum::<f64>(), 1800.0);
        assert!(zones[1] > 1000.0 && zones[2] > 200.0 && zones[3] == 0.0, "{zones:?}");
        let drift = metrics["decoupling_percent"].as_f64().unwrap();
        assert!((2.0..5.0).contains(&drift), "heart rate rose from 140 to 150: {drift}");
        assert!(metrics["trimp"].as_f64().unwrap() > 30.0);
        assert!(intelligence["weather"].is_null() && intelligence["location"].is_null(), "this file has no places");
        let short = json!({"activity_id": ids[0], "include_weather": false, "include_location": false});
        let short = world.good("ann", "get_activity_intelligence", short).await;
        assert!(short["intelligence"].get("weather").is_none() && short["intelligence"].get("location").is_none());
        let analyzed = world.good("ann", "analyze_activity", json!({"provider": "files", "activity_id": ids[0]})).await;
        assert_eq!(analyzed["intelligence"]["performance_metrics"], *metrics);
        assert_eq!(analyzed["metadata"]["max_hr_source"], "configured");
        assert_eq!(analyzed["metadata"]["measured"], json!(["distance", "heart_rate", "calories"]));
    }

    async fn places_say_where_and_whether_it_was_a_loop(world: World) {
        world.send("ann", &[("a.gpx", Outing::run(MONDAY, 30, 30).gpx())]).await;
        let id = world.ids("ann").await.remove(0);
        let told = world.good("ann", "get_activity_intelligence", json!({"activity_id": id})).await;
        let location = &told["intelligence"]["location"];
        assert_eq!((&location["start"], &location["is_loop"]), (&json!({"latitude": 47.0, "longitude": 8.0}), &json!(false)));
    }

    async fn metrics_are_of_an_activity_or_of_one_described(world: World) {
        let ids = runs(&world, &[30]).await;
        let of = |more: Value| {
            let mut arguments = json!({"activity_id": ids[0]});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        let plain = world.good("ann", "calculate_metrics", of(json!({}))).await;
        assert_eq!((&plain["pace"], &plain["speed"], &plain["max_hr_used"], &plain["max_hr_source"]), (&json!(333.3), &json!(10.8), &json!(190.0), &json!("default_assumed")));
        assert!(plain["trimp"].is_null() && plain["power_to_weight"].is_null(), "nothing is made up: {plain}");
        let aged = world.good("ann", "calculate_metrics", of(json!({"age": 40}))).await;
        assert_eq!((&aged["max_hr_used"], &aged["max_hr_source"]), (&json!(180.0), &json!("calculated_from_age_40")));
        let given = world.good("ann", "calculate_metrics", of(json!({"age": 40, "max_hr": 200, "metrics": ["intensity"]}))).await;
        assert_eq!(given["max_hr_source"], "provided");
        assert!(given.get("pace").is_none() && (given["intensity_score"].as_f64().unwrap() - 72.25).abs() < 0.2, "{given}");
        // ten kilometers in fifty minutes at 150: 200 meters a minute
        let described = json!({"activity": {"distance_meters": 10_000, "duration_seconds": 3000, "average_heart_rate": 150}});
        let described = world.good("bob", "calculate_metrics", described).await;
        assert_eq!((&described["pace"], &described["efficiency_score"]), (&json!(300.0), &json!(1.333)));
        assert_eq!(world.error("ann", "calculate_metrics", json!({})).await, "Either activity_id or activity is required");
    }

    async fn a_trend_is_one_only_where_chance_does_not_explain_it(world: World) {
        let asked = |metric: &str, timeframe: &str| json!({"provider": "files", "timeframe": timeframe, "metric": metric});
        world.send("ann", &[]).await;
        let none = world.good("ann", "analyze_performance_trends", asked("pace", "week")).await;
        assert_eq!((&none["trend"], &none["statistics"]), (&json!("insufficient_data"), &Value::Null));
        runs(&world, &[30, 31]).await;
        assert_eq!(world.good("ann", "analyze_performance_trends", asked("pace", "month")).await["trend"], "needs_more_data");
        runs(&world, &[30, 31, 32, 33, 34, 35]).await;
        let pace = world.good("ann", "analyze_performance_trends", asked("pace", "month")).await;
        assert_eq!((&pace["trend"], &pace["activities_analyzed"]), (&json!("improving"), &json!(6)), "{pace}");
        assert!(pace["statistics"]["p_value"].as_f64().unwrap() < 0.001 && pace["statistics"]["slope_per_day"].as_f64().unwrap() < 0.0);
        let speed = world.good("ann", "analyze_performance_trends", asked("speed", "month")).await;
        assert_eq!(speed["trend"], "improving");
        // 0.1 m/s a day is 0.36 km/h
        assert_eq!(speed["statistics"]["slope_per_day"], 0.36);
        assert_eq!(world.good("ann", "analyze_performance_trends", asked("heart_rate", "month")).await["trend"], "declining");
        assert_eq!(world.good("ann", "analyze_performance_trends", asked("duration", "month")).await["trend"], "stable");
        assert_eq!(world.good("ann", "analyze_performance_trends", asked("power", "month")).await["trend"], "insufficient_data");
    }

    async fn every_timeframe_reaches_back_as_far_as_its_name(world: World) {
        for days in [0, 5, 20, 60, 150, 300] {
            let run = Outing::run(MONDAY - days * DAY, 30, 30 + days / 10);
            world.send("ann", &[("run.tcx", run.tcx())]).await;
        }
        for (timeframe, found) in [("week", 2), ("month", 3), ("quarter", 4), ("sixmonths", 5), ("year", 6)] {
            let asked = json!({"timeframe": timeframe, "metric": "distance", "sport_type": "Run"});
            let trend = world.good("ann", "analyze_performance_trends", asked).await;
            assert_eq!((&trend["activities_analyzed"], &trend["timeframe"]), (&json!(found), &json!(timeframe)));
        }
        let (_, code) = world.bad("ann", "analyze_performance_trends", json!({"timeframe": "decade", "metric": "pace"})).await;
        assert_eq!(code, "validation");
    }

    async fn all_comparisons_are_what_their_names_say(world: World) {
        // half hours at 3.0, 3.6, 3.1, 3.2 and 3.05 m/s: similar to the last are those within a tenth of its distance
        let ids = runs(&world, &[300, 360, 310, 320, 305].map(|speed| speed / 10)).await;
        let last = &ids[4];
        let compare = async |kind: &str| world.good("ann", "compare_activities", json!({"activity_id": last, "comparison_type": kind})).await;
        let reference = |answer: &Value, metric: &str| {
            let found = answer["comparisons"].as_array().unwrap().iter().find(|entry| entry["metric"] == metric).unwrap().clone();
            (found["average"].as_f64().unwrap(), found["improved"].as_bool().unwrap())
        };
        let similar = compare("similar_activities").await;
        assert_eq!((&similar["comparison_count"], &similar["sport_type"]), (&json!(3), &json!("run")), "{similar}");
        let best = compare("personal_best").await;
        assert_eq!(best["comparison_count"], 4);
        assert_eq!(reference(&best, "distance"), (6480.0, false));
        assert_eq!(compare("pr_comparison").await["comparisons"], best["comparisons"], "the older name");
        let average = compare("average").await;
        // (3.0 + 3.6 + 3.1 + 3.2) / 4 over 1800 s
        assert_eq!(reference(&average, "distance"), (5805.0, false));
        let recent = world.good("ann", "compare_activities", json!({"activity_id": ids[2], "comparison_type": "recent"})).await;
        assert_eq!(recent["comparison_count"], 2, "only those before it");
        let specific = json!({"activity_id": last, "comparison_type": "specific_activity", "compare_activity_id": ids[0]});
        assert_eq!(reference(&world.good("ann", "compare_activities", specific).await, "distance"), (5400.0, false));
        let (error, _) = world.bad("ann", "compare_activities", json!({"activity_id": last, "comparison_type": "specific_activity"})).await;
        assert_eq!(error, "compare_activity_id is required for specific_activity");
    }

    async fn an_activity_alone_has_nothing_to_be_compared_with(world: World) {
        let ids = runs(&world, &[30]).await;
        for kind in ["similar_activities", "personal_best", "average", "recent"] {
            let alone = world.good("ann", "compare_activities", json!({"activity_id": ids[0], "comparison_type": kind})).await;
            assert_eq!((&alone["comparison_count"], &alone["comparisons"]), (&json!(0), &json!([])), "{kind}");
            assert_eq!(alone["insights"], json!(["There is no other activity to compare with yet."]));
        }
    }

    async fn patterns_need_three_activities_and_four_weeks_for_load(world: World) {
        runs(&world, &[30, 30]).await;
        let few = world.good("ann", "detect_patterns", json!({})).await;
        assert_eq!(few["message"], "At least 3 activities within 4 weeks are needed; there are 2.");
        runs(&world, &[30, 30, 30]).await;
        let short = world.good("ann", "detect_patterns", json!({"weeks": 4})).await;
        assert_eq!(short["overtraining_signals"]["signal"], "needs_more_data");
        assert_eq!(short["weekly_schedule"]["by_weekday"]["monday"], 1);
        assert_eq!(short["hard_easy_pattern"]["easy"], 3, "{short}");
        assert_eq!(world.bad("ann", "detect_patterns", json!({"weeks": 13})).await.1, "validation");
    }

    async fn a_week_that_is_much_more_than_the_last_four_is_said(world: World) {
        // a half hour on each Monday of four weeks, and then five hours on the last days
        let mut files: Vec<Outing> = (0..4).map(|week| Outing::run(MONDAY + week * 7 * DAY, 30, 30)).collect();
        files.extend((0..2).map(|day| Outing { heart_rate: 170, ..Outing::run(MONDAY + (22 + day) * DAY, 150, 30) }));
        for outing in files {
            world.send("ann", &[("x.fit", outing.fit())]).await;
        }
        let found = world.good("ann", "detect_patterns", json!({"weeks": 4, "pattern_type": "injury_risk"})).await;
        let load = &found["overtraining_signals"];
        // 330 minutes in the last seven days, 420 in four weeks
        assert_eq!((&load["acute_minutes"], &load["chronic_minutes"], &load["signal"]), (&json!(330.0), &json!(105.0), &json!("danger")), "{load}");
        assert_eq!(found["analysis_summary"], "The last week is 3.14 times the mean of four.");
        assert_eq!((&found["hard_easy_pattern"]["hard"], &found["hard_easy_pattern"]["hard_after_hard"]), (&json!(2), &json!(1)));
        assert_eq!(found["weekly_schedule"]["usual_days"], json!(["monday"]));
        assert_eq!(found["volume_progression"]["weeks"][3]["activities"], 3);
        assert_eq!(found["weekly_schedule"]["consistency_percent"], 100.0);
    }

    async fn goals_are_a_step_beyond_what_is_usual(world: World) {
        world.send("ann", &[]).await;
        let none = world.good("ann", "suggest_goals", json!({})).await;
        assert_eq!((&none["suggested_goals"], &none["fitness_level"]), (&json!([]), &json!("beginner")));
        // 5.4 km a week for four weeks
        for week in 0..4 {
            world.send("ann", &[("x.tcx", Outing::run(MONDAY + week * 7 * DAY, 30, 30).tcx())]).await;
        }
        let suggested = world.good("ann", "suggest_goals", json!({"provider": "files"})).await;
        let goals = suggested["suggested_goals"].as_array().unwrap();
        let kinds: Vec<(&str, f64)> = goals.iter().map(|goal| (goal["goal_type"].as_str().unwrap(), goal["target_value"].as_f64().unwrap())).collect();
        assert_eq!(kinds, [("distance", 5.9), ("frequency", 2.0), ("performance", 5.9)]);
        // all four weeks came within a tenth: 5 of 6
        assert_eq!(goals[0]["success_probability"], 83.0);
        let one = world.good("ann", "suggest_goals", json!({"goal_category": "consistency"})).await;
        assert_eq!(one["suggested_goals"].as_array().unwrap().len(), 1);
    }

    async fn asked_twice_it_says_the_same(world: World) {
        let ids = runs(&world, &[30, 31, 32, 33]).await;
        for (tool, arguments) in [
            ("get_activity_intelligence", json!({"activity_id": ids[1]})),
            ("analyze_activity", json!({"activity_id": ids[1]})),
            ("calculate_metrics", json!({"activity_id": ids[1]})),
            ("analyze_performance_trends", json!({"timeframe": "month", "metric": "pace"})),
            ("compare_activities", json!({"activity_id": ids[1], "comparison_type": "average"})),
            ("detect_patterns", json!({})),
            ("suggest_goals", json!({})),
        ] {
            let once = world.good("ann", tool, arguments.clone()).await;
            assert_eq!(world.good("ann", tool, arguments).await, once, "{tool}");
        }
    }
}
