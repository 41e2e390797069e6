//! The client's address: the peer of the connection, or the address that a trusted proxy names.

use std::{net::IpAddr, str::FromStr};

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The client's address, kept with the head of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Proxies whose word counts, and the one header they write. Another header may be the client's own.
#[derive(Debug, Clone)]
pub struct ProxyPolicy {
    trusted: Vec<Network>,
    header: ForwardedHeader,
}

/// The header in which proxies name the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardedHeader {
    #[default]
    XForwardedFor,
    /// RFC 7239.
    Forwarded,
}

/// An address, or a range of them: `10.0.0.0/8`, `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no network; write an address (10.0.0.7) or a range (10.0.0.0/8, 2001:db8::/32)")]
pub struct NetworkError(String);

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(wrong)?,
        };
        Ok(Self { address, bits })
    }
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                (network.to_bits() ^ address.to_bits()) & mask == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.bits)).unwrap_or(0);
                (network.to_bits() ^ address.to_bits()) & mask == 0
            }
            _ => false,
        }
    }
}

impl ProxyPolicy {
    pub fn new(trusted: Vec<Network>, header: ForwardedHeader) -> Self {
        Self { trusted, header }
    }

    /// The last address of the chain that no trusted proxy has. A peer that is not trusted speaks for itself alone, whatever its
    /// headers say, and what a trusted proxy wrote unreadably leaves the last address that is known.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        if !self.trusts(client) {
            return client;
        }
        let (name, read): (HeaderName, fn(&str) -> Option<IpAddr>) = match self.header {
            ForwardedHeader::XForwardedFor => (HeaderName::from_static("x-forwarded-for"), address),
            ForwardedHeader::Forwarded => (header::FORWARDED, forwarded_for),
        };
        let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        // split first: what a client wrote unreadably hides nothing that a proxy wrote after it
        for hop in lines.iter().flat_map(|line| line.split(|byte| *byte == b',')).rev() {
            let Some(address) = std::str::from_utf8(hop).ok().and_then(|hop| read(hop.trim())) else { break };
            client = address;
            if !self.trusts(client) {
                break;
            }
        }
        client
    }

    pub(super) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// `192.0.2.7`, `192.0.2.7:4711`, `2001:db8::7`, `[2001:db8::7]`, `[2001:db8::7]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    text.parse().ok().or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

/// The `for` of one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(value.trim_matches('"'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn client(header: ForwardedHeader, peer: &str, lines: &[(&'static str, &str)]) -> String {
        let trusted = ["127.0.0.1", "10.0.0.0/8", "2001:db8:9::/48"].map(|network| network.parse().unwrap());
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        ProxyPolicy::new(trusted.to_vec(), header).client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let x = |peer: &str, value: &str| client(ForwardedHeader::XForwardedFor, peer, &[("x-forwarded-for", value)]);
        assert_eq!(x("192.0.2.1", "203.0.113.9"), "192.0.2.1", "a stranger's word does not count");
        assert_eq!(x("127.0.0.1", "203.0.113.9"), "203.0.113.9");
        assert_eq!(x("::ffff:127.0.0.1", "203.0.113.9:4711"), "203.0.113.9");
        assert_eq!(
            x("127.0.0.1", "1.1.1.1, 203.0.113.9, 10.1.2.3"),
            "203.0.113.9",
            "what the client wrote is passed by"
        );
        assert_eq!(x("127.0.0.1", "10.9.9.9, 10.1.2.3"), "10.9.9.9", "a chain of proxies alone begins at its first");
        assert_eq!(x("127.0.0.1", "1.1.1.1, unknown, 10.1.2.3"), "10.1.2.3");
        assert_eq!(x("127.0.0.1", "[2001:db8::7]:443"), "2001:db8::7");
        assert_eq!(x("2001:db8:9::1", "2001:db8:8::7"), "2001:db8:8::7");
        for nothing in ["", " ", "nonsense", "1.1.1.1,"] {
            assert_eq!(x("127.0.0.1", nothing), "127.0.0.1", "{nothing:?}");
        }
    }

    #[test]
    fn what_a_client_wrote_unreadably_hides_no_address() {
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", HeaderValue::from_bytes(b"\xe9, 203.0.113.9").unwrap());
        let policy = ProxyPolicy::new(vec!["127.0.0.1".parse().unwrap()], ForwardedHeader::XForwardedFor);
        assert_eq!(policy.client("127.0.0.1".parse().unwrap(), &headers).to_string(), "203.0.113.9");
    }

    #[test]
    fn lines_are_one_list_and_the_other_header_is_not_read() {
        let lines = [("x-forwarded-for", "1.1.1.1"), ("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=2.2.2.2")];
        assert_eq!(client(ForwardedHeader::XForwardedFor, "127.0.0.1", &lines), "203.0.113.9");
        let lines = [
            ("forwarded", "for=1.1.1.1, For=\"[2001:db8::7]:4711\";proto=https"),
            ("forwarded", "by=10.0.0.1;for=10.0.0.2"),
            ("x-forwarded-for", "2.2.2.2"),
        ];
        assert_eq!(client(ForwardedHeader::Forwarded, "127.0.0.1", &lines), "2001:db8::7");
        assert_eq!(client(ForwardedHeader::Forwarded, "127.0.0.1", &[("forwarded", "for=_hidden")]), "127.0.0.1");
    }

    #[test]
    fn a_network_is_an_address_or_a_range() {
        let contains =
            |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("0.0.0.0/0", "192.0.2.1") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("::/0", "::1") && contains("192.0.2.1", "::ffff:192.0.2.1"));
        for wrong in ["", "10.0.0.0/33", "10.0.0/8", "example.com", "::/129", "10.0.0.0/-1", "10.0.0.0/"] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError(wrong.to_owned())));
        }
    }
}
