//! Secrets in the notations of commands, forms, signed addresses, XML and pairs; and ordinary text that looks alike.

use serde_json::{Value, json};
use toolgate_core::redact::Redactor;

const SECRET: &str = "Hunter2-4711-zq";

fn text(text: &str) -> String {
    Redactor::default().text(text).into_owned()
}

fn json(value: &Value) -> Value {
    serde_json::from_str(&Redactor::default().json(&value.to_string())).unwrap()
}

/// Each of these has the secret where `X` stands, once, and nothing else is hidden.
const NOTATIONS: [&str; 51] = [
    "curl -u ann:X https://h/",
    "curl -sSu ann:X https://h/",
    "curl -uann:X https://h/",
    "curl -u'ann:X' https://h/",
    "curl -u \"ann:X\" https://h/",
    "curl --user ann:X https://h/",
    "curl --user=ann:X https://h/",
    "curl --user 'ann:X' https://h/",
    "curl --proxy-user ann@example.org:X https://h/",
    "curl -u :X https://h/",
    r#"exec ["curl", "--user", "ann:X", "https://h/"]"#,
    "DB_PASS=X ./run",
    "export SMTP_PASS='X'",
    "PGPASSWORD=X psql",
    "dbPass: X",
    "account%5Bpass%5D=X&a=b",
    "sessionid=X; theme=dark",
    "session_id=X",
    "JSESSIONID=X",
    "PHPSESSID=X; a=b",
    "ASP.NET_SessionId=X",
    "Mcp-Session-Id: X",
    "<password>X</password>",
    "<ns:Password type=\"plain\"> X </ns:Password>",
    "<a><user>ann</user><api_key>X</api_key></a>",
    "<clientSecret><![CDATA[X]]></clientSecret>",
    r#"<add key="ApiKey" value="X"/>"#,
    r#"<property name=\"db.password\" value=\"X\"/>"#,
    r#"<string name="api_token">X</string>"#,
    "<key>password</key>\n  <string>X</string>",
    "<name>fs.secret.key</name><value>X</value>x",
    r#"body {"field":"password","value":"X"} end"#,
    r#"body {\"name\":\"Authorization\",\"value\":\"X\"} end"#,
    r#"body {"value":"X","key":"token"} end"#,
    "env:\n- name: DB_PASSWORD\n  value: X\n- name: TZ\n  value: UTC-12345",
    r#"sent ["Authorization","X"] ok"#,
    r#"sent [["host","h"],["password","X"]] ok"#,
    "headers = [('Authorization', 'X'), ('Accept', 'a')]",
    r#"log [[\"password\",\"X\"]] ok"#,
    "https://b.s3.example/o?X-Amz-Credential=X&X-Amz-Date=20260101T000000Z",
    "https://b.s3.example/o?X-Amz-Signature=X",
    "https://b.s3.example/o?X-Amz-Security-Token=X&a=b",
    "https://a.blob.example/c?sv=2024-01-01&sig=X&se=2026-01-01",
    "https://s.example/o?X-Goog-Signature=X",
    "to=https%3A%2F%2Fh%2Fo%3Ftoken%3DX%26page%3D2&b=c",
    "password：X",
    "密码：X。",
    "token＝X",
    "https://ann:X@h/",
    "Authorization: Bearer X",
    "authorization: basic X",
];

#[test]
fn a_secret_is_found_in_every_notation_and_nothing_else_goes() {
    for notation in NOTATIONS {
        let given = notation.replacen('X', SECRET, if notation.contains("X-") { 0 } else { 1 });
        // the names of signed addresses have the letter too
        let given = given.replace("=X", &format!("={SECRET}"));
        assert!(given.contains(SECRET), "{notation}");
        let expected = given.replace(SECRET, "[redacted]");
        assert_eq!(text(&given), expected);
        assert_eq!(text(&expected), expected, "redacting again changes nothing");
        let shown = Redactor::default().with_digests(b"key").text(&given).into_owned();
        assert!(!shown.contains(SECRET), "an approver: {shown}");
        assert_eq!(json(&json!({"note": given.as_str()})), json!({"note": expected}), "within JSON");
    }
}

#[test]
fn ordinary_text_that_looks_alike_stays() {
    for given in [
        "compass=north12345 bypass=Always1",
        "see the passage: Chapter-12",
        "boarding_pass: Gate-12A",
        "session 3 of 5",
        "session_id=3",
        "sessionid: morning",
        "tests_pass=12 first_pass: Done1",
        "gpio_pin=17",
        "OLDPWD=/srv/ann",
        "docker run --user 1000:1000 -u 33:33 image",
        "git push -u origin main",
        "rsync -u host:/srv/data1 .",
        "sudo -u postgres psql",
        "-u https://example.org/a1",
        "mysql -p <password> -h <host>",
        "use <token> here and <b>token</b> there",
        "<title>the password is reset</title>",
        "<th>Password</th><td>Abc123</td>",
        r#"{"required":["password","user_name"]} x"#,
        r#"headers ["Authorization","Content-Type"] are read"#,
        r#"get("token", "default")"#,
        r#"{"name":"title","value":"Abc-1234"} x"#,
        "- name: A\n  value: Abc-1234\n- name: TOKEN\n",
        "name: token, value: 3",
        "パスワード：変更してください",
        "比率：3",
        "sign＝maker",
        "100%3D and 5%",
        "a(b) [c] (d, e) <f> <g/> </h>",
    ] {
        assert_eq!(text(given), given);
    }
}

#[test]
fn pairs_in_json_are_understood() {
    for (given, expected) in [
        (json!({"field": "password", "value": SECRET}), json!({"field": "password", "value": "[redacted]"})),
        (json!({"header": "Cookie", "content": SECRET}), json!({"header": "Cookie", "content": "[redacted]"})),
        (json!({"content": SECRET, "key": "api_key"}), json!({"content": "[redacted]", "key": "api_key"})),
        (json!(["Authorization", SECRET]), json!(["Authorization", "[redacted]"])),
        (json!([["a", "b"], ["password", "hunter"]]), json!([["a", "b"], ["password", "[redacted]"]])),
        (json!(["Authorization", format!("Bearer {SECRET}")]), json!(["Authorization", "[redacted]"])),
        (json!(["curl", "-u", format!("ann:{SECRET}")]), json!(["curl", "-u", "ann:[redacted]"])),
        (json!(["--user", "1000:1000", "-u", "x"]), json!(["--user", "1000:1000", "-u", "x"])),
        (
            json!({"DB_PASS": SECRET, "session_id": SECRET}),
            json!({"DB_PASS": "[redacted]", "session_id": "[redacted]"}),
        ),
    ] {
        assert_eq!(json(&given), expected);
        assert_eq!(json(&expected), expected);
    }
    for given in [
        json!({"name": "token.md", "content": "hello"}),
        json!({"name": "tokens", "content": "two words"}),
        json!({"required": ["password", "user_name"], "names": ["token", "title", "Abc123"]}),
        json!({"session_id": "morning", "pass": 12}),
        json!(["password"]),
        json!(["title", SECRET]),
    ] {
        assert_eq!(json(&given), given);
    }
}

#[test]
fn an_approver_sees_the_structure_under_a_secrets_name() {
    let redactor = Redactor::default().with_digests(b"key");
    let shown = |given: &Value| -> Value { serde_json::from_str(&redactor.json(&given.to_string())).unwrap() };
    for given in [
        json!({"password": {"command": "rm -rf /"}}),
        json!({"token": ["rm", "-rf", "/", {"then": "reboot"}]}),
        json!({"tokens": ["curl", "https://example.org/x1.sh", "|", "sh"]}),
        json!({"credentials": {"script": "a=1; $(reboot)", "n": 3, "on": true}}),
        json!({"name": "token", "value": {"command": "rm -rf /"}}),
        json!({"value": {"command": "rm -rf /"}, "name": "token"}),
    ] {
        assert_eq!(shown(&given), given);
        assert!(!json(&given).to_string().contains("command"), "the ledger hides it whole: {given}");
    }
    for given in [
        json!({"token": [SECRET, {"a": {"b": SECRET}}]}),
        json!({"name": "token", "value": [SECRET]}),
        json!({"credentials": {"user": "ann", "id": SECRET}, "pin": [1234]}),
        json!({"secrets": {"x": "/q83vEjRWeJq83vEjRW1"}}),
    ] {
        let shown = shown(&given).to_string();
        assert!(!shown.contains(SECRET) && !shown.contains("1234") && !shown.contains("q83v"), "{shown}");
        assert!(shown.contains("[redacted:"), "{shown}");
        assert_eq!(redactor.json(&shown), shown, "redacting again changes nothing");
    }
    let by_fact = Redactor::new(vec!["/card".parse().unwrap()]).with_digests(b"key");
    assert!(!by_fact.json(r#"{"card":{"number":"4111 1111"}}"#).contains("number"), "a fact hides it whole");
}
