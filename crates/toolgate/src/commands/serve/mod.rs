//! `serve` and `stdio`: the gate at work.

mod assemble;
mod background;
mod identity_settings;
mod start_report;
mod upstream_report;

use std::{
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
};
use toolgate_mcp::Identify;
use toolgate_server::{
    health_probe,
    http::{AnswerCache, FrontDoor, Site},
    metadata,
};
use toolgate_upstream::conceal_process;

pub use self::{assemble::book_settings, upstream_report::UpstreamReport};
use self::{
    assemble::{Open, STDIO, open, proxy_policy, wire_config},
    background::BackgroundTasks,
    identity_settings::identity_config,
    start_report::{StartReport, clear_text_warning},
};
use super::{
    accept_new::Newcomers,
    ledger::checkpoint_settings,
    reload::Keeper,
    say,
    sign_in::{Refused, sign_in, sign_out},
    stop_signal::StopSignals,
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Place, SignIn},
    config::Config,
    gateway_files::GatewayFiles,
    ground::Ground,
    logging,
    progress::Progress,
    raise,
    server_limits::{check_limits, retention_age, server_limits},
    upstream_connections::check_sandboxes,
    webhooks,
};

/// The exit code of a gateway that a second signal ended.
const AT_ONCE: i32 = 130;

pub async fn http(place: &Place, listen: Option<String>, accept_new: bool) -> CommandResult {
    let mut signals = StopSignals::listen()?;
    let mut ground = Ground::of(place)?;
    if let Some(listen) = listen {
        ground.listen = Some(listen.clone());
        ground.config.server.listen = listen;
    }
    logging::start(&ground.config.log)?;
    conceal_process();
    let server = &ground.config.server;
    let listener = match TcpListener::bind(&server.listen).await {
        Ok(listener) => listener,
        Err(fault) => return Err(cannot_listen(&server.listen, &fault).await.into()),
    };
    let address = listener.local_addr()?;
    check_task_ids(&ground.config, address)?;
    let resource = server.public_url.clone().unwrap_or_else(|| format!("http://{address}/mcp"));
    let (stop, stopped) = watch::channel(false);
    let progress = Progress::start("opening the store and the ledger …");
    let open = tokio::select! {
        open = open(&ground, &resource, stopped.clone()) => open?,
        () = signals.received() => return Ok(Ending::Good),
    };
    drop(progress);
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
    say(&StartReport { resource: &resource, ground: &ground, place, gate: &open.spine.gate() }.render())?;
    if let Some(warning) = clear_text_warning(&ground.config, address.ip()) {
        tracing::warn!("{warning}");
    }
    let Open { spine, store, upstreams, loaded, door, catalog, .. } = open;
    let stopping = Arc::clone(&spine);
    let newcomers = Newcomers::of(accept_new, true);
    let (ask, asked) = mpsc::channel(1);
    let report = UpstreamReport::new(true);
    let keeper = Keeper { ground, spine, store, upstreams, loaded, newcomers, door, catalog, asked, report };
    let tasks = BackgroundTasks::start(keeper, ask);
    let shutdown = async move {
        signals.received().await;
        tracing::info!("stopping: calls in flight may finish for {} s; a second signal ends at once", grace.as_secs());
        stop.send_replace(true);
        stopping.stop_waiting();
        tokio::spawn(async move {
            signals.received().await;
            std::process::exit(AT_ONCE);
        });
    };
    let served = site.serve(listener, shutdown, grace).await;
    tasks.end().await;
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
    let house = Arc::clone(&spine);
    let keeper = Keeper {
        ground,
        spine: Arc::clone(&house),
        store: store.clone(),
        upstreams,
        loaded,
        newcomers,
        door,
        catalog,
        asked,
        report: UpstreamReport::new(false),
    };
    let tasks = BackgroundTasks::start(keeper, ask);
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    toolgate_server::stdio::serve(&wire, session.clone().or(token), input, output, body_bytes, grace).await?;
    spine.drain().await;
    if let Some(token) = &session {
        sign_out(&store, token).await;
    }
    tasks.end().await;
    if let Some(books) = house.books() {
        books.ledger().close().await;
    }
    store.close().await;
    Ok(Ending::Good)
}

/// The reason why an address can't be listened on, and what to do: another Toolgate may run there.
async fn cannot_listen(listen: &str, fault: &std::io::Error) -> String {
    let is_taken = fault.kind() == std::io::ErrorKind::AddrInUse;
    if is_taken && health_probe::answers(&format!("http://{listen}/healthz")).await {
        return format!(
            "can't listen on {listen}: a server answers there already, which toolgate doctor looks at; end it, or choose \
             another address with --listen"
        );
    }
    format!("can't listen on {listen}: {fault}; choose another with --listen")
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

fn host_of(url: &str) -> Option<String> {
    url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or(rest).to_owned())
}
