//! Other issuers' tokens: proven with the issuer's published keys, which come and go without a restart.

mod config;
mod keyset;
mod mapping;
mod source;

use std::{
    sync::{
        Arc, Mutex as StdMutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use serde_json::{Map, Value};
use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    task::AbortHandle,
};

pub use config::{ClaimMap, IssuerConfig, Jwks};

use super::{
    error::{IdentityError, Refusal},
    jwt::{self, Unproven},
    standing::Standing,
};
use keyset::{Found, Keyset};
use source::Source;

/// A key file is read again this often: a local read, and a withdrawn key ends within seconds.
const FILE_INTERVAL: Duration = Duration::from_secs(2);

pub(super) struct Issuer {
    pub(super) config: IssuerConfig,
    source: Source,
    keys: ArcSwap<Keyset>,
    /// When the keys in hand were last published, as far as is known.
    confirmed: StdMutex<Instant>,
    /// When the issuer was last asked. Held while asking, so that there is one question at a time.
    asked: Arc<Mutex<Option<Instant>>>,
    /// Grows with every change of any issuer's keys: what was proven under older ones must be proven again.
    revision: Arc<AtomicU64>,
}

impl Issuer {
    /// Refuses wrong configuration, a key file that can't be used included. An issuer that can't be reached is not wrong
    /// configuration: its tokens are refused until it can.
    pub(super) fn new(mut config: IssuerConfig, revision: Arc<AtomicU64>) -> Result<Self, IdentityError> {
        config.check()?;
        if matches!(config.jwks, Jwks::File(_)) {
            config.refetch_interval = config.refetch_interval.min(FILE_INTERVAL);
            config.refresh = config.refetch_interval;
        }
        let source = Source::new(&config)?;
        let mut keys = Keyset::default();
        if let Jwks::File(path) = &config.jwks {
            let unusable = |what: &str| IdentityError::Issuer {
                issuer: config.name.clone(),
                what: format!("the key file '{}' can't be used: {what}", path.display()),
            };
            let json = std::fs::read(path).map_err(|error| unusable(&error.to_string()))?;
            keys = Keyset::parse(&json, &config.algorithms).map_err(unusable)?;
            if keys.is_unusable() {
                return Err(unusable("no key in the set can be used with the pinned algorithms"));
            }
        }
        let confirmed = StdMutex::new(Instant::now());
        Ok(Self { config, source, keys: ArcSwap::from_pointee(keys), confirmed, asked: Arc::default(), revision })
    }

    /// The facts of a token that holds, and the second from which it no longer does.
    pub(super) async fn prove(self: &Arc<Self>, token: &str, unproven: &Unproven) -> Result<(Standing, u64), Refusal> {
        if !self.config.algorithms.contains(&unproven.algorithm) {
            return Err(Refusal::invalid("the algorithm is not one of the issuer's"));
        }
        let known = self.keys.load_full();
        match known.find(unproven.kid.as_deref(), unproven.algorithm) {
            Found::Keys(keys) => return self.prove_with(token, &keys),
            Found::Mismatch => return Err(Refusal::invalid("the algorithm is not the key's")),
            Found::Unknown => self.ask_again().await,
        }
        match self.keys.load_full().find(unproven.kid.as_deref(), unproven.algorithm) {
            Found::Keys(keys) => self.prove_with(token, &keys),
            _ => Err(Refusal::invalid("the issuer has no such key")),
        }
    }

    fn prove_with(&self, token: &str, keys: &[&keyset::PinnedKey]) -> Result<(Standing, u64), Refusal> {
        let mut refusal = Refusal::invalid("the issuer has no such key");
        for pinned in keys {
            let config = &self.config;
            let checks = jwt::checks(&pinned.algorithms, &config.issuer, &config.audience, config.leeway, false);
            match jwt::proven::<Map<String, Value>>(token, &pinned.key, &checks) {
                Ok(claims) => {
                    let exp =
                        claims.get("exp").and_then(seconds).ok_or(Refusal::invalid("the expiry is not a time"))?;
                    return Ok((mapping::standing(config, &claims)?, jwt::until(exp, config.leeway)?));
                }
                Err(reason) => refusal = reason,
            }
        }
        Err(refusal)
    }

    /// Asks for the keys, unless that was done within the interval. Whoever comes while a question is open waits for its
    /// answer. The question outlives a caller who goes away: dropping requests must not keep new keys out.
    async fn ask_again(self: &Arc<Self>) {
        let asked = Arc::clone(&self.asked).lock_owned().await;
        if self.too_soon(*asked).is_some() {
            return;
        }
        let issuer = Arc::clone(self);
        // A panic in there would be a fault of ours, and the keys in hand still stand.
        drop(tokio::spawn(async move { issuer.ask(asked).await }).await);
    }

    async fn ask(&self, mut asked: OwnedMutexGuard<Option<Instant>>) -> Result<Duration, &'static str> {
        let began = Instant::now();
        *asked = Some(began);
        let outcome = match self.source.fetch().await {
            Ok(fetched) => Keyset::parse(&fetched.json, &self.config.algorithms).map(|keys| (keys, fetched.max_age)),
            Err(reason) => Err(reason),
        };
        match outcome {
            Ok((keys, max_age)) => {
                *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = began;
                self.replace(keys);
                let kept = max_age.unwrap_or(self.config.refresh);
                // well before trust ends, so that one failed fetch ends nothing
                Ok(kept.min(self.config.max_key_age / 2).max(self.config.refetch_interval))
            }
            Err(reason) => {
                self.fetch_failed(reason);
                Err(reason)
            }
        }
    }

    /// Whatever the issuer publishes is believed, an empty set too: it withdrew its keys.
    fn replace(&self, keys: Keyset) {
        if keys.digest == self.keys.load().digest {
            return;
        }
        let issuer = &self.config.name;
        if keys.is_empty() {
            tracing::warn!(%issuer, "the issuer publishes no key that can be used; its tokens are refused");
        } else {
            tracing::info!(%issuer, "the issuer's keys changed");
        }
        self.keys.store(Arc::new(keys));
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// The keys in hand stay until they are too old to be trusted.
    fn fetch_failed(&self, reason: &'static str) {
        let issuer = &self.config.name;
        let age = self.confirmed.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        if age < self.config.max_key_age {
            tracing::warn!(%issuer, reason, "the issuer's keys could not be fetched; those in hand stay for now");
            return;
        }
        tracing::error!(%issuer, reason, "the issuer's keys could not be fetched for too long; its tokens are refused");
        if !self.keys.load().is_empty() {
            self.keys.store(Arc::default());
            self.revision.fetch_add(1, Ordering::Release);
        }
    }

    /// Keeps the keys fresh until the handle is aborted. Fails where there is no runtime to do it in.
    pub(super) fn keep_fresh(self: &Arc<Self>) -> Result<AbortHandle, IdentityError> {
        let runtime = tokio::runtime::Handle::try_current();
        let runtime = runtime.map_err(|_| IdentityError::NoRuntime(self.config.name.clone()))?;
        let issuer = Arc::clone(self);
        let task = runtime.spawn(async move {
            loop {
                let asked = Arc::clone(&issuer.asked).lock_owned().await;
                let wait = match issuer.too_soon(*asked) {
                    Some(left) => {
                        drop(asked);
                        left
                    }
                    None => match issuer.ask(asked).await {
                        // A little before the keys run out, so that nobody waits for the fetch.
                        Ok(kept) => kept.mul_f64(0.8).max(issuer.config.refetch_interval),
                        Err(_) => issuer.config.refetch_interval,
                    },
                };
                tokio::time::sleep(wait).await;
            }
        });
        Ok(task.abort_handle())
    }

    /// How long the issuer is to be left alone yet, if at all.
    fn too_soon(&self, asked: Option<Instant>) -> Option<Duration> {
        self.config.refetch_interval.checked_sub(asked?.elapsed()).filter(|left| !left.is_zero())
    }
}

/// A NumericDate, which may be written with a fraction. Read from its text: no float, no cast.
fn seconds(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_number()?.to_string().split('.').next()?.parse().ok())
}
