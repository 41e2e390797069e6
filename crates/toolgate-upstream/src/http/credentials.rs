//! A token for an upstream, by OAuth's client credentials: fetched once for all who need it, kept until shortly before it
//! expires, and fetched anew when the upstream no longer takes it.
//!
//! INVARIANT: no secret and no token is in any text made here.

use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{
    HeaderMap, Method,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::sync::Mutex;
use url::Url;

use super::{body, link::asked_at, pool::Pool};
use crate::{config::ClientCredentials, fault::Fault};

/// Answers of token endpoints and their metadata are short.
const ANSWER: usize = 64 << 10;
/// A failure stands so long for everybody: a token endpoint in trouble is not asked by each caller in turn.
const FAILURE: Duration = Duration::from_secs(1);
/// How long a token endpoint may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A token is not used in its last moments, since it must still be good when it arrives.
const MARGIN: Duration = Duration::from_secs(30);
/// Where an upstream describes itself, and where an authorization server does.
const RESOURCE: [&str; 2] = ["/.well-known/oauth-protected-resourcePATH", "/.well-known/oauth-protected-resource"];
const SERVER: [&str; 3] = [
    "/.well-known/oauth-authorization-serverPATH",
    "/.well-known/openid-configurationPATH",
    "PATH/.well-known/openid-configuration",
];

pub(crate) struct Credentials {
    given: ClientCredentials,
    upstream: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    endpoint: Option<Endpoint>,
    failed: Option<(Instant, Fault)>,
}

struct Token {
    header: HeaderValue,
    until: Option<Instant>,
}

#[derive(Clone)]
struct Endpoint {
    url: Url,
    /// The secret goes into the form, since that is all the endpoint takes.
    in_form: bool,
}

impl Credentials {
    pub(crate) fn new(given: &ClientCredentials, upstream: &str) -> Self {
        Self { given: given.clone(), upstream: upstream.to_owned(), state: Mutex::default() }
    }

    /// What goes into the header `Authorization`.
    pub(super) async fn header(&self) -> Result<HeaderValue, Fault> {
        // held while fetching: whoever comes meanwhile waits for the same token
        let mut state = self.state.lock().await;
        if let Some(token) = &state.token
            && token.until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(token.header.clone());
        }
        if let Some((when, fault)) = &state.failed
            && when.elapsed() < FAILURE
        {
            return Err(fault.clone());
        }
        match self.fetch(&mut state.endpoint).await {
            Ok(token) => {
                let header = token.header.clone();
                state.token = Some(token);
                Ok(header)
            }
            Err(fault) => {
                *state = State { failed: Some((Instant::now(), fault.clone())), ..State::default() };
                Err(fault)
            }
        }
    }

    /// The upstream did not take this one. If another was fetched since, that one stays.
    pub(super) async fn refused(&self, header: &HeaderValue) {
        let mut state = self.state.lock().await;
        if state.token.as_ref().is_some_and(|token| token.header == *header) {
            state.token = None;
        }
    }

    async fn fetch(&self, known: &mut Option<Endpoint>) -> Result<Token, Fault> {
        #[derive(Deserialize)]
        struct Given {
            access_token: String,
            token_type: String,
            expires_in: Option<f64>,
        }
        let endpoint = match known {
            Some(endpoint) => endpoint.clone(),
            None => known.insert(self.endpoint().await?).clone(),
        };
        let (id, secret) = (self.given.client_id.as_str(), self.given.client_secret.reveal());
        let scopes = self.given.scopes.join(" ");
        let resource = self.given.resource.as_deref().unwrap_or_else(|| without_query(&self.upstream));
        let mut pairs = vec![("grant_type", "client_credentials"), ("scope", &scopes), ("resource", resource)];
        if endpoint.in_form {
            pairs.extend([("client_id", id), ("client_secret", secret)]);
        }
        pairs.retain(|(_, value)| !value.is_empty());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        if !endpoint.in_form {
            let basic = format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(id)?, encoded(secret)?)));
            let mut basic = HeaderValue::try_from(basic).map_err(|_| wrong("its client_id can't be sent"))?;
            basic.set_sensitive(true);
            headers.insert(AUTHORIZATION, basic);
        }
        let form = Bytes::from(form(&pairs)?);
        let given: Given = answer("token endpoint", &endpoint.url, (Method::POST, headers, form)).await?;
        if !given.token_type.eq_ignore_ascii_case("bearer") {
            return Err(wrong("its token endpoint gives tokens that are not bearer tokens"));
        }
        let header = HeaderValue::try_from(format!("Bearer {}", given.access_token));
        let mut header = header.map_err(|_| wrong("its token endpoint gave a token that can't be sent"))?;
        header.set_sensitive(true);
        let lasts = given.expires_in.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let until = lasts.and_then(|lasts| Instant::now().checked_add(lasts.saturating_sub(MARGIN.min(lasts / 4))));
        Ok(Token { header, until })
    }

    /// As configured, or as the authorization server says (RFC 8414).
    async fn endpoint(&self) -> Result<Endpoint, Fault> {
        #[derive(Deserialize)]
        struct Server {
            issuer: String,
            token_endpoint: String,
            token_endpoint_auth_methods_supported: Option<Vec<String>>,
        }
        if let Some(url) = &self.given.token_url {
            let url = Url::parse(url).map_err(|_| wrong("its token_url is no address"))?;
            return Ok(Endpoint { url, in_form: false });
        }
        let upstream = Url::parse(&self.upstream).map_err(|_| wrong("its url is no address"))?;
        let issuer = match &self.given.issuer {
            Some(issuer) => issuer.clone(),
            None => authorization_server(&upstream).await?,
        };
        let place = Url::parse(&issuer).map_err(|_| wrong("its authorization server has no proper address"))?;
        let server: Server = described(&place, &SERVER).await?;
        if server.issuer.trim_end_matches('/') != issuer.trim_end_matches('/') {
            return Err(wrong("its authorization server says that it is another"));
        }
        let methods = server.token_endpoint_auth_methods_supported.unwrap_or_default();
        let takes = |method: &str| methods.iter().any(|one| one == method);
        let in_form = !takes("client_secret_basic") && takes("client_secret_post");
        let url = Url::parse(&server.token_endpoint).map_err(|_| wrong("its token endpoint has no proper address"))?;
        if self.given.issuer.is_none() {
            same_origin(&url, &upstream, "a token endpoint")?;
        } else if url.scheme() != "https" && url.scheme() != place.scheme() {
            return Err(wrong("its token endpoint is not on https"));
        }
        Ok(Endpoint { url, in_form })
    }
}

/// The authorization server that an upstream's own metadata names (RFC 9728). INVARIANT: the server has the upstream's own
/// origin, so that an upstream can't have the client's secret sent anywhere else.
async fn authorization_server(upstream: &Url) -> Result<String, Fault> {
    #[derive(Deserialize)]
    struct Resource {
        resource: String,
        authorization_servers: Vec<String>,
    }
    let resource: Resource = described(upstream, &RESOURCE).await?;
    if !Url::parse(&resource.resource).is_ok_and(|resource| covers(&resource, upstream)) {
        return Err(wrong("its OAuth metadata is about another resource than its url"));
    }
    let issuer = resource.authorization_servers.first().ok_or_else(|| wrong("it names no authorization server"))?;
    let place = Url::parse(issuer).map_err(|_| wrong("its authorization server has no proper address"))?;
    same_origin(&place, upstream, "an authorization server")?;
    Ok(issuer.clone())
}

/// A resource covers the addresses beneath its own path.
fn covers(resource: &Url, upstream: &Url) -> bool {
    let path = resource.path().trim_end_matches('/');
    let beneath = upstream.path().strip_prefix(path);
    resource.origin() == upstream.origin() && beneath.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn same_origin(url: &Url, upstream: &Url, role: &str) -> Result<(), Fault> {
    if url.origin() == upstream.origin() {
        return Ok(());
    }
    let origin = url.origin().ascii_serialization();
    Err(wrong(&format!(
        "its metadata names {role} of another origin ({origin}), and the client's secret is not sent there; if it may be, \
         name the server as issuer, or its token endpoint as token_url"
    )))
}

/// A document at the first of its well-known places that has it.
async fn described<T: DeserializeOwned>(of: &Url, places: &[&str]) -> Result<T, Fault> {
    let mut fault = wrong("its OAuth metadata can't be read");
    for place in places {
        let mut url = of.clone();
        url.set_path(&place.replace("PATH", of.path().trim_end_matches('/')));
        url.set_query(None);
        match answer("OAuth metadata", &url, (Method::GET, HeaderMap::new(), Bytes::new())).await {
            Ok(answer) => return Ok(answer),
            Err(one) => fault = one,
        }
    }
    Err(fault)
}

/// Asks, and reads the answer. `of` says what is asked, for whoever reads the fault.
async fn answer<T: DeserializeOwned>(
    of: &str,
    url: &Url,
    (method, mut headers, body): (Method, HeaderMap, Bytes),
) -> Result<T, Fault> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let unread = |fault: Fault| match fault {
        Fault::Unreachable { why } | Fault::Lost { why } => wrong(&format!("its {of} does not answer: {why}")),
        _ => wrong(&format!("its {of} can't be read")),
    };
    let asked = async {
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut answer = Pool::to(asked_at(url)?).send(method, headers, body).await?;
        Ok((answer.status(), body::whole(&mut answer, ANSWER).await?))
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await;
    let (status, text) = asked.map_err(|_| wrong(&format!("its {of} does not answer")))?.map_err(unread)?;
    if !status.is_success() {
        // a code of the protocol and no more: what else stands there might repeat what was sent
        let code = serde_json::from_slice::<Refusal>(&text).map(|refusal| refusal.error).unwrap_or_default();
        let known = ["invalid_request", "invalid_client", "unauthorized_client", "invalid_scope", "invalid_target"];
        let code = known.iter().find(|known| **known == code).map(|code| format!(" ({code})")).unwrap_or_default();
        return Err(wrong(&format!("its {of} answered with HTTP status {}{code}", status.as_u16())));
    }
    serde_json::from_slice(&text).map_err(|_| wrong(&format!("its {of} answered with something else")))
}

fn wrong(why: &str) -> Fault {
    Fault::NoToken { why: why.to_owned() }
}

/// The resource's own name has no query.
fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// As HTML forms are written.
fn form(pairs: &[(&str, &str)]) -> Result<String, Fault> {
    let mut url = Url::parse("http://form/").map_err(|_| wrong("its request can't be written"))?;
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url.query().unwrap_or_default().to_owned())
}

fn encoded(text: &str) -> Result<String, Fault> {
    form(&[(text, "")]).map(|form| form.trim_end_matches('=').to_owned())
}
