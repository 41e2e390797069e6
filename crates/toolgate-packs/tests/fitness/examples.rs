//! The activity files of the examples are what the generator makes. `TOOLGATE_WRITE_EXAMPLES=1` writes them.

use std::{fs, path::PathBuf};

use crate::generate::{DAY, MONDAY, Outing};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/saas/activities")
}

/// Two weeks of somebody who gets faster.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let ride = Outing {
        sport: "Biking",
        name: "Evening ride",
        power: Some(180),
        heart_rate: 128,
        ..Outing::run(MONDAY + 5 * DAY, 40, 75)
    };
    vec![
        ("1-monday-run.gpx", Outing::run(MONDAY, 20, 29).gpx()),
        ("2-thursday-run.tcx", Outing { name: "Lunch run", ..Outing::run(MONDAY + 3 * DAY, 20, 30) }.tcx()),
        ("3-saturday-ride.fit", ride.fit()),
        ("4-monday-run.fit", Outing::run(MONDAY + 7 * DAY, 25, 31).fit()),
        (
            "5-friday-run.gpx",
            Outing { name: "Tempo run", heart_rate: 150, ..Outing::run(MONDAY + 11 * DAY, 20, 34) }.gpx(),
        ),
    ]
}

#[test]
fn the_examples_are_what_the_generator_makes() {
    for (name, content) in files() {
        let path = folder().join(name);
        if std::env::var_os("TOOLGATE_WRITE_EXAMPLES").is_some() {
            fs::create_dir_all(folder()).unwrap();
            fs::write(&path, &content).unwrap();
        }
        assert!(
            fs::read(&path).is_ok_and(|found| found == content),
            "{name} differs: run again with TOOLGATE_WRITE_EXAMPLES=1"
        );
        assert!(content.len() < 64 * 1024, "{name} is small");
    }
}
