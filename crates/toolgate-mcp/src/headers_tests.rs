//! What the header readers make of good and odd headers.

use http::HeaderValue;

use super::*;

fn with(name: HeaderName, values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(name.clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

#[test]
fn accept_is_read_with_wildcards_and_weights() {
    let cases: [(&[&str], bool, bool); 8] = [
        (&[], true, true),
        (&["application/json, text/event-stream"], true, true),
        (&["Application/JSON"], true, false),
        (&["text/event-stream"], false, true),
        (&["application/json", "text/event-stream;q=0.5"], true, true),
        (&["*/*"], true, true),
        (&["application/*;q=0, text/html"], false, false),
        (&["text/plain"], false, false),
    ];
    for (values, json, events) in cases {
        assert_eq!(accepted(&with(header::ACCEPT, values)), Accepted { json, events }, "{values:?}");
    }
}

#[test]
fn the_body_must_be_declared_as_json() {
    for good in ["application/json", "application/json; charset=utf-8", "Application/Json"] {
        assert!(check_content_type(&with(header::CONTENT_TYPE, &[good])).is_ok(), "{good}");
    }
    for bad in [&[][..], &["text/plain"], &["application/json-patch+json"]] {
        let refusal = check_content_type(&with(header::CONTENT_TYPE, bad)).unwrap_err();
        assert_eq!((refusal.status.as_u16(), refusal.code), (415, -32600));
    }
}

#[test]
fn a_token_in_the_address_is_refused_without_repeating_it() {
    for query in [
        "token=s3cret",
        "a=1&token=s3cret",
        "Token=s3cret",
        "access_token=s3cret",
        "session_token=s3cret",
        "coordinator_token=s3cret",
        "token",
    ] {
        let refusal = check_query(Some(query)).unwrap_err();
        assert_eq!(refusal.status, 400);
        assert!(!refusal.message.contains("s3cret"));
    }
    assert!(check_query(Some("tokens=1&a=token")).is_ok());
    assert!(check_query(None).is_ok());
}

#[test]
fn a_bearer_token_is_found_whatever_the_case_of_its_scheme() {
    let read = |values: &[&str]| bearer(&with(header::AUTHORIZATION, values)).map(|token| token.map(str::to_owned));
    assert_eq!(read(&[]).unwrap(), None);
    assert_eq!(read(&["Bearer abc"]).unwrap().as_deref(), Some("abc"));
    assert_eq!(read(&["bearer  abc "]).unwrap().as_deref(), Some("abc"));
    assert_eq!(read(&["Basic abc"]).unwrap(), None);
    assert_eq!(read(&["Bearer"]).unwrap().as_deref(), Some(""));
    assert_eq!(read(&["Bearer é"]).unwrap().as_deref(), Some(""));
    assert!(read(&["Bearer a", "Bearer b"]).is_err());
}

#[test]
fn task_headers_come_in_the_configured_order() {
    let names = [HeaderName::from_static("x-toolgate-task-id"), HeaderName::from_static("x-wiggy-task-id")];
    let mut headers = with(names[1].clone(), &["second"]);
    headers.append(names[0].clone(), HeaderValue::from_static("first"));
    assert_eq!(task_keys(&headers, &names), ["first", "second"]);
}

#[test]
fn the_language_is_the_best_liked_one_we_have() {
    let read = |value: &str| language(&with(header::ACCEPT_LANGUAGE, &[value]), Lang::En);
    assert_eq!(read("ja"), Lang::Ja);
    assert_eq!(read("ja-JP,en;q=0.8"), Lang::Ja);
    assert_eq!(read("en,ja;q=0.9"), Lang::En);
    assert_eq!(read("fr,ja;q=0.4,en;q=0.3"), Lang::Ja);
    assert_eq!(read("fr"), Lang::En);
    assert_eq!(language(&HeaderMap::new(), Lang::Ja), Lang::Ja);
}
