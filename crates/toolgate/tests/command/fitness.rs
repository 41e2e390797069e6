//! The fitness pack as it is loaded without a configuration: what strangers see, files in the data folder, and an operator who
//! takes back what a user did.

use std::fs;

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
};

/// Shown to everybody.
const PUBLIC: [&str; 17] = [
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

fn track(minutes: i64) -> String {
    let point = |minute: i64| {
        let latitude = 47.0 + minute as f64 / 1000.0;
        format!("<trkpt lat='{latitude}' lon='8'><time>2026-03-02T06:{minute:02}:00Z</time></trkpt>")
    };
    let points: String = (0..=minutes).map(point).collect();
    format!("<gpx><trk><type>running</type><trkseg>{points}</trkseg></trk></gpx>")
}

#[test]
fn with_every_pack_a_stranger_sees_the_public_tools_authenticate_and_help() {
    let packs = ["admin", "fitness", "gate", "process", "spine", "team", "todo", "workspace"];
    let home = Home::with(&packs.map(|pack| format!("[packs.{pack}]\n")).concat());
    let gate = home.serve();
    let mut expected: Vec<&str> = PUBLIC.iter().copied().chain(["authenticate", "help"]).collect();
    expected.sort_unstable();
    for era in ERAS {
        assert_eq!(gate.ask(&Message::list(era)).tools(), expected, "{era:?}");
        let open = Message::call(era, "validate_configuration", json!({"parameters": {"max_hr": 190}}));
        assert_eq!(gate.ask(&open).verdict(), "ok", "{era:?}");
        assert_eq!(gate.ask(&Message::call(era, "get_stats", json!({}))).verdict(), "authentication_required");
    }
}

#[test]
fn files_in_the_data_folder_are_imported_and_an_operator_takes_that_back() {
    let home = Home::with("[packs.fitness]\n");
    let gate = home.serve();
    let call = |token: &str, tool: &str, arguments: Value| {
        let result = gate.ask(&Message::call(Era::Late, tool, arguments).bearer(token)).result();
        (result["structuredContent"].clone(), result["_meta"]["toolgate/receipt"].as_str().map(str::to_owned))
    };
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    fs::create_dir_all(home.path(".toolgate/fitness/alice")).unwrap();
    fs::write(home.path(".toolgate/fitness/alice/run.gpx"), track(20)).unwrap();
    let (imported, receipt) = call(&alice, "connect_provider", json!({"provider": "files"}));
    assert_eq!(imported["imported"], 1, "{imported}");
    assert_eq!(call(&bob, "connect_provider", json!({"provider": "files"})).0["imported"], 0);
    assert_eq!(call(&alice, "get_stats", json!({})).0["stats"]["total_activities"], 1);
    let ran = home.run(&["undo", &receipt.unwrap(), "--by", "kim"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(call(&alice, "get_stats", json!({})).0["code"], "not_connected", "the connection came with it");
    assert_eq!(call(&bob, "get_stats", json!({})).0["stats"]["total_activities"], 0, "nobody else's is touched");
}

#[test]
fn what_is_in_sent_files_is_not_recorded() {
    let home = Home::with("[packs.fitness]\n");
    let gate = home.serve();
    let alice = home.mint("--user alice");
    let files = json!([{"name": "a.gpx", "data": "c2VjcmV0IHBsYWNlcw=="}]);
    let sent =
        Message::call(Era::Late, "connect_provider", json!({"provider": "files", "files": files})).bearer(&alice);
    assert_eq!(gate.ask(&sent).verdict(), "ok");
    let records = home.run(&["ledger", "export", "--principal", "user:alice"]).out;
    assert!(records.contains("connect_provider") && !records.contains("c2VjcmV0IHBsYWNlcw"), "{records}");
}

#[test]
fn a_folder_that_is_not_there_and_files_for_another_pack_are_refused() {
    let home = Home::with("[packs.fitness]\nfiles = \"missing\"\n");
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("missing") && ran.err.contains("files in [packs.fitness]"), "{}", ran.err);
    let other = Home::with("[packs.todo]\nfiles = \"x\"\n").run(&["check"]);
    assert!(other.err.contains("takes no files") || other.out.contains("takes no files"), "{other:?}");
}
