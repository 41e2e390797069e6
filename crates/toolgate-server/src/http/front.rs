//! The front door: which `Host` a request may be for and which `Origin` it may come from.
//!
//! Without this check a page in a browser could reach a server on the same machine under a name of its own choosing.

use http::{HeaderMap, HeaderName, HeaderValue, Uri, header};

/// Names and origins let in. Loopback always is.
#[derive(Debug, Clone, Default)]
pub struct FrontDoor {
    hosts: Vec<String>,
    origins: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Host,
    Origin,
}

impl FrontDoor {
    /// `hosts` are names without a port (every port is let in) or with one; `origins` are `scheme://host[:port]`.
    pub fn new(hosts: Vec<String>, origins: Vec<String>) -> Self {
        let lower = |names: Vec<String>| names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { hosts: lower(hosts), origins: lower(origins) }
    }

    /// The request's origin, if it has one and both checks pass.
    pub(super) fn check<'h>(&self, uri: &Uri, headers: &'h HeaderMap) -> Result<Option<&'h HeaderValue>, Refused> {
        let host = single(headers, &header::HOST).map_err(|_| Refused::Host)?.ok_or(Refused::Host)?;
        let host = host.to_str().map_err(|_| Refused::Host)?;
        // a request for an absolute address names its host twice
        let same = uri.authority().is_none_or(|named| named.as_str().eq_ignore_ascii_case(host));
        if !same || !self.knows_host(host) {
            return Err(Refused::Host);
        }
        let Some(origin) = single(headers, &header::ORIGIN).map_err(|_| Refused::Origin)? else { return Ok(None) };
        let text = origin.to_str().map_err(|_| Refused::Origin)?;
        if self.knows_origin(text) { Ok(Some(origin)) } else { Err(Refused::Origin) }
    }

    fn knows_host(&self, host: &str) -> bool {
        let Some(name) = name_of(host) else { return false };
        is_loopback(name)
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name))
    }

    fn knows_origin(&self, origin: &str) -> bool {
        let host = origin.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        host.and_then(|(_, host)| name_of(host)).is_some_and(is_loopback)
            || self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
}

/// The one value of a header; an error where there are more.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(()),
    }
}

/// The name in `name[:port]`, where that is what it is.
fn name_of(host: &str) -> Option<&str> {
    // in [::1]:8484 the last colon is the port's; in [::1] it is not
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at_checked(end)?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']');
    let is_port = match port.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok(),
        None => port.is_empty(),
    };
    (is_port && !name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(door: &FrontDoor, host: &str, origin: Option<&str>) -> Result<bool, Refused> {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        door.check(&Uri::from_static("/mcp"), &headers).map(|origin| origin.is_some())
    }

    #[test]
    fn loopback_is_let_in_and_other_names_only_if_configured() {
        let door = FrontDoor::default();
        for host in ["localhost", "localhost:8484", "127.0.0.1:1", "[::1]:8484", "[::1]", "LOCALHOST:80"] {
            assert_eq!(check(&door, host, None), Ok(false), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:8484", "", "169.254.169.254"] {
            assert_eq!(check(&door, host, None), Err(Refused::Host), "{host}");
        }
        let door = FrontDoor::new(vec!["Tools.example".into(), "exact.example:8443".into()], vec![]);
        assert_eq!(check(&door, "tools.example:443", None), Ok(false));
        assert_eq!(check(&door, "exact.example:8443", None), Ok(false));
        assert_eq!(check(&door, "exact.example:1", None), Err(Refused::Host));
    }

    #[test]
    fn a_host_is_said_once_with_a_port_that_is_one_and_the_same_in_an_absolute_address() {
        let door = FrontDoor::default();
        for host in
            ["localhost:", "localhost:x", "localhost:99999", "localhost:80:80", "localhost:+80", "[::1]x", "[::1"]
        {
            assert_eq!(check(&door, host, None), Err(Refused::Host), "{host}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "localhost".parse().unwrap());
        let at = |uri: &str| door.check(&uri.parse().unwrap(), &headers).is_ok();
        assert!(at("/mcp") && at("http://localhost/mcp"));
        assert!(!at("http://evil.example/mcp"));
        headers.append(header::HOST, "localhost".parse().unwrap());
        assert_eq!(door.check(&Uri::from_static("/mcp"), &headers), Err(Refused::Host), "two of them");
    }

    #[test]
    fn a_browsers_origin_must_be_loopback_or_configured() {
        let door = FrontDoor::new(vec![], vec!["https://app.example".into()]);
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5173", "https://APP.example"] {
            assert_eq!(check(&door, "localhost", Some(origin)), Ok(true), "{origin}");
        }
        for origin in [
            "null",
            "https://evil.example",
            "http://localhost.evil.example",
            "https://app.example:444",
            "http://localhost@evil.example",
            "localhost",
            "ftp://localhost",
            "http://localhost:port",
            "http://localhost/",
        ] {
            assert_eq!(check(&door, "localhost", Some(origin)), Err(Refused::Origin), "{origin}");
        }
    }
}
