//! The scanner against `serde_json`, its limits, and texts nobody meant.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[derive(Default)]
struct Seen(Vec<(usize, String, String)>);

impl<'a> Sink<'a> for Seen {
    const DEPTH: usize = 2;

    fn enter(&mut self, _: usize, _: Option<&str>, _: bool) {}

    fn member(&mut self, depth: usize, key: &str, value: &'a str) {
        self.0.push((depth, key.to_owned(), value.to_owned()));
    }
}

const OPEN: Limits =
    Limits { body_bytes: usize::MAX, depth: 127, number_chars: usize::MAX, string_bytes: usize::MAX, keys: usize::MAX };

fn check(body: &[u8], limits: &Limits) -> Result<(), Fault> {
    scan(body, limits, &mut Seen::default())
}

fn is_duplicate(result: &Result<(), Fault>) -> bool {
    matches!(result, Err(Fault { kind: FaultKind::Duplicate(_), .. }))
}

#[test]
fn members_of_the_outer_objects_are_handed_over_as_their_text() {
    let mut seen = Seen::default();
    let body = br#" { "a" : 1 , "p":{"x": [1, {"deep":2}] ,"\u0079":"z"}, "e":{} } "#;
    scan(body, &OPEN, &mut seen).unwrap();
    let seen: Vec<_> = seen.0.iter().map(|(depth, key, value)| (*depth, &**key, &**value)).collect();
    assert_eq!(
        seen,
        [
            (1, "a", "1"),
            (2, "x", r#"[1, {"deep":2}]"#),
            (2, "y", r#""z""#),
            (1, "p", r#"{"x": [1, {"deep":2}] ,"\u0079":"z"}"#),
            (1, "e", "{}"),
        ]
    );
}

#[test]
fn it_agrees_with_serde_json_on_the_hard_cases() {
    let cases: &[&[u8]] = &[
        b"",
        b" ",
        b"{}",
        b"[]",
        b"[ ]",
        b"{ }",
        b"null",
        b"nul",
        b"nulll",
        b"tru",
        b"true ",
        b"false",
        b"\"",
        b"\"a\"",
        b"[1,]",
        b"[,1]",
        b"{,}",
        b"{\"a\"}",
        b"{\"a\":}",
        b"{\"a\":1,}",
        b"{a:1}",
        b"[1 2]",
        b"[1]x",
        b"0",
        b"-0",
        b"00",
        b"01",
        b"-",
        b"-a",
        b"1.",
        b".1",
        b"1.0",
        b"1e",
        b"1e+",
        b"1e5",
        b"1E-5",
        b"1e999",
        b"-1e999",
        b"1e-999",
        b"0e999",
        b"1.7976931348623157e308",
        b"1.7976931348623159e308",
        b"123456789012345678901234567890",
        b"+1",
        b"1a",
        b"\"\\u0000\"",
        b"\"\\ud800\"",
        b"\"\\udc00\"",
        b"\"\\ud83d\\ude00\"",
        b"\"\\ud800\\u0041\"",
        b"\"\\ud800x\"",
        b"\"\\ud800\\n\"",
        b"\"\\u12g4\"",
        b"\"\\u12",
        b"\"\\x\"",
        b"\"\\",
        b"\"\x01\"",
        b"\"\x7f\"",
        b"\"\n\"",
        b"\xff",
        b"\"\xff\"",
        b"\"\xc3\xa9\"",
        b"\"\xed\xa0\x80\"",
        b"\xef\xbb\xbf{}",
        b"[1]\x00",
        b"\x00",
        b"{\"a\":[{\"b\":[[]]}]}",
        b"[\"a\",\"b\"]",
        b"\x0b1",
        b"]",
        b"}",
    ];
    for case in cases {
        let ours = check(case, &OPEN);
        let theirs = serde_json::from_slice::<Value>(case);
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}: {ours:?} {theirs:?}", String::from_utf8_lossy(case));
    }
}

#[test]
fn a_special_character_is_found_wherever_it_stands() {
    for special in ["\"", "\\", "\u{1f}", "\0", "\n", "\\n", " ", "!", "\u{7f}", "é", "\u{10ffff}"] {
        for before in 0..20 {
            for after in 0..10 {
                let body = format!("\"{}{special}{}\"", "a".repeat(before), "b".repeat(after));
                let theirs = serde_json::from_str::<Value>(&body);
                assert_eq!(check(body.as_bytes(), &OPEN).is_ok(), theirs.is_ok(), "{body:?}");
            }
        }
    }
}

#[test]
fn a_key_twice_is_refused_wherever_it_is_and_however_it_is_written() {
    for body in [r#"{"a":1,"a":2}"#, r#"{"p":[{"x":{"b":1,"c":2,"b":3}}]}"#, r#"{"method":1,"m\u0065thod":2}"#] {
        assert!(is_duplicate(&check(body.as_bytes(), &OPEN)), "{body}");
    }
    assert!(check(br#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}"#, &OPEN).is_ok());
    let many = |last: &str| {
        let keys: Vec<String> = (0..50).map(|n| format!("\"k{n}\":0")).collect();
        format!("{{{},\"{last}\":0}}", keys.join(","))
    };
    assert!(check(many("other").as_bytes(), &OPEN).is_ok());
    let twice = check(many("k7").as_bytes(), &OPEN).unwrap_err();
    assert_eq!(twice.kind, FaultKind::Duplicate("k7".into()));
}

#[test]
fn each_limit_has_its_own_refusal() {
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let limits = Limits { string_bytes: 10, keys: 3, ..Limits::default() };
    let number = "1".repeat(65);
    let cases = [
        (deep.as_str(), "nested deeper than 64 levels"),
        (&number, "longer than 64 characters"),
        (r#"["0123456789a"]"#, "longer than 10 bytes"),
        (r#"{"0123456789a":1}"#, "longer than 10 bytes"),
        (r#"[{"a":1,"b":2},{"c":3,"d":4}]"#, "more than 3 object keys"),
    ];
    for (body, expected) in cases {
        let fault = check(body.as_bytes(), &limits).unwrap_err();
        assert!(fault.is_limit());
        let text = fault.text(body.as_bytes());
        assert!(text.contains(expected), "{text}");
    }
    let fits = format!("{}{}", "[".repeat(64), "]".repeat(64));
    assert!(check(fits.as_bytes(), &limits).is_ok());
    assert!(check(br#"["0123456789"]"#, &limits).is_ok());
    assert!(check("1".repeat(64).as_bytes(), &limits).is_ok());
}

#[test]
fn a_string_is_as_long_as_what_it_stands_for_however_it_is_written() {
    let limits = Limits { string_bytes: 12, ..Limits::default() };
    for fits in [
        r#""\u3042\u3042\u3042\u3042""#,
        r#""\ud83d\ude00\ud83d\ude00\ud83d\ude00""#,
        r#""\u00e9\u00e9\n\n\u0041bcdef""#,
    ] {
        assert!(check(fits.as_bytes(), &limits).is_ok(), "{fits}");
        let more = format!("{}a\"", fits.strip_suffix('"').unwrap());
        assert_eq!(check(more.as_bytes(), &limits).unwrap_err().kind, FaultKind::LongString(12), "{more}");
    }
    assert!(check("\"ああああ\"".as_bytes(), &limits).is_ok());
}

#[test]
fn keys_that_a_later_reader_would_take_for_its_own_are_refused_wherever_they_are() {
    for body in [
        r#"{"$serde_json::private::RawValue":"false"}"#,
        r#"{"a":[{"b":1,"$serde_json::private::RawValue":"{}"}]}"#,
        r#"{"a":{"\u0024serde_json::private::RawValue":"1"}}"#,
        r#"{"$serde_json::private::Number":"1e999"}"#,
    ] {
        let fault = check(body.as_bytes(), &OPEN).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::ReservedKey(_)) && fault.is_limit(), "{body}: {fault:?}");
        assert!(fault.text(body.as_bytes()).contains("$serde_json::private::"));
    }
    assert!(check(br#"{"text":"$serde_json::private::RawValue"}"#, &OPEN).is_ok());
}

#[test]
fn a_number_out_of_range_is_named_as_one() {
    for body in ["1e400", r#"{"a":[-1e999]}"#] {
        let fault = check(body.as_bytes(), &OPEN).unwrap_err();
        assert_eq!(fault.kind, FaultKind::NumberRange);
        assert!(fault.is_limit() && fault.text(body.as_bytes()).contains("out of the range of a double"));
    }
}

/// JSON text with the odd space and escape, keys often equal.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
        "[ -~]{0,6}".prop_map(|s| format!("\"{s}\"")),
        Just(r#""\ud83d\ude00""#.to_owned()),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[ {}]", items.join(" ,"))),
            prop::collection::vec(("[a-f]{1,2}", inner), 0..6).prop_map(|members| {
                let members: Vec<String> = members.iter().map(|(k, v)| format!("\"{k}\" :{v}\n")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn it_accepts_what_serde_json_accepts(body in json()) {
        let ours = check(body.as_bytes(), &OPEN);
        let theirs = serde_json::from_str::<Value>(&body);
        prop_assert!(ours.is_ok() == theirs.is_ok() || (is_duplicate(&ours) && theirs.is_ok()), "{} {:?}", body, ours);
    }

    #[test]
    fn random_bytes_never_panic_and_agree(body in prop::collection::vec(any::<u8>(), 0..64)) {
        let ours = check(&body, &OPEN);
        let theirs = serde_json::from_slice::<Value>(&body);
        prop_assert!(ours.is_ok() == theirs.is_ok() || is_duplicate(&ours));
        if let Err(fault) = ours { fault.text(&body); }
    }

    #[test]
    fn mutations_never_panic_and_agree(
        body in json(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(br#"{}[],:"\u0ed89.-+eE "#.to_vec())), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut body = body.into_bytes();
        for (at, byte) in edits {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(cut.index(body.len()) + 1);
        let ours = check(&body, &OPEN);
        let theirs = serde_json::from_slice::<Value>(&body);
        prop_assert!(
            ours.is_ok() == theirs.is_ok() || is_duplicate(&ours),
            "{:?}: {:?} {:?}", String::from_utf8_lossy(&body), ours, theirs
        );
    }
}
