//! What an upstream says reaches the caller byte for byte, and what a caller says reaches the upstream so.

use toolgate_spine::Client;

use crate::site::{KINDS, Site, said};

const DEFINITION: &str = r#"{ "name" : "odd","zeta":1.0e5, "inputSchema":{"type":"object","properties":{"n":{"type":"number"}} },"alpha":12345678901234567890,"execution":{"taskSupport":"optional"},"title":"\u00e9\ud83d\ude00 é","_meta":{"b":-0.0,"a":[ ]}}"#;
const RESULT: &str = r#"{"zz":1.0e5,"content":[{"type":"hologram","depth":12345678901234567890,"b":1,"a":2},{"type":"text","text":"\u00e9 é \/"}], "structuredContent":{"n":0.10,"m":1E+2},"unheardOf":null,"_meta":{"x/y":[1.50]}}"#;

#[tokio::test]
async fn odd_definitions_and_results_pass_as_they_are() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        let definitions = site.upstream.definitions();
        let odd = definitions.iter().find(|definition| definition.name == "odd").unwrap();
        assert_eq!(odd.raw.get(), DEFINITION, "{way:?} {era}");
        let result = said(site.outcome("odd", "{}", Client::default()).await);
        assert_eq!(result, RESULT, "{way:?} {era}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn arguments_pass_as_they_are() {
    let arguments = r#"{"z":1.0e5,"a":12345678901234567890, "n":-0.0,"text":"\u00e9 é \/","deep":{"b":[ ],"a":null}}"#;
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        site.outcome("echo", arguments, Client::default()).await;
        let sent = site.fixture.log();
        let line = sent.lines().find(|line| line.contains("tools/call")).unwrap();
        let body = serde_json::from_str::<serde_json::Value>(line).unwrap()["body"].as_str().unwrap().to_owned();
        assert!(body.contains(&format!("\"arguments\":{arguments}")), "{way:?} {era}: {body}");
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn neither_the_environment_nor_a_callers_credential_goes_upstream() {
    for (way, era) in KINDS {
        let site = Site::new(way, era, &[]).await;
        // what cargo sets for this test stands for every secret in the gate's environment
        assert!(std::env::var("CARGO_PKG_NAME").is_ok());
        if way == crate::site::Way::Stdio {
            let env = site.call("env").await;
            assert!(env.contains("PATH") && !env.contains("CARGO"), "{env}");
        }
        let credential = r#"{"session_token":"canary-1","coordinator_token":"canary-2","text":"x"}"#;
        site.outcome("echo", credential, Client::default()).await;
        let escaped = r#"{"session\u005ftoken":"canary-3","coordinat\u006fr_token":"canary-4","text":"x"}"#;
        site.outcome("echo", escaped, Client::default()).await;
        let log = site.fixture.log();
        assert!(log.contains("tools/call") && !log.contains("canary"), "{log}");
        assert!(way == crate::site::Way::Stdio || log.contains("the-gates-own"));
        assert!(!format!("{:?}", site.upstream.config()).contains("the-gates-own"));
        site.upstream.stop().await;
    }
}
