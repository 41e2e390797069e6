//! Ten thousand calls that are almost the one that was approved.
//!
//! Equal by their canonical form, and so the same call: another order of keys, other white space, another escape of the same
//! character. All else is another call, also `1.0` or `1e0` for `1`: a tool may read them differently.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::pin::Canonical;
use toolgate_spine::Outcome;
use toolgate_store::Location;

use crate::world::{World, ann};

const MUTATIONS: usize = 10_000;
/// Each of these asks anew, which costs a write.
const UNNAMED: usize = 20;

/// A small generator of numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

const APPROVED: &str = r#"{"from":"/inbox/scan0001.md","to":"/archive/2026","count":1,"ratio":0.5,"amount":1000,
    "tags":["paid","draft"],"options":{"force":false,"note":"café"},"empty":"","nothing":null}"#;

/// Characters that look like others, or like nothing.
const LOOK_ALIKES: &[(&str, &str)] = &[
    ("a", "а"),
    ("e", "е"),
    ("o", "ο"),
    ("c", "с"),
    ("/", "∕"),
    ("1", "l"),
    ("0", "O"),
    ("é", "e\u{301}"),
    ("p", "p\u{200b}"),
    ("i", "İ"),
    ("m", "m\u{202e}"),
    (".", "․"),
];

fn strings(value: &mut Value) -> Vec<&mut String> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter_mut().flat_map(strings).collect(),
        Value::Object(members) => members.values_mut().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// One change to the text of the arguments.
fn mutated(dice: &mut Dice) -> String {
    let mut value: Value = serde_json::from_str(APPROVED).unwrap();
    let keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
    let key = keys[dice.below(keys.len())].clone();
    let number = dice.below(1_000_000);
    match dice.below(10) {
        0 => value[&key] = json!(number),
        1 => value[&key] = json!(number.to_string()),
        2 => drop(value.as_object_mut().unwrap().remove(&key)),
        3 => value[format!("{key}{number}")] = Value::Null,
        4 => value["options"][format!("x{number}")] = json!(true),
        5 => {
            let mut texts = strings(&mut value);
            let at = dice.below(texts.len());
            let (from, to) = LOOK_ALIKES[dice.below(LOOK_ALIKES.len())];
            *texts[at] = texts[at].replacen(from, to, 1 + dice.below(2));
        }
        6 => {
            let mut texts = strings(&mut value);
            let at = dice.below(texts.len());
            let more = [" ", "\n", "\u{a0}", "\u{feff}", "..", "/"][dice.below(6)];
            *texts[at] =
                if dice.below(2) == 0 { format!("{more}{}", texts[at]) } else { format!("{}{more}", texts[at]) };
        }
        7 => {
            // the same number to some, and not to others
            let spelt = [
                ("1,", "1.0,"),
                ("1,", "1e0,"),
                ("1000,", "1e3,"),
                ("0.5,", "0.50,"),
                ("0.5,", "5e-1,"),
                ("1000,", "1000.0,"),
            ];
            let (from, to) = spelt[dice.below(spelt.len())];
            return APPROVED.replacen(&format!(":{from}"), &format!(":{to}"), 1);
        }
        8 => {
            let key = ["from", "to"][dice.below(2)];
            let upper = value[key].as_str().unwrap().to_uppercase();
            value[key] = json!(format!("{upper}{}", "/".repeat(dice.below(3))));
        }
        _ => {
            let tags = value["tags"].as_array_mut().unwrap();
            tags.reverse();
            if dice.below(2) == 0 {
                tags.push(json!(number));
            }
        }
    }
    value.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_ten_thousand_mutated_calls_none_runs_and_then_the_approved_one_does_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = Arc::new(World::at(&Location::Sqlite(folder.path().join("toolgate.db"))).await);
    let ann = ann();
    let id = world.approved(&ann, APPROVED).await;
    let approved = Canonical::of(APPROVED).unwrap();
    let mut dice = Dice(0x5eed_cafe);
    let mut texts = Vec::new();
    while texts.len() < MUTATIONS {
        let text = mutated(&mut dice);
        if Canonical::of(&text).unwrap() != approved {
            texts.push(text);
        }
    }
    let racing = 32;
    let texts = Arc::new(texts);
    let workers = (0..racing).map(|worker| {
        let (world, ann, texts, id) = (Arc::clone(&world), Arc::clone(&ann), Arc::clone(&texts), id.clone());
        tokio::spawn(async move {
            for (number, text) in texts.iter().enumerate().skip(worker).step_by(racing) {
                let named = (number % UNNAMED != 0).then_some(id.as_str());
                match world.call(&ann, text, named).await {
                    Outcome::Denied { denial, .. } if denial.code == "approval_mismatch" && named.is_some() => {}
                    Outcome::NeedsApproval { .. } if named.is_none() => {}
                    outcome => panic!("{text}: {outcome:?}"),
                }
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    assert_eq!(world.ran(), 0, "none ran");
    // the same call, written differently: keys in another order, an escape, white space
    let rewritten = APPROVED.replace("café", "caf\\u00e9").replace("\"count\":1,", "");
    let rewritten = rewritten.replacen('{', "{ \"count\" : 1 , ", 1);
    assert_eq!(Canonical::of(&rewritten).unwrap(), approved);
    let outcome = world.call(&ann, &rewritten, Some(&id)).await;
    assert!(matches!(outcome, Outcome::Answered(_)), "{outcome:?}");
    assert!(!matches!(world.call(&ann, APPROVED, Some(&id)).await, Outcome::Answered(_)));
    assert!(!matches!(world.call(&ann, APPROVED, None).await, Outcome::Answered(_)));
    assert_eq!(world.ran(), 1, "once");
}
