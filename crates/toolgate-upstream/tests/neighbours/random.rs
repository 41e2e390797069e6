//! Whatever JSON an upstream makes of its definitions and results, it arrives as the same bytes.

use std::time::Duration;

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::json;
use toolgate_spine::Client;
use toolgate_upstream::Upstream;

use crate::site::{KINDS, Site, fixture, raise, said};

const HOW_MANY: usize = 60;

/// Any JSON text on one line: numbers of any length, escapes, white space, keys that come twice.
fn json_text() -> impl Strategy<Value = String> {
    let number = "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?";
    let string = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
    let escaped = Just(r#""\u00e9\/\ud83d\ude00\u0000 resultType""#.to_owned());
    let word = prop_oneof![Just("null"), Just("true"), Just("false")].prop_map(str::to_owned);
    let leaf = prop_oneof![4 => number, 4 => string.clone(), 1 => escaped, 2 => word];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let key = prop_oneof![string.clone(), "[a-c]".prop_map(|key| format!("\"{key}\""))];
        let space = || prop_oneof![3 => Just(""), 1 => Just(" "), 1 => Just("\t ")];
        let member =
            (key, space(), inner.clone()).prop_map(|(key, space, value)| format!("{key}{space}:{space}{value}"));
        let list = |separator: &str, parts: Vec<String>| parts.join(&format!("{separator},"));
        prop_oneof![
            (prop::collection::vec(inner, 0..6), space())
                .prop_map(move |(parts, space)| format!("[{}]", list(space, parts))),
            (prop::collection::vec(member, 0..6), space())
                .prop_map(move |(parts, space)| format!("{{{}{space}}}", list(space, parts))),
        ]
    })
}

#[tokio::test]
async fn random_definitions_and_results_arrive_as_they_were_sent() {
    let mut runner = TestRunner::default();
    let mut some = || json_text().new_tree(&mut runner).unwrap().current();
    for (way, era) in KINDS {
        let schema = r#""inputSchema":{"type":"object"}"#;
        let texts: Vec<String> = (0..HOW_MANY).map(|_| some()).collect();
        let definition = |(n, text): (usize, &String)| format!(r#"{{"x":{text},"name":"t{n}",{schema}, "y":{text}}}"#);
        let definitions: Vec<String> = texts.iter().enumerate().map(definition).collect();
        let (fixture, config) = fixture(way, era, &[]);
        fixture.define(&definitions);
        let upstream = Upstream::start(config);
        upstream.ready(Duration::from_secs(20)).await.unwrap();
        let known: Vec<String> = upstream.definitions().iter().map(|one| one.raw.get().to_owned()).collect();
        assert_eq!(known, definitions, "{way:?} {era}");

        let spine = raise(&upstream);
        let site = Site { upstream, spine, fixture };
        for (n, text) in texts.iter().enumerate() {
            let members =
                [format!("\"a\":{text}"), "\"content\":[ ]".to_owned(), format!("\"_meta\":{{\"b\":{text}}}")];
            let mut sent = members.to_vec();
            if era == "modern" {
                sent.insert(n % 4, "\"resultType\":\"complete\"".to_owned());
            }
            let arguments = json!({"json": format!("{{{}}}", sent.join(","))}).to_string();
            let result = said(site.outcome(&format!("t{n}"), &arguments, Client::default()).await);
            assert_eq!(result, format!("{{{}}}", members.join(",")), "{way:?} {era}");
        }
        site.upstream.stop().await;
    }
}
