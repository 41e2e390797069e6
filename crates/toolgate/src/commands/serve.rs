//! `serve` and `stdio`: the gate at work.

use std::{
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot, watch},
};
use toolgate_mcp::{Challenge, Identify, Limits, Wire, WireConfig};
use toolgate_server::{
    checkpoints,
    http::{self, AnswerCache, FrontDoor, ProxyPolicy, Site},
    identity::{self, Identity, IdentityConfig, StoredAgentSessions, StoredRows},
    metadata,
    session_store::StoredSessions,
};
use toolgate_spine::{BookSettings, Books, Spine, SpineDoor};
use toolgate_store::{
    Location, Store,
    ledger::{LedgerReader, LedgerSettings},
};
use toolgate_upstream::conceal_process;

use super::{
    following::Follower,
    ledger::checkpoint_settings,
    newcomers::Newcomers,
    reload::{Keeper, Stamps, stamps},
    say,
    sign_in::{Refused, sign_in, sign_out},
    stop_signal::asked_to_stop,
    token::token_limits,
};
use crate::{
    CommandResult, Ending, Misuse,
    catalog::Catalog,
    cli::{Place, SignIn},
    config::{self, Config},
    data_folder::warn_of_open_folder,
    gateway_files::GatewayFiles,
    ground::{Ground, duration},
    logging, raise,
    server_limits::{
        anonymous_limits, approval_wait, book_limits, check_limits, retention_age, server_limits, stream_limits,
    },
    upstreams::{Upstreams, check_sandboxes},
    webhooks,
};

pub async fn http(place: &Place, listen: Option<String>, accept_new: bool) -> CommandResult {
    let mut ground = Ground::of(place)?;
    if let Some(listen) = listen {
        ground.listen = Some(listen.clone());
        ground.config.server.listen = listen;
    }
    logging::start(&ground.config.log)?;
    conceal_process();
    let server = &ground.config.server;
    let listener = TcpListener::bind(&server.listen)
        .await
        .map_err(|fault| format!("can't listen on {}: {fault}; choose another with --listen", server.listen))?;
    let address = listener.local_addr()?;
    check_task_ids(&ground.config, address)?;
    let resource = server.public_url.clone().unwrap_or_else(|| format!("http://{address}/mcp"));
    let (stop, stopped) = watch::channel(false);
    let open = open(&ground, &resource, stopped.clone()).await?;
    if let Some(age) = retention_age(&ground.config) {
        tokio::spawn(toolgate_server::retention::keep(open.store.clone(), age, stopped));
    }
    let mut hosts = server.hosts.clone();
    hosts.push(address.to_string());
    hosts.extend(host_of(&resource));
    let issuers = open.identity.issuers();
    let site = Site {
        metadata: (!issuers.is_empty())
            .then(|| metadata::protected_resource(&resource, &issuers, &ground.config.identity.scopes)),
        wire: open.wire,
        spine: Arc::clone(&open.spine),
        identify: Arc::clone(&open.identity) as Arc<dyn Identify>,
        store: open.store.clone(),
        front: FrontDoor::new(hosts, server.origins.clone()),
        proxies: proxy_policy(server)?,
        limits: server_limits(&ground.config)?,
        cache: AnswerCache::default(),
    };
    let grace = Duration::from_secs(server.grace_seconds);
    say(&format!("MCP address: {resource}\nGet a token: toolgate token mint --user YOU{}\n", data_hint(place)))?;
    let Open { spine, store, upstreams, loaded, door, catalog, .. } = open;
    let newcomers = Newcomers::of(accept_new, true);
    let (ask, asked) = mpsc::channel(1);
    let keeping =
        Keeping::start(Keeper { ground, spine, store, upstreams, loaded, newcomers, door, catalog, asked }, ask);
    let shutdown = async {
        asked_to_stop().await;
        tracing::info!("stopping: calls under way may finish");
        stop.send_replace(true);
    };
    let served = site.serve(listener, shutdown, grace).await;
    keeping.end().await;
    served?;
    Ok(Ending::Good)
}

pub async fn stdio(place: &Place, token: Option<String>, agent: &SignIn, accept_new: bool) -> CommandResult {
    let ground = Ground::of(place)?;
    logging::start(&ground.config.log)?;
    conceal_process();
    let (_stop, stopped) = watch::channel(false);
    let open = open(&ground, STDIO, stopped).await?;
    let body_bytes = ground.config.limits.body_bytes;
    let grace = Duration::from_secs(ground.config.server.grace_seconds);
    let (spine, store) = (Arc::clone(&open.spine), open.store.clone());
    let session = match sign_in(&spine, agent).await {
        Err(fault) if fault.is::<Refused>() => {
            eprintln!("toolgate: {fault}");
            return Ok(Ending::No);
        }
        signed => signed?,
    };
    let Open { wire, upstreams, loaded, door, catalog, .. } = open;
    // standard input is the client's
    let newcomers = Newcomers::of(accept_new, false);
    let (ask, asked) = mpsc::channel(1);
    let (house, rows) = (Arc::clone(&spine), store.clone());
    let keeper =
        Keeper { ground, spine: Arc::clone(&house), store: rows, upstreams, loaded, newcomers, door, catalog, asked };
    let keeping = Keeping::start(keeper, ask);
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    toolgate_server::stdio::serve(&wire, session.clone().or(token), input, output, body_bytes, grace).await?;
    spine.drain().await;
    if let Some(token) = &session {
        sign_out(&store, token).await;
    }
    keeping.end().await;
    if let Some(books) = house.books() {
        books.ledger().close().await;
    }
    store.close().await;
    Ok(Ending::Good)
}

/// What is wrong outside tools and rules, found without serving.
pub fn check(ground: &Ground) -> Result<(), Misuse> {
    let config = &ground.config;
    logging::filter(&config.log)?;
    ground.algorithm()?;
    identity_config(config)?.check()?;
    proxy_policy(&config.server)?;
    book_settings(config)?;
    raise::vault_folder(config).map_err(|problem| problem.to_string())?;
    check_limits(config)?;
    checkpoint_settings(config)?;
    webhooks::webhooks(config)?;
    check_sandboxes(config, &GatewayFiles::of(ground)?)?;
    let (_stop, stopped) = watch::channel(false);
    wire_config(config, "check", false, Vec::new(), stopped)?;
    let listen = &config.server.listen;
    let mut addresses = listen.to_socket_addrs().map_err(|fault| format!("[server] listen = \"{listen}\": {fault}"))?;
    addresses.try_for_each(|address| check_task_ids(config, address))
}

/// Public ids of tasks count as keys only where nobody else can send them.
fn check_task_ids(config: &Config, address: SocketAddr) -> Result<(), Misuse> {
    if config.identity.trust_task_ids && !address.ip().is_loopback() {
        let problem = format!("[identity] trust_task_ids is for loopback only, and this would listen on {address}");
        return Err(problem.into());
    }
    Ok(())
}

/// The name of a gateway that serves one client alone.
const STDIO: &str = "stdio";

/// Everything that must be up before the first request.
struct Open {
    wire: Wire,
    spine: Arc<Spine>,
    identity: Arc<Identity>,
    store: Store,
    upstreams: Upstreams,
    loaded: Stamps,
    door: Arc<SpineDoor>,
    catalog: Catalog,
}

/// What keeps the house in step, until the last call has been answered: upstreams end after the calls they run.
struct Keeping {
    end: watch::Sender<bool>,
    rights: tokio::task::JoinHandle<()>,
    house: tokio::task::JoinHandle<()>,
}

impl Keeping {
    fn start(keeper: Keeper, ask: mpsc::Sender<oneshot::Sender<Result<(), String>>>) -> Self {
        let (end, ended) = watch::channel(false);
        let follower = Arc::new(Follower { keeper: ask, spine: Arc::clone(&keeper.spine) });
        let rights = keeper.store.rights().keep(follower, keeper.store.changes(), ended.clone());
        Self { end, rights: tokio::spawn(rights), house: tokio::spawn(keeper.keep(ended)) }
    }

    async fn end(self) {
        self.end.send_replace(true);
        let _ = self.rights.await;
        let _ = self.house.await;
    }
}

async fn open(ground: &Ground, resource: &str, stopped: watch::Receiver<bool>) -> Result<Open, Misuse> {
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

fn wire_config(
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

fn proxy_policy(server: &config::Server) -> Result<ProxyPolicy, Misuse> {
    let networks = server.trusted_proxies.iter().map(|network| network.parse::<http::Network>());
    let networks = networks.collect::<Result<_, _>>().map_err(|fault| format!("[server] trusted_proxies: {fault}"))?;
    let header = match server.forwarded_header {
        config::ForwardedHeader::XForwardedFor => http::ForwardedHeader::XForwardedFor,
        config::ForwardedHeader::Forwarded => http::ForwardedHeader::Forwarded,
    };
    Ok(ProxyPolicy::new(networks, header))
}

fn identity_config(config: &Config) -> Result<IdentityConfig, Misuse> {
    let given = &config.identity;
    let coordinator_secret = match &given.coordinator_token_file {
        None => None,
        Some(path) => Some(
            identity::read_shared_secret(path)
                .map_err(|fault| format!("[identity] coordinator_token_file: {fault}"))?,
        ),
    };
    Ok(IdentityConfig {
        audience: given.audience.clone(),
        issuers: given.issuers.iter().map(issuer).collect::<Result<_, _>>()?,
        token_limits: token_limits(config)?,
        trust_task_ids: given.trust_task_ids,
        coordinator_secret,
        ..IdentityConfig::default()
    })
}

fn issuer(given: &config::Issuer) -> Result<identity::IssuerConfig, Misuse> {
    let jwks = match (&given.jwks_url, &given.jwks_file) {
        (Some(url), None) => identity::Jwks::Url(url.clone()),
        (None, Some(path)) => identity::Jwks::File(path.clone()),
        _ => {
            return Err(format!("the issuer '{}' needs jwks_url or jwks_file, and only one of them", given.name).into());
        }
    };
    let algorithms = given
        .algorithms
        .iter()
        .map(|name| {
            name.parse().map_err(|_| format!("the issuer '{}' names an unknown algorithm '{name}'", given.name))
        })
        .collect::<Result<Vec<identity::Algorithm>, _>>()?;
    let names = given.claims.clone();
    let mut config = identity::IssuerConfig::new(&given.name, &given.issuer, &given.audience, jwks);
    if !algorithms.is_empty() {
        config.algorithms = algorithms;
    }
    if let Some(age) = &given.max_key_age {
        let wrong = |fault| format!("the issuer '{}': max_key_age: {fault}", given.name);
        config.max_key_age = duration(age).map_err(wrong)?;
    }
    config.claims = identity::ClaimMap {
        user: names.user,
        tenant: names.tenant,
        role: names.role,
        plan: names.plan,
        task: names.task,
        operator: names.operator.map(|operator| (operator.claim, operator.value)),
        scopes: names.scopes,
    };
    Ok(config)
}

fn host_of(url: &str) -> Option<String> {
    url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest).to_owned())
}

/// How to reach the same key from another terminal.
fn data_hint(place: &Place) -> String {
    let mut hint = String::new();
    if let Some(config) = &place.config {
        hint.push_str(&format!(" --config {}", config.display()));
    }
    if place.data.as_os_str() != ".toolgate" {
        hint.push_str(&format!(" --data {}", place.data.display()));
    }
    hint
}
