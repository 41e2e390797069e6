//! Which `Host` a request may be for and which `Origin` it may come from, at every address.

use super::bed::{
    home::Home,
    http::Request,
    message::{Era, Message},
};

const PATHS: [(&str, &str); 4] =
    [("POST", "/healthz"), ("GET", "/api/v1/approvals"), ("GET", "/metrics"), ("OPTIONS", "/mcp")];

#[test]
fn a_host_it_does_not_go_by_is_refused_everywhere() {
    let home = Home::bare();
    let gate = home.serve();
    let requests = PATHS.map(|(method, path)| Request::new(method, path));
    for request in requests.into_iter().chain([Message::list(Era::Modern).request()]) {
        for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "169.254.169.254"] {
            let answer = gate.send(&request.clone().header("Host", host));
            assert_eq!((answer.status, answer.verdict()), (403, "-32600".to_owned()), "{host} {}", request.path);
            assert!(answer.words().contains("[server] hosts"), "{}", answer.words());
        }
    }
    for host in ["localhost", "127.0.0.1:1", "[::1]:8484"] {
        assert_eq!(gate.ask(&Message::list(Era::Late).header("Host", host)).status, 200, "{host}");
    }
}

#[test]
fn probes_are_answered_by_whatever_address_they_know() {
    let home = Home::bare();
    let gate = home.serve();
    for path in ["/healthz", "/readyz"] {
        for host in ["10.2.3.4:8492", "toolgate.tools.svc.cluster.local", "localhost"] {
            let probe = Request::new("GET", path).header("Host", host);
            assert_eq!(gate.send(&probe).status, 200, "{host} {path}");
            let browser = probe.header("Origin", "https://evil.example");
            assert_eq!(gate.send(&browser).status, 403, "a page of another site is no probe: {host} {path}");
        }
    }
}

#[test]
fn an_origin_it_does_not_know_is_refused_everywhere() {
    let home = Home::bare();
    let gate = home.serve();
    let requests = PATHS.map(|(method, path)| Request::new(method, path));
    for request in requests.into_iter().chain([Message::list(Era::Late).request()]) {
        for origin in ["https://evil.example", "null", "http://localhost@evil.example", "http://localhost.evil.example"]
        {
            let answer = gate.send(&request.clone().header("Origin", origin));
            assert_eq!((answer.status, answer.verdict()), (403, "-32600".to_owned()), "{origin} {}", request.path);
            assert!(answer.words().contains("[server] origins"), "{}", answer.words());
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
}

#[test]
fn configured_names_and_origins_are_let_in_and_browsers_told_so() {
    let home = Home::with("[packs.gate]\n[server]\nhosts = [\"tools.example\"]\norigins = [\"https://app.example\"]\n");
    let gate = home.serve();
    assert_eq!(gate.ask(&Message::list(Era::Late).header("Host", "tools.example")).status, 200);
    let list = Message::list(Era::Late).header("Origin", "https://app.example");
    let answer = gate.ask(&list);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(answer.header("vary"), Some("Origin"));
    let wanted = "authorization, mcp-name, mcp-param-region";
    let question = Request::new("OPTIONS", "/mcp")
        .header("Origin", "https://app.example")
        .header("Access-Control-Request-Headers", wanted);
    let preflight = gate.send(&question);
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-headers"), Some(wanted));
    assert_eq!(preflight.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(
        gate.send(&Request::new("OPTIONS", "/mcp")).status,
        405,
        "without an origin it is no browser's question"
    );
}
