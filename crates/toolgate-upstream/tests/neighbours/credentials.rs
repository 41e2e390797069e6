//! Upstreams that take tokens, which the gate fetches with its own credentials.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_upstream::{ClientCredentials, Fault, SecretText, Transport, Upstream, UpstreamConfig};

use crate::site::{Fixture, Site, Way, fixture, within};

const SECRET: &str = "s3cret: é+=";

fn with(config: &mut UpstreamConfig, change: impl FnOnce(&mut ClientCredentials, &str)) {
    let Transport::Http { url, headers, auth } = &mut config.transport else { panic!("not over HTTP") };
    headers.clear();
    let mut given = ClientCredentials {
        token_url: Some(url.replace("/mcp", "/token")),
        issuer: None,
        client_id: "the gate".to_owned(),
        client_secret: SecretText::new(SECRET),
        scopes: vec!["read".to_owned(), "write".to_owned()],
        resource: None,
    };
    change(&mut given, url);
    *auth = Some(given);
}

/// The requests for tokens so far.
fn tokens(fixture: &Fixture) -> Vec<Value> {
    let log = fixture.log();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| line.get("token").cloned()).collect()
}

#[tokio::test]
async fn one_token_serves_everybody_until_it_is_refused_and_then_one_more_does() {
    for era in ["modern", "legacy"] {
        let site = Site::with(Way::Http, era, &["oauth"], |config| with(config, |_, _| {})).await;
        let (one, two, three) = tokio::join!(site.works(), site.works(), site.works());
        assert!(one && two && three);
        let asked = tokens(&site.fixture);
        assert_eq!(asked.len(), 1, "{era}");
        let Transport::Http { url, .. } = &site.upstream.config().transport else { panic!() };
        let expected =
            json!({"way": "Basic", "grant_type": "client_credentials", "scope": "read write", "resource": url});
        assert_eq!(asked[0], expected);
        site.call("revoke").await;
        let (one, two, three) = tokio::join!(site.works(), site.works(), site.works());
        assert!(one && two && three, "{era}");
        assert_eq!(tokens(&site.fixture).len(), 2, "{era}: one for all of them");
        assert_eq!(site.fixture.calls("echo"), 6, "{era}: none was run twice");
        assert!(!format!("{:?}", site.upstream.config()).contains(SECRET));
        site.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_token_is_not_used_when_its_time_is_over() {
    let site = Site::with(Way::Http, "modern", &["oauth", "oauth_brief"], |config| with(config, |_, _| {})).await;
    assert!(site.works().await && site.works().await);
    site.upstream.stop().await;
    let log = site.fixture.log();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let used: Vec<String> =
        lines.filter_map(|line| line["headers"]["authorization"].as_str().map(str::to_owned)).collect();
    let used: Vec<&String> = used.iter().filter(|header| header.starts_with("Bearer ")).collect();
    let different: std::collections::BTreeSet<_> = used.iter().collect();
    assert!(used.len() >= 2, "both calls came with one");
    assert_eq!(different.len(), used.len(), "none came twice: {used:?}");
}

#[tokio::test]
async fn the_token_endpoint_is_found_by_the_upstreams_own_words() {
    for (flags, way) in [(&["oauth"][..], "Basic"), (&["oauth", "oauth_post"], "form")] {
        let found = |given: &mut ClientCredentials, _: &str| {
            given.token_url = None;
            given.resource = Some("https://as.named.example".to_owned());
            given.scopes.clear();
        };
        let site = Site::with(Way::Http, "modern", flags, |config| with(config, found)).await;
        assert!(site.works().await);
        let expected = json!({"way": way, "grant_type": "client_credentials", "resource": "https://as.named.example"});
        assert_eq!(tokens(&site.fixture), [expected]);
        site.upstream.stop().await;
    }
}

async fn never_ready(flags: &[&str], change: impl FnOnce(&mut ClientCredentials, &str)) -> (Fixture, String) {
    let (fixture, mut config) = fixture(Way::Http, "modern", flags);
    with(&mut config, change);
    let upstream = Upstream::start(config);
    let tried = async || upstream.ready(Duration::from_millis(50)).await != Err(Fault::Starting);
    within(20, "it was tried", tried).await;
    let fault = upstream.ready(Duration::ZERO).await.unwrap_err().about("fix");
    upstream.stop().await;
    assert!(!fault.contains("s3cret") && !fault.contains("token-"), "{fault}");
    (fixture, fault)
}

#[tokio::test]
async fn what_goes_wrong_says_what_to_do_and_no_secret() {
    let (_, text) = never_ready(&["oauth"], |given, _| given.client_secret = SecretText::new("s3cret-wrong")).await;
    assert!(text.contains("can't be signed in to: its token endpoint answered with HTTP status 401 (invalid_client)"));
    assert!(text.contains("check issuer or token_url, client_id, client_secret and scopes"), "{text}");
    let (_, text) = never_ready(&["oauth"], |given, _| given.token_url = Some("http://127.0.0.1:1/".to_owned())).await;
    assert!(text.contains("its token endpoint does not answer"), "{text}");
    let (_, text) = never_ready(&["oauth"], |given, url| given.token_url = Some(url.replace("/mcp", "/none"))).await;
    assert!(text.contains("can't be signed in to"), "{text}");
    // a token that is never taken: asked for again once for each try, and no more
    let (_, text) = never_ready(&["oauth", "oauth_never"], |_, _| {}).await;
    assert!(text.contains("HTTP status 401") && text.contains("credentials"), "{text}");
}

#[tokio::test]
async fn the_secret_goes_to_no_server_that_only_the_upstream_names() {
    let named = "its metadata names an authorization server of another origin";
    for (flag, expected) in [
        ("oauth_file", "another origin (null)"),
        ("oauth_elsewhere", named),
        ("oauth_endpoint", "its metadata names a token endpoint of another origin (https://collector.example)"),
        ("oauth_resource", "its OAuth metadata is about another resource than its url"),
        ("oauth_sibling", "its OAuth metadata is about another resource than its url"),
    ] {
        let (fixture, text) = never_ready(&["oauth", flag], |given, _| given.token_url = None).await;
        assert!(text.contains(expected), "{flag}: {text}");
        assert!(tokens(&fixture).is_empty(), "{flag}");
    }
    let (_, text) = never_ready(&["oauth", "oauth_elsewhere"], |given, _| given.token_url = None).await;
    assert!(text.contains("name the server as issuer, or its token endpoint as token_url"), "{text}");
}

#[tokio::test]
async fn an_authorization_server_that_the_operator_names_is_asked_whatever_the_upstream_says() {
    let named = |given: &mut ClientCredentials, url: &str| {
        given.token_url = None;
        given.issuer = Some(url.replace("/mcp", "/as"));
    };
    let site = Site::with(Way::Http, "modern", &["oauth", "oauth_elsewhere"], |config| with(config, named)).await;
    assert!(site.works().await);
    assert_eq!(tokens(&site.fixture).len(), 1);
    site.upstream.stop().await;
}

#[tokio::test]
async fn a_header_of_ones_own_and_credentials_are_a_mistake() {
    let (_fixture, mut config) = fixture(Way::Http, "modern", &["oauth"]);
    with(&mut config, |_, _| {});
    let Transport::Http { headers, .. } = &mut config.transport else { panic!() };
    headers.push(("authorization".to_owned(), SecretText::new("Bearer x")));
    let upstream = Upstream::start(config);
    let text = upstream.ready(Duration::from_secs(5)).await.unwrap_err().about("fix");
    assert!(text.contains("both a header Authorization and client credentials"), "{text}");
    upstream.stop().await;
}
