//! How work grows with a message, its headers and its cursor: in proportion.

use http::{HeaderMap, HeaderValue, header};
use toolgate_core::{Kind, Lang};

use crate::{
    cursor::{Cursors, Listing},
    headers,
    json::limits::Limits,
    linear::assert_linear,
    message::Message,
    mirror,
};

const WIDE: Limits =
    Limits { body_bytes: usize::MAX, depth: 64, number_chars: 64, string_bytes: usize::MAX, keys: usize::MAX };

#[test]
fn messages_are_read_in_linear_time() {
    let message = |params: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{params}}}");
    for part in ["\"\\u0061\\\"\"", "[1]", "{\"a\":{}}", "-1.5e3", "\"é\"", "  \n1", "true", "[[[[[[[[]]]]]]]]"] {
        assert_linear(part, 256, |times| {
            let items = format!("{{\"a\":[{}1]}}", format!("{part},").repeat(times));
            assert!(Message::read(message(&items).as_bytes(), &WIDE).is_ok());
        });
    }
    for part in ["\\u0061", "\\\\", "a", "é", "\\ud83d\\ude00"] {
        assert_linear(part, 256, |times| {
            let text = format!("{{\"{0}\":\"{0}\"}}", part.repeat(times));
            assert!(Message::read(message(&text).as_bytes(), &WIDE).is_ok());
        });
    }
    for key in ["k", "\\u006b", "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"] {
        assert_linear(key, 256, |times| {
            let members: Vec<String> = (0..times).map(|number| format!("\"{key}{number}\":{{}}")).collect();
            assert!(Message::read(message(&format!("{{{}}}", members.join(","))).as_bytes(), &WIDE).is_ok());
        });
    }
    for broken in ["{", "[", "\"", "{\"a\":", "\\", ",", "1", " "] {
        assert_linear(broken, 256, |times| {
            let _ = Message::read(message(&broken.repeat(times)).as_bytes(), &WIDE);
        });
    }
}

#[test]
fn headers_are_read_in_linear_time() {
    for part in ["en,", "ja;q=0.5,", ";q=", "q=0.", ";;;;", ",,,,", "a-b-c-", "0", "=?base64?", "*/*,"] {
        assert_linear(part, 256, |times| {
            let value = HeaderValue::from_str(&part.repeat(times)).unwrap();
            let mut map = HeaderMap::new();
            for name in [header::ACCEPT, header::ACCEPT_LANGUAGE, header::CONTENT_TYPE, header::AUTHORIZATION] {
                map.insert(name, value.clone());
            }
            headers::accepted(&map);
            headers::language(&map, Lang::En);
            let _ = headers::check_content_type(&map);
            let _ = headers::bearer(&map);
            let _ = headers::check_query(Some(&part.repeat(times)));
            mirror::decoded(format!("=?base64?{}?=", part.repeat(times)).as_bytes());
        });
    }
    assert_linear("many headers", 64, |times| {
        let mut map = HeaderMap::new();
        for _ in 0..times.min(20_000) {
            map.append(header::ACCEPT, HeaderValue::from_static("a/b;q=0.1"));
        }
        headers::accepted(&map);
        let _ = headers::single(&map, &header::ACCEPT);
    });
}

#[test]
fn cursors_are_opened_in_linear_time() {
    let cursors = Cursors::new(b"key");
    for part in ["A", "_", "=", "é", "AAAA"] {
        assert_linear(part, 1 << 10, |times| {
            let listing = Listing { kind: Kind::Tool, principal: "user:a", revision: 1, digest: [0; 32] };
            assert!(cursors.open(&part.repeat(times), &listing).is_err());
        });
    }
}
