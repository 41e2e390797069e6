//! The front door: which `Host` a request may be for and which `Origin` it may come from.
//!
//! Without this check a page in a browser could reach a server on the same machine under a name of its own choosing.

use http::{HeaderMap, HeaderValue, header};

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
    pub(super) fn check<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h HeaderValue>, Refused> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).ok_or(Refused::Host)?;
        if !self.knows_host(host) {
            return Err(Refused::Host);
        }
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(None) };
        let text = origin.to_str().map_err(|_| Refused::Origin)?;
        if self.knows_origin(text) { Ok(Some(origin)) } else { Err(Refused::Origin) }
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        is_loopback(name)
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host) || known.eq_ignore_ascii_case(name))
    }

    fn knows_origin(&self, origin: &str) -> bool {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some_and(|host| is_loopback(without_port(host)) && !host.contains(['/', '@']))
            || self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
}

fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        // in [::1]:8484 the last colon is the port's; in [::1] it is not
        Some(at) if !host.ends_with(']') => host.get(..at).unwrap_or(host),
        _ => host,
    }
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
        door.check(&headers).map(|origin| origin.is_some())
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
        ] {
            assert_eq!(check(&door, "localhost", Some(origin)), Err(Refused::Origin), "{origin}");
        }
    }
}
