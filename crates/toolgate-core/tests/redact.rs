//! Redaction: no secret comes out, everything else does.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolgate_core::redact::{Redactor, cut};

fn redactor(pointers: &[&str]) -> Redactor {
    Redactor::new(pointers.iter().map(|pointer| pointer.parse().unwrap()).collect())
}

fn redacted(value: &Value) -> Value {
    serde_json::from_str(&redactor(&[]).json(&value.to_string())).unwrap()
}

#[test]
fn a_secret_goes_by_name_and_the_rest_stays() {
    let given = json!({
        "title": "tea", "session_token": "abc", "nested": [{"clientSecret": {"deep": [1, 2]}, "keep": [1, null, true]}],
        "max_tokens": 100, "tokens": true, "password": null, "Cookie": "a=b", "tokenizer": "bpe",
    });
    assert_eq!(
        redacted(&given),
        json!({
            "title": "tea", "session_token": "[redacted]", "nested": [{"clientSecret": "[redacted]", "keep": [1, null, true]}],
            "max_tokens": 100, "tokens": true, "password": null, "Cookie": "[redacted]", "tokenizer": "bpe",
        })
    );
}

#[test]
fn what_people_type_is_secret_in_digits_too() {
    let given = json!({"pin": 1234, "user_password": -1.5e3, "CVV": 123, "otp": true, "max_tokens": 7, "pinned": 1, "cookie_count": 2});
    let kept = json!({"pin": "[redacted]", "user_password": "[redacted]", "CVV": "[redacted]", "otp": true, "max_tokens": 7,
        "pinned": 1, "cookie_count": 2});
    assert_eq!(redacted(&given), kept);
    assert_eq!(redacted(&kept), kept);
}

#[test]
fn a_secret_goes_by_fact_whatever_it_is() {
    let given =
        r#"{"card": {"number": 4111}, "people": [{"ssn": "1", "n": "a"}, {"ssn": [2], "n": "b"}], "a/b": {"x": true}}"#;
    let out = redactor(&["/card/number", "/people/*/ssn", "/a~1b", "/people/1/n", "/absent/x"]).json(given);
    assert_eq!(
        out,
        r#"{"card":{"number":"[redacted]"},"people":[{"ssn":"[redacted]","n":"a"},{"ssn":"[redacted]","n":"[redacted]"}],"a/b":"[redacted]"}"#
    );
    let everything = redactor(&["/*"]).json(r#"{"a": 1, "b": [2]}"#);
    assert_eq!(everything, r#"{"a":"[redacted]","b":"[redacted]"}"#);
}

#[test]
fn a_secret_goes_by_shape_also_where_escapes_hide_it() {
    let out = redactor(&[])
        .json(r#"{"note": "use \u0042earer abc123DEF456 now", "key\u005f": "-----BEGIN PRIVATE KEY-----\nMII\n"}"#);
    assert_eq!(out, r#"{"note":"use Bearer [redacted] now","key\u005f":"[redacted]"}"#);
    let named =
        redactor(&[]).json(r#"{"pass\u0077ord": "x", "tgk_abcdefgh_0123456789012345678901234567890123456789012": 1}"#);
    assert_eq!(named, r#"{"pass\u0077ord":"[redacted]","[redacted]":1}"#);
}

#[test]
fn json_in_text_is_looked_into() {
    let inner = json!({"items": [{"password": "hunter2", "ok": "Bearer abc123DEF456"}]}).to_string();
    let given = json!({"content": [{"type": "text", "text": inner}], "structuredContent": {"password": "hunter2"}});
    let out = redacted(&given);
    assert!(!out.to_string().contains("hunter2") && !out.to_string().contains("abc123"));
    let text: Value = serde_json::from_str(out["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, json!({"items": [{"password": "[redacted]", "ok": "Bearer [redacted]"}]}));
    // Without a secret the text stays as it is, white space included.
    let plain = json!({"text": "{ \"a\" : [1, 2] }"});
    assert_eq!(redacted(&plain), plain);
}

#[test]
fn an_approver_can_tell_two_secrets_apart_and_learns_neither() {
    let keyed = redactor(&[]).with_digests(b"key");
    let out: Value =
        serde_json::from_str(&keyed.json(r#"{"a_token": "one", "b_token": "two", "c_token": "one"}"#)).unwrap();
    assert_eq!(out["a_token"], out["c_token"]);
    assert_ne!(out["a_token"], out["b_token"]);
    assert!(out["a_token"].as_str().unwrap().starts_with("[redacted:"));
    assert_ne!(keyed.json(r#"{"token":"one"}"#), redactor(&[]).with_digests(b"other").json(r#"{"token":"one"}"#));
    assert_eq!(keyed.json(&keyed.json(r#"{"token":"one"}"#)), keyed.json(r#"{"token":"one"}"#));
}

#[test]
fn what_is_not_json_is_redacted_whole() {
    for odd in
        ["", "{", "{\"a\":}", "[1,]", "{\"a\" 1}", "nul", "\"open", "[1] 2", "{\"a\":\"\\ud800\"}", "[\"\u{1}\"]"]
    {
        assert_eq!(redactor(&[]).json(odd), "\"[redacted]\"", "{odd}");
    }
    let deep = format!("{}\"hunter2\"{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(!redactor(&[]).json(&deep).contains("hunter2"));
    serde_json::from_str::<serde::de::IgnoredAny>(&redactor(&[]).json(&"[".repeat(100_000))).unwrap();
}

#[test]
fn text_for_logs_loses_its_secrets() {
    assert_eq!(redactor(&[]).text("no secret"), "no secret");
    assert_eq!(redactor(&[]).text("401 for Bearer abc123DEF456"), "401 for Bearer [redacted]");
}

/// Harmless JSON: names and texts that no rule knows.
fn harmless() -> impl Strategy<Value = Value> {
    let word = "[a-dé \\\\\"\\n]{0,12}";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A secret value that stands nowhere else, and how it is planted.
fn planted(secret: &str, how: u8) -> (String, Value) {
    let named = |name: &str, value: Value| (name.to_owned(), value);
    let long = format!("{secret}{}", "a1B2c3D4".repeat(6));
    match how {
        0 => named("password", secret.into()),
        1 => named("my_session_token", json!([1, {"x": secret}])),
        2 => named("clientSecret", json!({"deep": {"er": secret}})),
        3 => named("note", format!("Authorization: Bearer {secret}Z9").into()),
        4 => named("note", format!("see eyJhbGciOiJ9.{long}.{secret}").into()),
        5 => named("note", format!("-----BEGIN EC PRIVATE KEY-----\n{secret}\n-----END EC PRIVATE KEY----- ok").into()),
        6 => named("note", format!("tgk_abcdefgh_{long}").into()),
        7 => named("note", format!("ghp_{long}").into()),
        8 => named("text", json!({"api_key": secret}).to_string().into()),
        9 => named("text", Value::from(json!([json!({"passkey": secret}).to_string()]).to_string())),
        10 => named("dsn", format!("postgres://u:{secret}@h/d").into()),
        _ => named("fact", json!({"ssn": secret})),
    }
}

/// Puts a member into the first object there is, or beside the value.
fn plant(value: Value, (name, secret): (String, Value)) -> Value {
    match value {
        Value::Object(mut members) => {
            members.insert(name, secret);
            Value::Object(members)
        }
        Value::Array(mut items) if items.iter().any(Value::is_object) => {
            let at = items.iter().position(Value::is_object).unwrap();
            let item = items.remove(at);
            items.insert(at, plant(item, (name, secret)));
            Value::Array(items)
        }
        other => json!([other, {name: secret}]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_planted_secret_comes_out(value in harmless(), secret in "[0-9]{4}[A-Z][0-9]{8}", how in 0_u8..12, pretty: bool, most in 0_usize..400) {
        let given = plant(value, planted(&secret, how));
        let text = if pretty { serde_json::to_string_pretty(&given).unwrap() } else { given.to_string() };
        let by_fact = redactor(&["/fact/ssn", "/*/fact/ssn", "/1/fact"]);
        let out = by_fact.json(&text);
        prop_assert!(!out.contains(&secret), "{text} -> {out}");
        prop_assert!(serde_json::from_str::<Value>(&out).is_ok(), "{out}");
        prop_assert!(!cut(out.clone(), most).contains(&secret));
        prop_assert!(!redactor(&["/fact/ssn", "/*/fact/ssn", "/1/fact"]).with_digests(b"k").json(&text).contains(&secret));
        prop_assert_eq!(by_fact.json(&out), out);
    }

    #[test]
    fn what_holds_no_secret_stays_the_same_json(value in harmless(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let out = redactor(&[]).json(&text);
        // As text: numbers too stay as they were written.
        prop_assert_eq!(out, value.to_string());
    }

    #[test]
    fn redacting_twice_is_redacting_once_whatever_the_text(text in ".{0,80}", keyed: bool) {
        let redactor = if keyed { redactor(&["/a", "/*/b"]).with_digests(b"k") } else { redactor(&["/a", "/*/b"]) };
        for text in [text.clone(), json!({"a": text, "token": [text], "x": format!("Bearer {text}"), "b": {"b": text}}).to_string()] {
            let once = redactor.json(&text);
            prop_assert!(serde_json::from_str::<Value>(&once).is_ok());
            prop_assert_eq!(redactor.json(&once), once.clone());
        }
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once).into_owned(), once.clone());
    }
}
