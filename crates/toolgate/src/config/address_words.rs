//! Addresses and host names of `[server]`, checked where they are read: the fault then has a file, a line and a suggestion.

use serde::{Deserialize, Deserializer, de::Error};

/// Reads an address to listen on: a host and a port.
pub fn listen_address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text),
        Some((host, "")) => Err(D::Error::custom(format!("listen '{text}' has no port; write '{host}:8484'"))),
        Some((_, port)) => {
            Err(D::Error::custom(format!("listen '{text}': '{port}' is no port; write '127.0.0.1:8484'")))
        }
        None => Err(D::Error::custom(format!("listen '{text}' has no port; write '{text}:8484'"))),
    }
}

/// Reads names of hosts, each with or without a port.
pub fn host_names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Vec::<HostName>::deserialize(from)?.into_iter().map(|host| host.0).collect())
}

struct HostName(String);

impl<'de> Deserialize<'de> for HostName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        if text.is_empty() || !text.chars().all(fits) {
            return Err(D::Error::custom(format!(
                "hosts '{text}' is no host's name; names are compared as they stand, so write each: 'tools.example' or \
                 'tools.example:8443'"
            )));
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Server;

    fn read(text: &str) -> Result<Server, String> {
        toml::from_str(text).map_err(|fault| fault.message().to_owned())
    }

    #[test]
    fn an_address_has_a_port() {
        for good in ["127.0.0.1:8484", "[::1]:0", "localhost:80", "0.0.0.0:65535"] {
            assert_eq!(read(&format!("listen = \"{good}\"")).map(|server| server.listen), Ok(good.to_owned()));
        }
        for bad in ["127.0.0.1", "", ":8484", "localhost:", "localhost:http", "1.1.1.1:65536"] {
            assert!(read(&format!("listen = \"{bad}\"")).is_err_and(|fault| fault.contains("8484")), "{bad}");
        }
    }

    #[test]
    fn a_pattern_is_no_host_name() {
        assert!(read("hosts = [\"tools.example\", \"10.2.3.4:8492\", \"[::1]:8484\"]").is_ok());
        for bad in ["*", "*.example", "10.2.3.0/24", "https://tools.example", ""] {
            let fault = read(&format!("hosts = [\"{bad}\"]")).err().unwrap_or_default();
            assert!(fault.contains(&format!("hosts '{bad}' is no host's name")), "{bad}: {fault}");
        }
    }
}
