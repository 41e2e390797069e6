//! Fetching an issuer's key set: bounded in size, in time, and in where it may lead.

use std::{path::PathBuf, time::Duration};

use reqwest::{Client, Url, header::CACHE_CONTROL, redirect::Policy};
use tokio::io::AsyncReadExt;

use super::{
    super::error::IdentityError,
    config::{IssuerConfig, Jwks, is_loopback},
};

const MOST_BYTES: usize = 256 * 1024;
const FETCH_TIME: Duration = Duration::from_secs(5);
const MOST_REDIRECTS: usize = 3;

pub(super) enum Source {
    Url { client: Client, url: Url },
    File(PathBuf),
}

/// A key set as it came, and how long the issuer says it holds.
pub(super) struct Fetched {
    pub(super) json: Vec<u8>,
    pub(super) max_age: Option<Duration>,
}

impl Source {
    pub(super) fn new(config: &IssuerConfig) -> Result<Self, IdentityError> {
        let text = match &config.jwks {
            Jwks::File(path) => return Ok(Self::File(path.clone())),
            Jwks::Url(text) => text,
        };
        let url = config.url(text)?;
        let mut builder = Client::builder().timeout(FETCH_TIME).connect_timeout(FETCH_TIME).redirect(same_origin());
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|_| IdentityError::Issuer {
            issuer: config.name.clone(),
            what: "the HTTP client for its keys could not be made".to_owned(),
        })?;
        Ok(Self::Url { client, url })
    }

    pub(super) async fn fetch(&self) -> Result<Fetched, &'static str> {
        match self {
            Self::Url { client, url } => fetch_url(client, url).await,
            Self::File(path) => {
                let mut json = Vec::new();
                let file = tokio::fs::File::open(path).await.map_err(|_| "the key file can't be opened")?;
                let limit = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX).saturating_add(1);
                file.take(limit).read_to_end(&mut json).await.map_err(|_| "the key file can't be read")?;
                if json.len() > MOST_BYTES {
                    Err("the key set is too large")
                } else {
                    Ok(Fetched { json, max_age: None })
                }
            }
        }
    }
}

async fn fetch_url(client: &Client, url: &Url) -> Result<Fetched, &'static str> {
    let mut response = client.get(url.clone()).send().await.map_err(|_| "the issuer did not answer")?;
    if !response.status().is_success() {
        return Err("the issuer did not answer with a key set");
    }
    let max_age = response.headers().get(CACHE_CONTROL).and_then(|value| max_age(value.to_str().ok()?));
    let mut json = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| "the issuer's answer broke off")? {
        if json.len() + chunk.len() > MOST_BYTES {
            return Err("the key set is too large");
        }
        json.extend_from_slice(&chunk);
    }
    Ok(Fetched { json, max_age })
}

/// A redirect may tidy a path. It may not hand the choice of keys to another host, or drop https.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let from = attempt.previous().first().map(Url::origin);
        if attempt.previous().len() > MOST_REDIRECTS || from != Some(attempt.url().origin()) {
            attempt.error("redirected away from the issuer")
        } else {
            attempt.follow()
        }
    })
}

fn max_age(cache_control: &str) -> Option<Duration> {
    let mut words = cache_control.split(',').map(str::trim);
    words.find_map(|word| word.strip_prefix("max-age=")?.parse().ok()).map(Duration::from_secs)
}
