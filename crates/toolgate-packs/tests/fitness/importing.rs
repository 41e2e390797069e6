//! Importing: what comes in, once, and from whose folder.

use serde_json::json;

use crate::{
    generate::{DAY, MONDAY, Outing},
    world::{World, sent},
};

on_both! {
    async fn each_kind_of_file_is_the_same_outing(world: World) {
        let outing = Outing { power: Some(210), sport: "Biking", ..Outing::run(MONDAY, 60, 60) };
        let files = [("a.gpx", outing.gpx()), ("b.tcx", outing.tcx()), ("c.fit", outing.fit())];
        let answer = world.send("ann", &files).await;
        assert_eq!((&answer["imported"], &answer["status"], &answer["refused"]), (&json!(3), &json!("connected"), &json!([])), "{answer}");
        let listed = world.good("ann", "get_activities", json!({"mode": "detailed"})).await;
        let activities = listed["activities"].as_array().unwrap();
        assert_eq!(activities.len(), 3);
        for activity in activities {
            assert_eq!((&activity["start_date"], &activity["duration_seconds"]), (&json!("2026-03-02T06:00:00.000Z"), &json!(3600)));
            // an hour at six meters a second
            let meters = activity["distance_meters"].as_f64().unwrap();
            assert!((meters - 21_600.0).abs() < 5.0, "{activity}");
            // three times up by ten meters
            let climbed = activity["elevation_gain_meters"].as_f64().unwrap();
            assert!((climbed - 30.0).abs() < 3.0, "{activity}");
            let rate = activity["average_heart_rate"].as_f64().unwrap();
            assert!((rate - 144.5).abs() < 0.6, "{activity}");
            assert_eq!((&activity["max_heart_rate"], &activity["moving_seconds"]), (&json!(150), &json!(3600)));
        }
        let of = |sport: &str| activities.iter().filter(|activity| activity["sport_type"] == sport).count();
        assert_eq!(of("ride"), 3);
        let powered = activities.iter().filter(|activity| activity["average_power"] == 210).count();
        let fed = activities.iter().filter(|activity| activity["calories"] == 321).count();
        assert_eq!((powered, fed), (2, 2), "TCX and FIT say power and calories");
    }

    async fn the_same_file_again_changes_nothing_whatever_it_is_called(world: World) {
        let file = Outing::run(MONDAY, 30, 30).gpx();
        world.send("ann", &[("a.gpx", file.clone())]).await;
        let before = world.good("ann", "get_activities", json!({})).await;
        let again = world.send("ann", &[("other.gpx", file.clone()), ("a.GPX", file)]).await;
        assert_eq!((&again["imported"], &again["already_there"]), (&json!(0), &json!(2)));
        assert_eq!(world.good("ann", "get_activities", json!({})).await, before);
    }

    async fn without_files_in_the_call_ones_own_folder_is_read_and_nobody_elses(world: World) {
        world.put("ann", "one.gpx", Outing::run(MONDAY, 30, 30).gpx());
        world.put("ann", "two.fit", Outing::run(MONDAY + DAY, 30, 30).fit());
        world.put("ann", "notes.txt", "no");
        world.put("%42ob", "three.tcx", Outing::run(MONDAY, 30, 30).tcx());
        world.put("bob", "x.gpx", Outing::run(MONDAY, 90, 30).gpx());
        let connect = json!({"provider": "files"});
        assert_eq!(world.good("ann", "connect_provider", connect.clone()).await["imported"], 2);
        assert_eq!(world.good("Bob", "connect_provider", connect.clone()).await["imported"], 1, "capitals count");
        for nobody in ["eve", "..", "../ann", "x/../ann", "%61nn", "."] {
            let answer = world.good(nobody, "connect_provider", connect.clone()).await;
            assert_eq!((&answer["imported"], &answer["status"]), (&json!(0), &json!("connected")), "{nobody}: {answer}");
        }
        assert_eq!((world.ids("ann").await.len(), world.ids("Bob").await.len()), (2, 1));
    }

    async fn a_refused_file_says_why_and_keeps_none_of_the_others_out(world: World) {
        let good = Outing::run(MONDAY, 30, 30).tcx();
        let timeless = b"<gpx><trk><trkpt lat='1' lon='1'/><trkpt lat='2' lon='1'/></trk></gpx>".to_vec();
        let files = [("bad.gpx", b"<gpx><trk".to_vec()), ("good.tcx", good), ("timeless.gpx", timeless), ("x.csv", vec![1])];
        let answer = world.send("ann", &files).await;
        assert_eq!(answer["imported"], 1, "{answer}");
        let refused: Vec<(&str, &str)> = answer["refused"].as_array().unwrap().iter()
            .map(|file| (file["name"].as_str().unwrap(), file["reason"].as_str().unwrap())).collect();
        assert_eq!(refused.len(), 3);
        assert!(refused[0].0 == "bad.gpx" && refused[0].1.starts_with("it can't be read: "), "{refused:?}");
        assert_eq!(refused[1], ("timeless.gpx", "it has no track with times"));
        assert_eq!(refused[2], ("x.csv", "it is neither a .gpx, a .tcx nor a .fit file"));
        let wrong = json!({"provider": "files", "files": [{"name": "a.gpx", "data": "not base64!"}]});
        assert_eq!(world.good("ann", "connect_provider", wrong).await["refused"][0]["reason"], "its data is not base64");
    }

    async fn a_file_of_two_tracks_is_two_activities(world: World) {
        let (one, two) = (Outing::run(MONDAY, 10, 30).gpx(), Outing::run(MONDAY + DAY, 20, 30).gpx());
        let track = |gpx: Vec<u8>| {
            let text = String::from_utf8(gpx).unwrap();
            text[text.find("<trk>").unwrap()..text.find("</gpx>").unwrap()].to_owned()
        };
        let both = format!("<gpx>{}{}</gpx>", track(one), track(two)).into_bytes();
        assert_eq!(world.send("ann", &[("both.gpx", both.clone())]).await["imported"], 2);
        assert_eq!(world.send("ann", &[("both.gpx", both)]).await["imported"], 0);
        assert_eq!(world.ids("ann").await.len(), 2);
    }

    async fn only_files_is_a_provider_and_what_is_not_connected_says_so(world: World) {
        for other in ["strava", "Files", ""] {
            let expected = format!("Invalid provider '{other}'. Supported providers are: files");
            assert_eq!(world.error("ann", "connect_provider", json!({"provider": other})).await, expected);
            assert_eq!(world.error("ann", "get_activities", json!({"provider": other})).await, expected);
        }
        let unconnected = "No valid token for files. Please connect using the connect_provider tool first.";
        let id = json!({"activity_id": "act_1"});
        for (tool, arguments) in [
            ("get_activities", json!({})),
            ("get_athlete", json!({})),
            ("get_stats", json!({"provider": "files"})),
            ("get_activity_intelligence", id.clone()),
            ("analyze_activity", id.clone()),
            ("calculate_metrics", id),
            ("analyze_performance_trends", json!({"timeframe": "week", "metric": "pace"})),
            ("compare_activities", json!({"activity_id": "a", "comparison_type": "recent"})),
            ("detect_patterns", json!({})),
            ("suggest_goals", json!({})),
            ("disconnect_provider", json!({"provider": "files"})),
        ] {
            let (error, code) = world.bad("ann", tool, arguments).await;
            assert_eq!((error.as_str(), code.as_str()), (unconnected, "not_connected"), "{tool}");
        }
        let status = world.good("ann", "get_connection_status", json!({"provider": "files"})).await;
        assert_eq!((&status["status"], &status["connected"]), (&json!("disconnected"), &json!(false)));
        world.send("ann", &[]).await;
        let all = world.good("ann", "get_connection_status", json!({})).await;
        assert_eq!(all["providers"]["files"]["connected"], true, "{all}");
    }

    async fn too_many_files_in_a_call_are_refused_before_any_is_read(world: World) {
        let files: Vec<(&str, Vec<u8>)> = (0..21).map(|_| ("a.gpx", vec![])).collect();
        let (_, code) = world.bad("ann", "connect_provider", json!({"provider": "files", "files": sent(&files)})).await;
        assert_eq!(code, "validation");
    }
}
