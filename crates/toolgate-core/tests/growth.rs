//! How time grows with the length of what it is spent on: in proportion.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::{
    Pattern, normal_address,
    pin::{diff, visible, warnings},
    redact::Redactor,
    terminal_escape,
};

use crate::{
    linear::{assert_linear, is_linear, shortest},
    rule_arguments,
};

/// Beginnings of everything that a secret can begin with, and what may stand between two of them.
const STARTS: [&str; 66] = [
    "eyJ-",
    "eyJ.",
    "eyJ/eyAi",
    "W3si-",
    "ewo-",
    "Bearer ",
    "bearer a",
    "Basic -",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY",
    "--",
    "--token ",
    "--token --",
    "://",
    "://a:b",
    "://a:b@",
    "://hooks.slack.com/services/a",
    "tgk_",
    "sk-",
    "AIza",
    "SG.",
    "toolgate-seed-1 ",
    "password=",
    "password:",
    "password: ",
    "key=",
    "key: ",
    "key={",
    "key=\"",
    "key: |\n ",
    "session='",
    "authorization: a ",
    "cookie:a b",
    "token=[redacted]",
    "token=\\[redacted]",
    "token=Bearer [redacted]",
    "-u a:",
    "-u,a:",
    "-ua:",
    "-u'a:",
    "--user=a:",
    "--user 'a:b",
    "-u,1:1",
    "-u a:/",
    "<password>",
    "<password>a",
    "<password a=\"b\">",
    "<password><![CDATA[",
    "<key><![CDATA[",
    "<name><![CDATA[",
    "<password><![CDATA[[redacted]",
    "<key>token</key><string>",
    "<a key=\"token\"",
    "<a key=\"token\" value=\"b",
    "<a key=\"token\"><![CDATA[",
    "[\"token\",\"",
    "[\"token\",\"a\"",
    "(\\\"token\\\",\\\"",
    "\"value\":\"",
    "\"name\":\"token\",\"value\":\"",
    "name: token\n value: ",
    "token%3D",
    "key%3Da%26",
    "password：",
    "key＝a",
    "DB_PASS",
];

#[test]
fn redaction_of_text_is_linear_whatever_is_repeated() {
    let redactor = Redactor::default();
    let mixed = STARTS.concat();
    let escaped: String = (0..6).map(|count| format!("key={}\"", "\\".repeat(count))).collect();
    let odd = ["=", ":", "-", "\\", "\"", "[", "{", "é", " ", "a", "\n", "{\"", "[\"-", "pаss:"];
    for start in STARTS.iter().copied().chain(odd).chain([mixed.as_str(), escaped.as_str()]) {
        assert_linear(start, 1 << 10, |bytes| {
            let text = start.repeat(bytes / start.len() + 1);
            redactor.text(&text);
            redactor.json(&Value::from(text).to_string());
        });
    }
}

/// Characters that redaction treats in a way of their own, and two words that name a secret.
const SPECIAL: [&str; 22] = [
    "-", ".", ":", "=", "\\", "\"", "'", "[", "{", "]", "|", "@", "/", " ", "\n", ",", "&", "e", "pw", "token", "<",
    ">",
];
/// Beginnings and ends of the generated texts: a name, a sign and a value make a secret of what stands between.
const FRAMES: [(&str, &str); 4] = [("", ""), ("-", "pw"), ("token=", "pw a"), ("--token", " \"")];

/// All strings of one to three of the special characters.
fn short_strings() -> impl Iterator<Item = String> {
    let pieces = || SPECIAL.into_iter().chain([""]);
    let pairs = pieces().flat_map(move |first| pieces().map(move |second| format!("{first}{second}")));
    // the first is never empty, so that each string is made about once
    pairs.flat_map(|pair| SPECIAL.into_iter().map(move |first| format!("{first}{pair}")))
}

/// Panics where a text of at most 256 bytes takes far longer than 16 bytes of it do, before it would take forever; and where
/// 4096 bytes take longer than in proportion.
fn assert_in_proportion(what: &str, run: impl Fn(usize)) {
    let time = |bytes: usize| {
        let start = Instant::now();
        run(bytes);
        start.elapsed()
    };
    let first = shortest(|| run(16)).max(Duration::from_micros(5));
    let mut bytes = 16_usize;
    while bytes < 256 {
        bytes += bytes.div_ceil(8);
        let most = first * 200 + Duration::from_millis(1);
        if time(bytes) > most {
            let again = shortest(|| run(bytes));
            assert!(again <= most, "{what:?}: 16 bytes take {first:?} and {bytes} bytes {again:?}");
        }
    }
    let parts = (0..16).map(|_| time(256)).sum::<Duration>();
    if time(4096) > parts * 4 {
        assert_linear(what, 256, run);
    }
}

/// What the next fault may look like is not known: every short text over the special characters is tried.
#[test]
fn redaction_is_linear_whatever_short_text_is_repeated() {
    let redactors = [Redactor::default(), Redactor::default().with_digests(b"key")];
    for part in short_strings() {
        for (begin, end) in FRAMES {
            assert_in_proportion(&format!("{begin}{part}…{end}"), |bytes| {
                let text = format!("{begin}{}{end}", part.repeat(bytes / part.len() + 1));
                for redactor in &redactors {
                    redactor.text(&text);
                }
            });
        }
    }
}

#[test]
fn a_name_of_many_options_is_looked_at_once() {
    for times in 1..=31 {
        let text = format!("-{}pw", ".-".repeat(times));
        assert_eq!(Redactor::default().text(&text), text);
    }
}

#[test]
fn redaction_of_json_is_linear_whatever_is_nested() {
    let redactor = Redactor::new(vec!["/*/*/*/a".parse().unwrap(), "/a/0/b".parse().unwrap()]);
    for (what, open, close) in [
        ("arrays", "[", "]"),
        ("objects", "{\"a\":", "}"),
        ("pairs", "{\"value\":1,\"x\":", ",\"name\":\"password\"}"),
        ("values", "{\"value\":", ",\"name\":\"password\"}"),
        ("secrets", "{\"token\":", "}"),
    ] {
        assert_linear(what, 256, |times| {
            redactor.json(&format!("{}1{}", open.repeat(times), close.repeat(times)));
            let nests = format!("{}1{}", open.repeat(100), close.repeat(100));
            redactor.json(&format!("[{}1]", format!("{nests},").repeat(times / 64)));
        });
    }
    assert_linear("values before their name", 256, |times| {
        redactor.json(
            &json!({ "a": format!("{{{}\"name\":\"password\"}}", "\"value\":1,".repeat(times * 8)) }).to_string(),
        );
    });
    assert_linear("JSON in JSON", 256, |times| {
        let mut inner = json!(vec!["[\"{"; times]).to_string();
        for _ in 0..3 {
            inner = json!({ "a": inner }).to_string();
        }
        redactor.json(&inner);
    });
}

#[test]
fn redaction_of_json_for_an_approver_is_linear_whatever_is_nested() {
    let redactor = Redactor::default().with_digests(b"key");
    for (what, open, close) in [
        ("below a secret's name", "{\"token\":", "}"),
        ("lists below a secret's name", "{\"token\":[\"a\",", "]}"),
        ("values before their name", "{\"value\":", ",\"name\":\"password\"}"),
        ("values behind their name", "{\"name\":\"password\",\"value\":", "}"),
        ("content", "{\"content\":", ",\"name\":\"password\"}"),
        ("lists of two", "[\"password\",", "]"),
    ] {
        assert_linear(what, 256, |times| {
            let nests = format!("{}1{}", open.repeat(60), close.repeat(60));
            redactor.json(&format!("[{}1]", format!("{nests},").repeat(times / 64)));
        });
    }
    assert_linear("many lists of two", 256, |times| {
        redactor.json(&format!("[{}1]", "[\"password\",\"a b\"],[\"-u\",\"a:b\"],".repeat(times)));
    });
}

#[test]
fn warnings_and_diffs_of_definitions_are_linear() {
    for text in [
        "ignore ",
        "ignore previous",
        "<!-- ",
        "QUJD",
        "0a",
        "аb",
        "\u{200b}",
        "\u{202e}a",
        "\u{1b}[2J",
        "you must call ",
        "a",
        " ",
        "*",
        "é",
        "\u{e0041}",
        "あ",
    ] {
        assert_linear(text, 1 << 10, |bytes| {
            let text = text.repeat(bytes / text.len() + 1);
            let definition = json!({"name": "t", "description": text, "inputSchema": {}}).to_string();
            warnings(&definition);
            diff("{}", &definition).unwrap();
            visible(&text);
        });
    }
    assert_linear("a long key over many changes", 1 << 10, |bytes| {
        let many = |value: &str| {
            let items: serde_json::Map<String, Value> =
                (0..bytes / 16).map(|item| (item.to_string(), value.into())).collect();
            json!({"name": "t", ("k".repeat(bytes)): items}).to_string()
        };
        let changes = diff(&many("a"), &many("b\u{200b}")).unwrap().changes;
        assert_eq!(changes.len(), bytes / 16);
        assert!(warnings(&many("b\u{200b}")).len() >= bytes / 16);
    });
}

#[test]
fn addresses_are_brought_into_their_normal_form_in_linear_time() {
    for part in ["/", "/..", "/.", "%2e", "%2F", "%25", "é", "\\", "a:", ":", "@", "?", "#", "//", "a:/../", "%"] {
        assert_linear(part, 1 << 8, |times| {
            normal_address(&format!("file:///{}", part.repeat(times)));
            normal_address(&part.repeat(times));
        });
    }
}

#[test]
fn patterns_of_addresses_are_linear() {
    for pattern in [
        Pattern::glob(&"*a".repeat(20)),
        Pattern::template(&format!("{}b", "{a}a{+b}".repeat(10))),
        Pattern::glob("*aaaaaaaaaaaaaaaab"),
    ] {
        assert_linear("pattern", 1 << 10, |bytes| assert!(!pattern.matches(&format!("{}c", "a".repeat(bytes)))));
    }
}

#[test]
fn a_quadratic_scan_is_found_out() {
    let first_of_each = |bytes: usize| {
        let text = vec![b'a'; bytes];
        let ends = (0..bytes).filter(|start| text[*start..].iter().all(|byte| *byte == b'a')).count();
        assert_eq!(ends, bytes);
    };
    assert!(!is_linear(1 << 9, first_of_each));
    assert!(is_linear(1 << 14, |bytes| assert!(vec![b'a'; bytes].iter().all(|byte| *byte == b'a'))));
}

#[test]
fn text_for_terminals_is_escaped_in_linear_time() {
    for text in ["\u{1b}[2J", "\u{202e}", "\u{200b}a", "é", "a", "\n", "\\u{", "\u{e0041}", "\r"] {
        assert_linear(text, 1 << 12, |bytes| {
            terminal_escape(&text.repeat(bytes / text.len() + 1));
        });
    }
}

#[test]
fn rules_with_patterns_over_arguments_are_linear() {
    let stars = "*a".repeat(20);
    let gate = rule_arguments::gate_of(&format!(
        "forbid (principal, action == Action::\"call:transfer\", resource) when \
         {{ context.arguments has currency && context.arguments.currency like \"{stars}b*c\" }};"
    ));
    for text in ["a", "ab", "*", "\\u0061", "é", "%61"] {
        assert_linear(text, 1 << 10, |bytes| {
            let currency = text.repeat(bytes / text.len() + 1);
            let arguments = format!("{{\"amount\":1,\"currency\":\"{currency}\"}}");
            rule_arguments::decide_transfer(&gate, &arguments);
        });
    }
    for (what, open, close) in [("tags", "[", "]"), ("objects", "{\"a\":", "}")] {
        assert_linear(what, 1 << 8, |times| {
            let deep = format!("{}1{}", open.repeat(50), close.repeat(50));
            let many = format!("{{\"amount\":1,\"more\":[{}1]}}", format!("{deep},").repeat(times / 16));
            rule_arguments::decide_transfer(&gate, &many);
        });
    }
}
