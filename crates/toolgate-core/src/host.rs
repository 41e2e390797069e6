//! The host of an address in its normal form: of several spellings that lead to one server, the one that rules are written for.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Schemes whose addresses have a host and a port as the web knows them, with the default port.
const HOSTED: [(&str, u16); 18] = [
    ("http", 80),
    ("https", 443),
    ("ws", 80),
    ("wss", 443),
    ("ftp", 21),
    ("ftps", 990),
    ("sftp", 22),
    ("ssh", 22),
    ("git", 9418),
    ("ldap", 389),
    ("ldaps", 636),
    ("redis", 6379),
    ("rediss", 6379),
    ("postgres", 5432),
    ("postgresql", 5432),
    ("mysql", 3306),
    ("mongodb", 27017),
    ("amqp", 5672),
];

/// The default port of a scheme whose addresses have a host as the web knows it.
pub(crate) fn default_port(scheme: &str) -> Option<u16> {
    HOSTED.iter().find(|(known, _)| *known == scheme).map(|(_, port)| *port)
}

/// The authority of a scheme with this default port: without a user, in lower case, an IP address in its usual form, and with
/// a port only where it is another one.
pub(crate) fn hosted(authority: &str, default: u16) -> String {
    let named = without_user(authority).to_ascii_lowercase();
    let (host, port) = with_port(&named);
    // a host is ASCII: what is written in other characters leads to the same server as its ASCII form
    let host: String = without_escapes(host).trim_end_matches('.').to_owned();
    let host = numeric(&host).unwrap_or(host);
    match port.map(|port| port.trim_start_matches('0')).filter(|port| !port.is_empty()) {
        Some(port) if port.parse() != Ok(default) => format!("{host}:{port}"),
        _ => host,
    }
}

/// The authority of a scheme that nothing is known about: a name, without a user and a port, which most readers pass over.
pub(crate) fn unhosted(authority: &str) -> &str {
    with_port(without_user(authority)).0
}

fn without_user(authority: &str) -> &str {
    authority.rsplit('@').next().unwrap_or_default()
}

fn with_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    }
}

fn without_escapes(host: &str) -> String {
    let mut parts = host.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |host, part| host + part.get(2..).unwrap_or_default())
}

/// An IP address in its usual form: `0x7f.1` and `2130706433` are `127.0.0.1`.
fn numeric(host: &str) -> Option<String> {
    if let Some(six) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let six: Ipv6Addr = six.parse().ok()?;
        return Some(six.to_ipv4_mapped().map_or_else(|| format!("[{six}]"), |four| four.to_string()));
    }
    let parts: Vec<&str> = host.split('.').collect();
    let (last, others) = parts.split_last()?;
    if others.len() > 3 {
        return None;
    }
    // the last number fills the bytes that the others leave
    let mut bits = number(last)?;
    let room = 8 * (4 - u32::try_from(others.len()).ok()?);
    if bits.checked_shr(room).is_some_and(|over| over > 0) {
        return None;
    }
    for (at, part) in (1..).zip(others) {
        let byte = number(part).filter(|byte| *byte < 256)?;
        bits |= byte << (32 - 8 * at);
    }
    u32::try_from(bits).ok().map(|bits| Ipv4Addr::from_bits(bits).to_string())
}

/// A number as addresses of version 4 have them: decimal, `0x…`, or octal after a zero.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u64::from_str_radix(text, 8).ok(),
        None if text.starts_with(|first: char| first.is_ascii_digit()) => text.parse().ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_addresses() {
        for (odd, usual) in [
            ("0x7f.1", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0177.0.0.1", "127.0.0.1"),
            ("127.1", "127.0.0.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("[0:0:0:0:0:0:0:1]", "[::1]"),
            ("[::FFFF:127.0.0.1]", "127.0.0.1"),
            ("[2001:DB8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(numeric(&odd.to_ascii_lowercase()).as_deref(), Some(usual), "{odd}");
        }
        for name in ["example.com", "1.2.3.4.5", "256.1.1.1", "1.example", "", "4294967296", "1..2", "09"] {
            assert_eq!(numeric(name), None, "{name}");
        }
    }
}
