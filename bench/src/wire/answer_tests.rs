#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

const PLAIN: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMCP-Session-ID: s1\r\ncontent-length: 5\r\n\r\nhelloHTTP/1.1";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\nrest";

/// What was read: status, body, bytes taken.
fn read(arrived: &[u8]) -> Option<(u16, Vec<u8>, usize)> {
    let head = Head::read(arrived).unwrap()?;
    let body = head.body(arrived).unwrap()?;
    Some((head.status, body.bytes.into_owned(), body.consumed))
}

#[test]
fn a_body_ends_where_its_length_says() {
    let taken = PLAIN.len() - "HTTP/1.1".len();
    assert_eq!(read(PLAIN), Some((200, b"hello".to_vec(), taken)));
}

#[test]
fn chunks_are_joined() {
    let taken = CHUNKED.len() - "rest".len();
    assert_eq!(read(CHUNKED), Some((200, b"hello".to_vec(), taken)));
}

#[test]
fn every_cut_before_the_end_asks_for_more() {
    for (whole, tail) in [(PLAIN, "HTTP/1.1"), (CHUNKED, "rest")] {
        for cut in 0..whole.len() - tail.len() {
            assert_eq!(read(&whole[..cut]), None, "cut at {cut}");
        }
    }
}

#[test]
fn the_session_is_found_whatever_its_case() {
    let head = Head::read(PLAIN).unwrap().unwrap();
    assert_eq!(head.session.as_deref(), Some("s1"));
}

#[test]
fn accepted_may_have_no_body() {
    let bytes = b"HTTP/1.1 202 Accepted\r\ndate: now\r\n\r\n";
    assert_eq!(read(bytes), Some((202, Vec::new(), bytes.len())));
}

#[test]
fn nonsense_is_refused() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\n\r\n"[..],
        b"HTTP/1.1 abc\r\ncontent-length: 0\r\n\r\n",
        b"SSH-2.0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
    ] {
        assert!(Head::read(bytes).is_err(), "{}", bytes.escape_ascii());
    }
    let chunk = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n";
    assert!(Head::read(chunk).unwrap().unwrap().body(chunk).is_err());
}
