//! The normal form of a resource's address. Rules and attributes compare text, and a server may read several spellings as
//! one address, so that only the normal one leads anywhere by a pattern.
//!
//! The normal form is RFC 3986's: the scheme in lower case, unreserved characters as they are, everything else that is no
//! URI character percent-encoded in upper case, no dot segments. Beyond it, a path has no empty segments (but behind a colon,
//! for an address within an address), no backslash, no encoded slash or backslash, and there is no fragment. An authority has
//! no user. Of schemes that are known (see [`host`]), the host is in lower case, an IP address in its usual form, the default
//! port is left out and an empty path is `/`. Of other schemes the port is left out, and a path is not `/` alone. A file has
//! neither host nor query, and always two slashes before its path.

use std::{borrow::Cow, fmt::Write};

use crate::host;

/// The address in its normal form; borrowed if it has it already.
pub fn normal_address(address: &str) -> Cow<'_, str> {
    let mut normal = normalised(address);
    // what is left may read as another scheme or path than before
    for _ in 0..8 {
        let again = normalised(&normal);
        if again == normal {
            break;
        }
        normal = again;
    }
    if normal == address { Cow::Borrowed(address) } else { Cow::Owned(normal) }
}

/// Whether the address is another one in its normal form than some servers read it as: an escaped slash may be part of a name.
pub fn has_escaped_slash(address: &str) -> bool {
    let escapes = |bytes: &[u8]| matches!(bytes, [b'%', b'2', b'f' | b'F'] | [b'%', b'5', b'c' | b'C']);
    address.as_bytes().windows(3).any(escapes)
}

fn normalised(address: &str) -> String {
    let address = encoded(address);
    let address = address.split('#').next().unwrap_or_default();
    let (before_query, query) = match address.split_once('?') {
        Some((before, query)) => (before, Some(query).filter(|query| !query.is_empty())),
        None => (address, None),
    };
    let (scheme, rest) = match before_query.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) {
        Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
        None => (None, before_query),
    };
    let rest = rest.replace('\\', "/");
    let port = scheme.as_deref().and_then(host::default_port);
    let is_file = scheme.as_deref() == Some("file");
    let mut normal = String::with_capacity(address.len());
    if let Some(scheme) = &scheme {
        normal.push_str(scheme);
        normal.push(':');
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            normal.push_str("//");
            match port {
                _ if is_file => {}
                Some(port) => normal.push_str(&host::hosted(authority, port)),
                None => normal.push_str(host::unhosted(authority)),
            }
            let is_named = !is_file && port.is_none();
            match plain_path(path) {
                path if path == "/" && is_named => String::new(),
                path if path.is_empty() && !is_named => "/".to_owned(),
                path => path,
            }
        }
        None if is_file => {
            normal.push_str("//");
            plain_path(&format!("/{rest}"))
        }
        None => plain_path(&rest),
    };
    normal.push_str(&path);
    if let Some(query) = query.filter(|_| !is_file) {
        normal.push('?');
        normal.push_str(query);
    }
    normal
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// A path without dot segments and empty ones.
fn plain_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(usize::from(rooted)).peekable();
    let mut ends_open = false;
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        ends_open = is_last && matches!(segment, "" | "." | "..");
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            "" if is_last => {}
            "" if !kept.last().is_some_and(|before| before.ends_with(':')) => {}
            segment => kept.push(segment),
        }
    }
    let mut plain = if rooted { "/".to_owned() } else { String::new() };
    plain.push_str(&kept.join("/"));
    if ends_open && !kept.is_empty() {
        plain.push('/');
    }
    plain
}

/// Characters and escapes in their one spelling. What no URI has is escaped; control characters are left out, as many
/// readers do.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (bytes, mut at) = (text.as_bytes(), 0);
    while let Some(byte) = bytes.get(at).copied() {
        at += 1;
        let escaped = (byte == b'%').then(|| escape(bytes.get(at..at + 2)?)).flatten();
        match escaped {
            Some(byte) => {
                at += 2;
                match byte {
                    0..0x20 | 0x7f => {}
                    b'/' | b'\\' => out.push('/'),
                    byte if is_unreserved(byte) => out.push(char::from(byte)),
                    byte => push_escape(&mut out, byte),
                }
            }
            None if byte == b'%' => push_escape(&mut out, byte),
            None if byte < 0x20 || byte == 0x7f => {}
            None if byte.is_ascii_graphic()
                && !matches!(byte, b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}') =>
            {
                out.push(char::from(byte));
            }
            None => push_escape(&mut out, byte),
        }
    }
    out
}

fn escape(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(text, 16).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn push_escape(out: &mut String, byte: u8) {
    // writing to a `String` can't fail
    let _ = write!(out, "%{byte:02X}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_normal_form_stays() {
        for address in [
            "file:///docs/salaries.txt",
            "file:///docs/",
            "file:///docs/a%20b.txt",
            "file:///docs/%C3%A9.txt",
            "https://example.com/a/b?c=//d/../e",
            "https://example.com:8443/",
            "note://Private",
            "notes:plain",
            "urn:isbn:0451450523",
            "fetch://page/https://example.com/a",
            "toolgate://results/abc",
            "test://static-text",
            "plain",
            "a/b:c@d;e=f,g!$&'()*+~",
        ] {
            assert_eq!(normal_address(address), address);
        }
    }

    #[test]
    fn every_other_spelling_becomes_the_one() {
        for odd in [
            "file:///docs/%73alaries.txt",
            "file:///docs/./salaries.txt",
            "file:///docs/x/../salaries.txt",
            "file:///docs/x/%2e%2e/salaries.txt",
            "file:///docs/x/.%2E/salaries.txt",
            "file:///docs//salaries.txt",
            "file:////docs/salaries.txt",
            "file:///docs\\salaries.txt",
            "file:///docs%5Csalaries.txt",
            "file:///docs%2fsalaries.txt",
            "file:///docs/x%2F..%2Fsalaries.txt",
            "file:///../docs/salaries.txt",
            "FILE:///docs/salaries.txt",
            "file://localhost/docs/salaries.txt",
            "file://LOCALHOST/docs/salaries.txt",
            "file:///docs/salaries.txt#x",
            "file:///docs/salaries.txt#",
            "file:///docs/salaries.txt?x",
            "file:///docs/salaries.txt?",
            "file:///docs/sala\tries.txt",
            "file:///docs/sala%00ries.txt",
            "file:///docs/salaries%2Etxt",
            "file://x/docs/salaries.txt",
            "file://127.0.0.1/docs/salaries.txt",
            "file://user@host:1/docs/salaries.txt",
            "file:/docs/salaries.txt",
            "file:docs/salaries.txt",
        ] {
            assert_eq!(normal_address(odd), "file:///docs/salaries.txt", "{odd}");
        }
        for (odd, normal) in [
            ("HTTPS://user@Example.COM.:443", "https://example.com/"),
            ("note://a/../../b/", "note://a/b/"),
            ("file:///a b/é", "file:///a%20b/%C3%A9"),
            ("file:///a%2", "file:///a%252"),
            ("file:///%c3%a9", "file:///%C3%A9"),
            ("a/./b/..", "a/"),
            ("note://x?", "note://x"),
            ("https://example.com:0443/x", "https://example.com/x"),
            ("https://example.com:08443/x", "https://example.com:8443/x"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://[0:0::1]/", "http://[::1]/"),
            ("http://ex\u{e4}mple.com/", "http://exmple.com/"),
            ("note://a@private/x", "note://private/x"),
            ("note://private:0/x", "note://private/x"),
            ("note://private:7/x", "note://private/x"),
            ("note://private/", "note://private"),
            ("note://private/?q=1", "note://private?q=1"),
            ("redis://u:p@Cache:06379", "redis://cache/"),
        ] {
            assert_eq!(normal_address(odd), normal, "{odd}");
            assert_eq!(normal_address(normal), normal);
        }
    }

    proptest::proptest! {
        #[test]
        fn the_normal_form_is_its_own(address in "[a-z]{0,4}:?/{0,3}[ -~é]{0,30}") {
            let normal = normal_address(&address).into_owned();
            proptest::prop_assert_eq!(&normal_address(&normal), &normal);
        }
    }
}
