//! The look of a command at a gateway that may be running: whether something answers at its address.

use std::{net::IpAddr, time::Duration};

use reqwest::{Client, Url, redirect::Policy};

const TIMEOUT: Duration = Duration::from_secs(2);

/// The address of the health check beside an MCP address; `None` for what is no address.
pub fn health_url(mcp_url: &str) -> Option<String> {
    let mut url = Url::parse(mcp_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.set_path("/healthz");
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

/// Returns true if the health check answers now. Waits for two seconds at the most.
pub async fn answers(health_url: &str) -> bool {
    let Ok(url) = Url::parse(health_url) else { return false };
    let builder = Client::builder().redirect(Policy::none()).timeout(TIMEOUT);
    // a proxy is not asked about this machine
    let builder = if is_loopback(&url) { builder.no_proxy() } else { builder };
    let Ok(client) = builder.build() else { return false };
    client.get(url).send().await.is_ok_and(|answer| answer.status().is_success())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_health_check_is_at_the_root_of_the_address() {
        assert_eq!(health_url("http://127.0.0.1:8484/mcp?x=1#y").as_deref(), Some("http://127.0.0.1:8484/healthz"));
        assert_eq!(health_url("https://tools.example/mcp").as_deref(), Some("https://tools.example/healthz"));
        assert_eq!(health_url("file:///mcp"), None);
        assert_eq!(health_url("tools.example"), None);
    }
}
