//! Who is asking: credentials in, one caller out.
//!
//! Places, kinds and how they combine are in `combine` and `resolve`; each kind of credential has its own file. Nothing
//! here prints a credential: refusals are fixed texts, and what holds a secret has a `Debug` that does not show it.

mod agent_sessions;
mod api_key;
mod claims;
mod combine;
mod config;
pub mod contract;
mod error;
mod issuer;
mod jwt;
mod key_file;
mod login_throttle;
mod over_store;
mod own_key;
mod own_token;
mod proven;
mod refusal_log;
mod resolve;
mod revocation;
mod secret;
mod session;
mod standing;
pub mod store;
mod task_key;
mod token_content;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::task::AbortHandle;
use toolgate_core::{Caller, caller::Runtime};

pub use agent_sessions::StoredAgentSessions;
pub use api_key::{ApiKey, NewKey};
pub use claims::Claims;
pub use config::IdentityConfig;
pub use contract::{Credentials, Identified, Identify, IdentityUnavailable, Rejection};
pub use error::IdentityError;
pub use issuer::{ClaimMap, IssuerConfig, Jwks};
pub use jsonwebtoken::Algorithm;
pub use key_file::{FILE_NAME as KEY_FILE_NAME, read_shared_secret};
pub use login_throttle::AttemptLimit;
pub use over_store::StoredRows;
pub use own_key::{OwnAlgorithm, OwnKey};
pub use own_token::{LONGEST_TOKEN, OWN_ISSUER, OwnTokens, TokenLimits};
pub use revocation::Revocations;
pub use secret::{Secret, Token};
pub use session::{AgentSession, AgentSessions, SESSION_MARK};
pub use store::{IdentityStore, KeyRow, RowsUnavailable, TaskRow, TenantRow};
pub use task_key::TaskKey;
pub use token_content::TokenContent;

use combine::{Anonymous, Combination};
use issuer::Issuer;
use login_throttle::LoginThrottle;
use proven::ProvenTokens;
use refusal_log::RefusalLog;
use resolve::Place;
use session::NoSessions;

/// Resolves credentials. One per process, shared.
pub struct Identity {
    config: IdentityConfig,
    tokens: OwnTokens,
    issuers: Vec<Arc<Issuer>>,
    store: Arc<dyn IdentityStore>,
    sessions: Arc<dyn AgentSessions>,
    proven: ProvenTokens,
    throttle: LoginThrottle,
    refusals: RefusalLog,
    key_revision: Arc<AtomicU64>,
    anonymous: [Arc<Caller>; 2],
    refreshing: Vec<AbortHandle>,
}

impl Identity {
    /// Refuses wrong configuration. Issuers are first asked for their keys in the background, so one that is down
    /// delays nothing.
    pub fn new(config: IdentityConfig, key: OwnKey, store: Arc<dyn IdentityStore>) -> Result<Self, IdentityError> {
        let tokens = OwnTokens::new(key, &config.audience, config.leeway)?.with_limits(config.token_limits)?;
        let key_revision = Arc::new(AtomicU64::new(0));
        let issuers = issuers(&config, &key_revision)?;
        let mut identity = Self {
            proven: ProvenTokens::new(config.remembered_tokens.max(1)),
            throttle: LoginThrottle::new(config.failed_attempts),
            refusals: RefusalLog::default(),
            config,
            tokens,
            issuers,
            store,
            sessions: Arc::new(NoSessions),
            key_revision,
            anonymous: [Runtime::Server, Runtime::Client]
                .map(|runtime| Arc::new(Caller { runtime, ..Caller::anonymous() })),
            refreshing: Vec::new(),
        };
        for issuer in &identity.issuers {
            identity.refreshing.push(issuer.keep_fresh()?);
        }
        Ok(identity)
    }

    /// Who answers for `sess_…` tokens. Without one, they are invalid.
    pub fn with_sessions(mut self, sessions: Arc<dyn AgentSessions>) -> Self {
        self.sessions = sessions;
        self
    }

    pub fn mint(&self, claims: &Claims, ttl: Duration) -> Result<Token, IdentityError> {
        self.tokens.mint(claims, ttl)
    }

    pub fn key(&self) -> &OwnKey {
        self.tokens.key()
    }

    /// The authorization servers to name in the protected-resource metadata (RFC 9728).
    pub fn issuers(&self) -> Vec<&str> {
        self.issuers.iter().map(|issuer| issuer.config.issuer.as_str()).collect()
    }

    /// The answer where nothing has to be asked: no credential, or one token proven before. Does not wait. Nobody is
    /// answered at once while a change is to be heard of: it may be about everybody, like a tool that was disabled.
    pub fn identify_at_once(&self, credentials: &Credentials<'_>) -> Option<Identified> {
        if !self.store.is_current() {
            return None;
        }
        if credentials.task_keys.iter().any(|key| !key.is_empty()) {
            return None;
        }
        let mut shown = shown(credentials);
        let Some((_, token)) = shown.next() else {
            return Some(self.anonymous(credentials.browser, None));
        };
        if shown.next().is_some() {
            return None;
        }
        let proven = self.proven.get(token, |standing| self.basis(standing))?;
        let caller = proven.alone(credentials.browser).filter(|_| !proven.names_agent())?;
        Some(Identified { caller, rejected: None })
    }

    /// Whom one token alone was last known to stand for, or without any row can be said to: for lists while rows can't be
    /// read. Other credentials say nothing without their rows.
    async fn last_known(&self, credentials: &Credentials<'_>) -> Option<Arc<Caller>> {
        if credentials.task_keys.iter().any(|key| !key.is_empty()) {
            return None;
        }
        let mut shown = shown(credentials);
        let Some((_, token)) = shown.next() else {
            return Some(self.anonymous(credentials.browser, None).caller);
        };
        if shown.next().is_some() {
            return None;
        }
        if let Some(proven) = self.proven.last_known(token) {
            return proven.alone(credentials.browser);
        }
        let mut standing = self.prove_alone(token).await?;
        standing.caller.tenant = None;
        standing.claimed_task.is_none().then(|| Arc::new(combine::finish(standing.caller, credentials.browser)))
    }

    async fn identify_by_asking(&self, credentials: &Credentials<'_>) -> Result<Identified, RowsUnavailable> {
        self.store.catch_up().await?;
        let mut combination = Combination::default();
        for (place, token) in shown(credentials) {
            let outcome = self.resolve(place, token, credentials.address).await?;
            if let Err(Anonymous(rejection)) = combination.add(outcome) {
                return Ok(self.anonymous(credentials.browser, Some(rejection)));
            }
        }
        if let Some(key) = credentials.task_keys.iter().find(|key| !key.is_empty())
            && let Err(Anonymous(rejection)) = combination.add(self.resolve_task_key(key, credentials.address).await?)
        {
            return Ok(self.anonymous(credentials.browser, Some(rejection)));
        }
        let (standing, names_unknown_task) = combination.into_standing();
        let mut caller = match standing {
            Some(standing) => self.settle_owner(standing).await?,
            None => Caller::default(),
        };
        caller.unknown_task = names_unknown_task && caller.task.is_none();
        Ok(Identified { caller: Arc::new(combine::finish(caller, credentials.browser)), rejected: None })
    }

    fn anonymous(&self, browser: bool, rejected: Option<Rejection>) -> Identified {
        let [server, client] = &self.anonymous;
        Identified { caller: Arc::clone(if browser { client } else { server }), rejected }
    }
}

impl IdentityConfig {
    /// Everything [`Identity::new`] would refuse, without asking anyone for keys.
    pub fn check(&self) -> Result<(), IdentityError> {
        let key = OwnKey::from_secret(&Secret::random()?, OwnAlgorithm::Hs256)?;
        OwnTokens::new(key, &self.audience, self.leeway)?.with_limits(self.token_limits)?;
        issuers(self, &Arc::default()).map(drop)
    }
}

fn issuers(config: &IdentityConfig, key_revision: &Arc<AtomicU64>) -> Result<Vec<Arc<Issuer>>, IdentityError> {
    let mut issuers: Vec<Arc<Issuer>> = Vec::new();
    for wanted in &config.issuers {
        let taken = |other: &Arc<Issuer>| other.config.name == wanted.name || other.config.issuer == wanted.issuer;
        if issuers.iter().any(taken) {
            let what = "another issuer has the same name or the same 'issuer'".to_owned();
            return Err(IdentityError::Issuer { issuer: wanted.name.clone(), what });
        }
        issuers.push(Arc::new(Issuer::new(wanted.clone(), Arc::clone(key_revision))?));
    }
    Ok(issuers)
}

#[async_trait]
impl Identify for Identity {
    async fn identify(&self, credentials: Credentials<'_>) -> Result<Identified, IdentityUnavailable> {
        match self.identify_at_once(&credentials) {
            Some(identified) => Ok(identified),
            // boxed: rare, and too deep to lie inside the future of every request
            None => match Box::pin(self.identify_by_asking(&credentials)).await {
                Ok(identified) => Ok(identified),
                Err(RowsUnavailable { reason }) => {
                    Err(IdentityUnavailable { reason, last_known: Box::pin(self.last_known(&credentials)).await })
                }
            },
        }
    }
}

/// The credentials of a request in the order in which places win. An empty one is none, save in the header, where it
/// stands for something that can't be a token.
fn shown<'a>(credentials: &'a Credentials<'_>) -> impl Iterator<Item = (Place, &'a str)> {
    [
        (Place::Header, credentials.bearer),
        (Place::Params, credentials.meta_token.as_deref()),
        (Place::Params, credentials.params_token.as_deref()),
        (Place::Session, credentials.session_token.as_deref()),
        (Place::Coordinator, credentials.coordinator_token.as_deref()),
    ]
    .into_iter()
    .filter_map(|(place, token)| Some((place, token.filter(|token| place == Place::Header || !token.is_empty())?)))
}

impl Drop for Identity {
    fn drop(&mut self) {
        for refreshing in &self.refreshing {
            refreshing.abort();
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("config", &self.config)
            .field("tokens", &self.tokens)
            .field("proven", &self.proven)
            .field("key_revision", &self.key_revision.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
