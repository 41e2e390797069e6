//! Everything that must be there before the first request, put together out of the configuration.

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_mcp::{Challenge, Identify, Limits, Wire, WireConfig};
use toolgate_server::{
    checkpoints,
    http::{self, ProxyPolicy},
    identity::{Identity, StoredAgentSessions, StoredRows},
    metadata,
    session_store::StoredSessions,
};
use toolgate_spine::{BookSettings, Books, Spine, SpineDoor};
use toolgate_store::{
    Location, Store,
    ledger::{LedgerReader, LedgerSettings},
};

use super::{
    super::{
        ledger::checkpoint_settings,
        reload::{Stamps, stamps},
    },
    identity_settings::identity_config,
};
use crate::{
    Misuse,
    catalog::Catalog,
    config::{self, Config},
    data_folder::warn_of_open_folder,
    gateway_files::GatewayFiles,
    ground::{Ground, duration},
    raise,
    server_limits::{anonymous_limits, approval_wait, book_limits, stream_limits},
    upstreams::Upstreams,
    webhooks,
};

/// The name of a gateway that serves one client alone.
pub const STDIO: &str = "stdio";

/// Everything that must be up before the first request.
pub struct Open {
    pub wire: Wire,
    pub spine: Arc<Spine>,
    pub identity: Arc<Identity>,
    pub store: Store,
    pub upstreams: Upstreams,
    pub loaded: Stamps,
    pub door: Arc<SpineDoor>,
    pub catalog: Catalog,
}

pub async fn open(ground: &Ground, resource: &str, stopped: watch::Receiver<bool>) -> Result<Open, Misuse> {
    let config = &ground.config;
    // what is wrong with the configuration is said before anything is made on disk
    let loaded = stamps(ground);
    ground.gate()?;
    let told = webhooks::webhooks(config)?;
    warn_of_open_folder(&ground.data);
    let store = match ground.location()? {
        // a client that starts its own gateway must not change what others share
        Location::Postgres(_) if resource == STDIO => ground.store().await?,
        location => {
            if let Some(host) = location.unverified_host() {
                tracing::warn!(host, "the database's certificate is not verified; add sslmode=verify-full to its URL");
            }
            ground.migrated_store().await?
        }
    };
    if let Some(restored) = store.restored() {
        store.close().await;
        return Err(restored.to_string().into());
    }
    // before any program runs that could put its hands on it
    let key = ground.key(Some(&store)).await?;
    let mut upstreams = Upstreams::beside(GatewayFiles::of(ground)?);
    upstreams.follow(config).await?;
    let door = Arc::<SpineDoor>::default();
    // heard of before it is read: whatever changes from here on is followed
    store.rights().catch_up().await?;
    let catalog = Catalog::read(&store).await?;
    let house = raise::house(ground, &ground.lock_file().read()?, &store, &upstreams, &catalog, &door)?;
    let spine = Spine::with_books(house, Books::open(store.clone(), book_settings(config)?).await?);
    door.open(&spine);
    spine.settle(upstreams.settled());
    if let Some(books) = spine.books() {
        let reader = LedgerReader::clone(books.ledger());
        tokio::spawn(checkpoints::keep(store.clone(), reader, checkpoint_settings(config)?, stopped.clone()));
    }
    let seal_key = key.seal_key("wire")?.to_vec();
    let rows = Arc::new(StoredRows::new(store.clone(), config.server.kept_views));
    let agents = Arc::new(StoredAgentSessions::new(store.clone()));
    let identity = Arc::new(Identity::new(identity_config(config)?, key, rows)?.with_sessions(agents));
    let memory = Arc::new(StoredSessions::open(store.clone()).await?);
    if !told.is_empty() {
        tokio::spawn(toolgate_server::webhooks::tell(store.clone(), told, stopped.clone()));
    }
    let wire_config = wire_config(config, resource, !identity.issuers().is_empty(), seal_key, stopped)?;
    let wire = Wire::new(Arc::clone(&spine), Arc::clone(&identity) as Arc<dyn Identify>, memory, wire_config);
    Ok(Open { wire, spine, identity, store, upstreams, loaded, door, catalog })
}

pub fn wire_config(
    config: &Config,
    resource: &str,
    has_issuer: bool,
    seal_key: Vec<u8>,
    stopped: watch::Receiver<bool>,
) -> Result<WireConfig, Misuse> {
    let limits = &config.limits;
    let mut wire = WireConfig::new(seal_key, stopped);
    wire.limits = Limits {
        body_bytes: limits.body_bytes,
        depth: limits.depth,
        number_chars: limits.number_chars,
        string_bytes: limits.string_bytes,
        keys: limits.keys,
    };
    wire.task_headers = config
        .identity
        .task_headers
        .iter()
        .map(|name| name.parse().map_err(|_| format!("[identity] task_headers: '{name}' is no header name")))
        .collect::<Result<_, _>>()?;
    wire.challenge = has_issuer.then(|| Challenge {
        resource_metadata_url: metadata::metadata_url(resource),
        scopes: config.identity.scopes.clone(),
    });
    wire.challenge_always = config.identity.challenge == config::Challenge::Always;
    wire.streams = stream_limits(config);
    wire.anonymous = anonymous_limits(config);
    wire.approval_wait = approval_wait(config)?;
    wire.instructions.clone_from(&config.server.instructions);
    Ok(wire)
}

pub fn book_settings(config: &Config) -> Result<BookSettings, Misuse> {
    Ok(BookSettings {
        approval_ttl: duration(&config.approvals.ttl).map_err(|fault| format!("[approvals] ttl: {fault}"))?,
        ask_clients_of: config.approvals.ask_clients_of.clone(),
        ledger: LedgerSettings { max_bytes: config.ledger.max_bytes, segment_bytes: config.ledger.segment_bytes },
        limits: book_limits(config),
    })
}

pub fn proxy_policy(server: &config::Server) -> Result<ProxyPolicy, Misuse> {
    let networks = server.trusted_proxies.iter().map(|network| network.parse::<http::Network>());
    let networks = networks.collect::<Result<_, _>>().map_err(|fault| format!("[server] trusted_proxies: {fault}"))?;
    let header = match server.forwarded_header {
        config::ForwardedHeader::XForwardedFor => http::ForwardedHeader::XForwardedFor,
        config::ForwardedHeader::Forwarded => http::ForwardedHeader::Forwarded,
    };
    Ok(ProxyPolicy::new(networks, header))
}
