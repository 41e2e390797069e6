//! One digest for one definition.

use serde_json::Value;
use toolgate_core::pin::{Canonical, Digest, Unreadable, diff};

use super::random::{any, dressed, edit, object};
use crate::fixtures::random::Random;

fn digest(json: &str) -> Digest {
    Canonical::of(json).unwrap().digest()
}

#[test]
fn the_canonical_form_sorts_keys_and_keeps_numbers_as_written() {
    let canonical = Canonical::of("{ \"b\" : [1.0, 1E2, -0],\n \"a\":\"\\u00e9\\/\\u0007\" }").unwrap();
    assert_eq!(canonical.as_str(), "{\"a\":\"é/\\u0007\",\"b\":[1.0,1E2,-0]}");
}

#[test]
fn the_digest_is_the_sha_256_of_the_canonical_text() {
    // printf '{}' | sha256sum
    let empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    assert_eq!(digest(" { } ").to_string(), empty);
    assert_eq!(empty.parse::<Digest>().unwrap(), digest("{}"));
    let (upper, short) = (empty.to_uppercase(), "sha256:44".to_owned());
    for bad in [upper, short, empty.replace("sha256", "sha512"), format!("{empty}0"), empty.replace("44136", "é136")] {
        bad.parse::<Digest>().unwrap_err();
    }
}

#[test]
fn keys_are_in_the_order_of_rfc_8785() {
    // By UTF-16 code units an emoji comes before U+FB33, by code points after it.
    let canonical = Canonical::of("{\"\u{fb33}\":1,\"😀\":2,\"1\":3}").unwrap();
    assert_eq!(canonical.as_str(), "{\"1\":3,\"😀\":2,\"\u{fb33}\":1}");
}

#[test]
fn any_other_writing_of_a_number_is_another_definition() {
    let texts = ["1", "1.0", "1.00", "1e0", "1E0", "10e-1", "0.1", "100000000000000000001", "100000000000000000002"];
    for (index, one) in texts.iter().enumerate() {
        for other in &texts[index + 1..] {
            assert_ne!(digest(one), digest(other), "{one} and {other}");
        }
    }
}

#[test]
fn what_readers_may_take_differently_has_no_digest() {
    assert_eq!(Canonical::of(r#"{"a":1,"\u0061":1}"#), Err(Unreadable::Twice("a".to_owned())));
    assert!(matches!(Canonical::of(r#"{"a":"\ud800"}"#), Err(Unreadable::Json(_))));
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Canonical::of(&nested(129)).is_ok());
    assert_eq!(Canonical::of(&nested(130)), Err(Unreadable::Deep));
    assert_eq!(Canonical::of(&nested(20_000)), Err(Unreadable::Deep));
    for bad in ["", "{", "{}x", "01", "{\"a\":}", "nul", "\"\u{1}\"", "\u{feff}{}"] {
        assert!(matches!(Canonical::of(bad), Err(Unreadable::Json(_))), "{bad:?}");
    }
}

#[test]
fn key_order_white_space_and_escapes_never_change_a_digest() {
    let mut random = Random::new(41);
    for _ in 0..2_000 {
        let definition = object(&mut random, 4);
        let (one, other) = (dressed(&definition, &mut random), dressed(&definition, &mut random));
        assert_eq!(digest(&one), digest(&other), "{one}\n{other}");
        assert_eq!(diff(&one, &other).unwrap().changes, []);
    }
}

#[test]
fn any_single_edit_changes_the_digest_and_shows_in_the_difference() {
    let mut random = Random::new(42);
    for _ in 0..4_000 {
        let before = any(&mut random, 4);
        let mut after = before.clone();
        edit(&mut after, &mut random);
        if before == after {
            continue; // Taking out one of two equal neighbours and such.
        }
        let (before, after) = (dressed(&before, &mut random), dressed(&after, &mut random));
        assert_ne!(digest(&before), digest(&after), "{before}\n{after}");
        let rendered = diff(&before, &after).unwrap().render();
        assert!(rendered.starts_with(['+', '-', '~']), "{before}\n{after}");
        assert!(!rendered.chars().any(|c| c.is_control() && c != '\n'), "{rendered:?}");
    }
}

#[test]
fn the_canonical_form_is_the_same_json_and_its_own_canonical_form() {
    let mut random = Random::new(43);
    for _ in 0..1_000 {
        let definition = object(&mut random, 4);
        let text = dressed(&definition, &mut random);
        let canonical = Canonical::of(&text).unwrap();
        assert_eq!(Canonical::of(canonical.as_str()).unwrap(), canonical);
        let read = |json: &str| serde_json::from_str::<Value>(json).unwrap();
        assert_eq!(read(&text), read(canonical.as_str()));
    }
}
