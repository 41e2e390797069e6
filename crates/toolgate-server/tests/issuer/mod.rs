//! A real OAuth server on loopback: metadata, keys that rotate, and tokens by client credentials.

mod signer;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use toolgate_server::identity::{IssuerConfig, Jwks};

pub use signer::{Signer, jws};

pub const AUDIENCE: &str = "https://gate.example/mcp";
pub const CLIENT: (&str, &str) = ("robot", "robot-secret");

/// What the server answers with, changed by tests while it runs.
pub struct Desk {
    pub url: String,
    signer: Mutex<Arc<Signer>>,
    published: Mutex<Vec<Value>>,
    down: AtomicBool,
    pub key_requests: AtomicUsize,
    pub max_age: Mutex<Option<u64>>,
    away: Mutex<String>,
}

pub struct Issuer {
    pub desk: Arc<Desk>,
    server: tokio::task::JoinHandle<()>,
}

impl Issuer {
    pub async fn start(signer: Signer) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let desk = Arc::new(Desk {
            url: format!("http://{}", listener.local_addr().unwrap()),
            published: Mutex::new(vec![signer.jwk()]),
            signer: Mutex::new(Arc::new(signer)),
            down: AtomicBool::new(false),
            key_requests: AtomicUsize::new(0),
            max_age: Mutex::new(None),
            away: Mutex::default(),
        });
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/.well-known/openid-configuration", get(metadata))
            .route("/jwks", get(keys))
            .route("/moved", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/jwks")]) }))
            .route("/away", get(away))
            .route("/token", post(token))
            .with_state(Arc::clone(&desk));
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { desk, server }
    }

    pub fn config(&self, name: &str) -> IssuerConfig {
        IssuerConfig::new(name, &self.desk.url, AUDIENCE, Jwks::Url(format!("{}/jwks", self.desk.url)))
    }

    pub fn signer(&self) -> Arc<Signer> {
        Arc::clone(&self.desk.signer.lock().unwrap())
    }

    /// New tokens are signed by another key; the old one is published no more.
    pub fn rotate(&self, signer: Signer) {
        *self.desk.published.lock().unwrap() = vec![signer.jwk()];
        *self.desk.signer.lock().unwrap() = Arc::new(signer);
    }

    pub fn publish(&self, keys: Vec<Value>) {
        *self.desk.published.lock().unwrap() = keys;
    }

    /// Where `/away` leads.
    pub fn redirect_away(&self, url: &str) {
        url.clone_into(&mut self.desk.away.lock().unwrap());
    }

    pub fn set_down(&self, down: bool) {
        self.desk.down.store(down, Ordering::SeqCst);
    }

    pub fn key_requests(&self) -> usize {
        self.desk.key_requests.load(Ordering::SeqCst)
    }

    /// Claims of a good token for `subject`.
    pub fn claims(&self, subject: &str) -> Value {
        let now = now();
        json!({"iss": self.desk.url, "aud": AUDIENCE, "sub": subject, "iat": now, "nbf": now, "exp": now + 300})
    }

    pub fn sign(&self, claims: &Value) -> String {
        self.signer().token(claims)
    }

    /// A token the way a client gets one: metadata first, then the token endpoint it names.
    pub async fn token_by_client_credentials(&self) -> String {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let found = client.get(format!("{}/.well-known/oauth-authorization-server", self.desk.url));
        let found: Value = found.send().await.unwrap().json().await.unwrap();
        let (id, secret) = CLIENT;
        let form =
            format!("grant_type=client_credentials&client_id={id}&client_secret={secret}&scope=tools%3Aread+approve");
        let answer = client.post(found["token_endpoint"].as_str().unwrap());
        let answer =
            answer.header("content-type", "application/x-www-form-urlencoded").body(form).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let answer: Value = answer.json().await.unwrap();
        answer["access_token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

async fn metadata(State(desk): State<Arc<Desk>>) -> Json<Value> {
    let url = &desk.url;
    Json(json!({
        "issuer": url, "jwks_uri": format!("{url}/jwks"), "token_endpoint": format!("{url}/token"),
        "grant_types_supported": ["client_credentials"],
    }))
}

async fn keys(State(desk): State<Arc<Desk>>) -> Response {
    desk.key_requests.fetch_add(1, Ordering::SeqCst);
    if desk.down.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let mut headers = HeaderMap::new();
    if let Some(age) = *desk.max_age.lock().unwrap() {
        headers.insert(header::CACHE_CONTROL, format!("public, max-age={age}").parse().unwrap());
    }
    (headers, Json(json!({"keys": *desk.published.lock().unwrap()}))).into_response()
}

async fn away(State(desk): State<Arc<Desk>>) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, desk.away.lock().unwrap().clone())]).into_response()
}

async fn token(State(desk): State<Arc<Desk>>, form: String) -> Response {
    let form = reqwest::Url::parse(&format!("http://form/?{form}")).unwrap();
    let asked: HashMap<_, _> = form.query_pairs().collect();
    let word = |name: &str| asked.get(name).map_or("", AsRef::as_ref);
    if word("grant_type") != "client_credentials" || (word("client_id"), word("client_secret")) != CLIENT {
        return (StatusCode::UNAUTHORIZED, Json(json!({"error": "invalid_client"}))).into_response();
    }
    let now = now();
    let claims = json!({
        "iss": desk.url, "aud": AUDIENCE, "sub": word("client_id"), "scope": word("scope"), "iat": now, "exp": now + 300,
    });
    let token = desk.signer.lock().unwrap().token(&claims);
    Json(json!({"access_token": token, "token_type": "Bearer", "expires_in": 300})).into_response()
}
