//! Files made to harm: refused in words, within bounds, and never a panic.

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::json;

use crate::{
    generate::{MONDAY, Outing, checksum, define},
    world::{World, sent},
};

/// A FIT file around these messages.
fn fit(data: &[u8]) -> Vec<u8> {
    let mut file = vec![14, 0x20, 0, 0];
    file.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
    file.extend(b".FIT");
    file.extend(checksum(&file).to_le_bytes());
    file.extend(data);
    file.extend(checksum(data).to_le_bytes());
    file
}

async fn reason(world: &World, name: &str, content: Vec<u8>) -> String {
    let answer = world.send("ann", &[(name, content)]).await;
    assert_eq!(answer["imported"], 0, "{answer}");
    answer["refused"][0]["reason"].as_str().unwrap().to_owned()
}

on_both! {
    async fn values_that_no_equation_and_no_calendar_has_are_refused_in_words(world: World) {
        let person = json!({"weight_kg": 10, "height_cm": 0.8, "age": 40, "gender": "female", "activity_level": "sedentary", "training_goal": "maintenance"});
        let said = world.error("ann", "calculate_daily_nutrition", person).await;
        assert!(said.contains("centimeters"), "{said}");
        let goal = json!({"goal_type": "distance", "target_value": 10, "target_date": "2026-02-31"});
        assert_eq!(world.error("ann", "set_goal", goal).await, "target_date '2026-02-31' is no day of the calendar.");
        world.send("ann", &[("a.gpx", Outing::run(MONDAY, 10, 30).gpx())]).await;
        let said = world.error("ann", "get_activities", json!({"before": 1e25})).await;
        assert_eq!(said, "Argument 'before' is out of range: it is too large a number.");
    }

    async fn declarations_entities_and_external_files_are_refused(world: World) {
        let bomb = format!(
            "<!DOCTYPE gpx [<!ENTITY a \"{}\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]><gpx><trk><name>&x;&b;</name></trk></gpx>",
            "a".repeat(10_000)
        );
        for name in ["a.gpx", "a.tcx"] {
            assert_eq!(reason(&world, name, bomb.clone().into_bytes()).await, "it can't be read: it declares types of its own");
        }
    }

    async fn a_fit_file_that_lies_about_itself_is_refused(world: World) {
        let good = Outing::run(MONDAY, 10, 30).fit();
        let mut cut = good.clone();
        cut.truncate(good.len() / 2);
        let mut flipped = good.clone();
        *flipped.last_mut().unwrap() ^= 0xff;
        let mut huge = good.clone();
        huge[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut course = Vec::new();
        define(&mut course, 0, 0, &[(0, 1, 0x00)]);
        course.extend([0, 6]);
        for (content, why) in [(cut, "can't be read"), (flipped, "checksum"), (huge, "can't be read"), (fit(&course), "something else than an activity"), (fit(&[0x05]), "definition")] {
            let said = reason(&world, "a.fit", content).await;
            assert!(said.contains(why), "{said}");
        }
    }

    async fn fields_of_every_size_and_type_are_read_or_left_out(world: World) {
        // records whose fields have sizes and base types that the profile does not have for them
        for (size, base) in [(0, 0x86), (1, 0x86), (3, 0x86), (255, 0x07), (8, 0x8e), (4, 0x88), (2, 0xff), (16, 0x84)] {
            let mut data = Vec::new();
            define(&mut data, 0, 20, &[(253, size, base), (3, size, base), (0, size, base)]);
            for _ in 0..3 {
                data.push(0);
                data.extend(vec![0x7f; usize::from(size) * 3]);
            }
            let said = world.send("ann", &[("a.fit", fit(&data))]).await;
            assert_eq!(said["imported"], 0, "{said}");
        }
    }

    async fn values_that_can_not_be_are_left_out(world: World) {
        let point = |second: i64, hr: &str| format!("<Trackpoint><Time>2026-03-02T06:00:{second:02}Z</Time><AltitudeMeters>1e308</AltitudeMeters><DistanceMeters>-5</DistanceMeters><HeartRateBpm><Value>{hr}</Value></HeartRateBpm><Cadence>NaN</Cadence></Trackpoint>");
        let tcx = format!("<a><Activity Sport='X'><Lap><Calories>1e300</Calories><Track>{}{}{}</Track></Lap><Notes>\u{7}name</Notes></Activity></a>", point(1, "99999"), point(2, "-1"), point(3, "inf"));
        assert_eq!(world.send("ann", &[("a.tcx", tcx.into_bytes())]).await["imported"], 1);
        let listed = world.good("ann", "get_activities", json!({"mode": "detailed"})).await;
        let activity = &listed["activities"][0];
        assert_eq!(activity["name"], "name");
        assert_eq!(activity["distance_meters"], 0.0);
        for absent in ["average_heart_rate", "calories", "average_cadence", "average_speed_kmh", "start_latitude"] {
            assert!(activity[absent].is_null(), "{absent}: {activity}");
        }
        for tool in ["get_activity_intelligence", "analyze_activity", "calculate_metrics"] {
            world.good("ann", tool, json!({"activity_id": activity["id"]})).await;
        }
    }

    async fn times_that_can_not_be_are_refused(world: World) {
        for (first, last) in [("1970-01-01T00:00:00Z", "1970-01-01T00:10:00Z"), ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"), ("2099-12-31T23:59:59Z", "2100-01-01T00:10:00Z")] {
            let gpx = format!("<gpx><trk><trkpt lat='1' lon='1'><time>{first}</time></trkpt><trkpt lat='1' lon='1'><time>{last}</time></trkpt></trk></gpx>");
            assert_eq!(reason(&world, "a.gpx", gpx.into_bytes()).await, "it starts or ends at an impossible time");
        }
    }

    async fn names_lead_nowhere(world: World) {
        world.put("bob", "secret.gpx", Outing::run(MONDAY, 10, 30).gpx());
        for name in ["../bob/secret.gpx", "/etc/passwd.gpx", "..\\bob\\secret.gpx", "a\u{0}b.gpx"] {
            let files = sent(&[(name, b"<gpx/>".to_vec())]);
            let answer = world.good("ann", "connect_provider", json!({"provider": "files", "files": files})).await;
            assert_eq!((&answer["imported"], &answer["refused"][0]["reason"]), (&json!(0), &json!("it has no track with times")), "a name is never opened");
        }
    }
}

/// Whatever is changed in a good file, it is imported or refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_any_bytes_changed_is_imported_or_refused() {
    World::on_sqlite(|world| async move {
        let outing = Outing::run(MONDAY, 2, 30);
        let kinds = [("a.gpx", outing.gpx()), ("a.tcx", outing.tcx()), ("a.fit", outing.fit())];
        let mut runner = TestRunner::deterministic();
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8);
        for (name, good) in kinds {
            for _ in 0..60 {
                let mut bytes = good.clone();
                for (place, value) in changes.new_tree(&mut runner).unwrap().current() {
                    let place = place.index(bytes.len());
                    bytes[place] = value;
                }
                if name == "a.fit" {
                    // or the checksum would refuse them all
                    let end = bytes.len() - 2;
                    let sum = checksum(&bytes[14..end]).to_le_bytes();
                    bytes[end..].copy_from_slice(&sum);
                    let sum = checksum(&bytes[..12]).to_le_bytes();
                    bytes[12..14].copy_from_slice(&sum);
                }
                let answer = world.send("ann", &[(name, bytes)]).await;
                let reason = answer["refused"][0]["reason"].as_str().unwrap_or_default();
                assert!(!reason.contains("gave up"), "a reader panicked: {answer}");
            }
        }
    })
    .await;
}
