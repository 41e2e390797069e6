//! W5: starting with many upstreams whose tools were accepted before.
//!
//! A gate may list what was accepted before any upstream has answered, so the first list says little of the work. Every
//! upstream is called once, and the gate left alone for a while, before the figures that count are read.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::catalogue::{Catalogue, Place, Upstream};
use super::gate::Home;
use super::machine::{Machine, Side};
use super::process;
use super::server::Server;
use crate::failure::{Doing, Failure};
use crate::load::Expected;
use crate::upstream::Speaks;
use crate::wire::{FIRST_ID, Session, TEXT};
use crate::workload::{Era, TOOLS_EACH, UPSTREAMS, Work};

/// For a gate to take in what its upstreams said.
const SETTLING: Duration = Duration::from_secs(2);
/// Until the list is whole.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

/// How the upstreams are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    Http,
    Children,
}

impl Way {
    pub(crate) const ALL: [Self; 2] = [Self::Http, Self::Children];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Children => "child",
        }
    }
}

/// Of Toolgate's own process; its children's time and memory are not in it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Start {
    pub(crate) way: Way,
    /// From the start until a list held all tools.
    pub(crate) listed_ms: f64,
    pub(crate) listed_cpu_ms: f64,
    pub(crate) listed_mib: f64,
    /// From the start until every upstream had answered a call.
    pub(crate) reached_ms: f64,
    /// From the start until all was quiet.
    pub(crate) settled_cpu_ms: f64,
    pub(crate) settled_mib: f64,
}

pub(crate) async fn measure(machine: &Machine, toolgate: &Path, way: Way) -> Result<Start, Failure> {
    let mut servers = Vec::new();
    let mut all = Vec::new();
    for number in 1..=UPSTREAMS {
        let place = match way {
            Way::Http => {
                let server = Server::upstream(machine, Side::Load, TOOLS_EACH, Speaks::Both).await?;
                let place = Place::Http(server.address);
                servers.push(server);
                place
            }
            Way::Children => {
                let this = std::env::current_exe().doing("finding this program")?;
                Place::Child(this, vec!["upstream".to_owned(), "--tools".to_owned(), TOOLS_EACH.to_string()])
            }
        };
        all.push(Upstream { name: format!("u{number:02}"), prefix: format!("u{number:02}_"), place });
    }
    let catalogue = Catalogue::Upstreams { all, tools_each: TOOLS_EACH };
    let home = Home::prepare(machine, toolgate, &catalogue).await?;
    let started = watch(machine, &home, &catalogue, way).await;
    for server in servers {
        server.stop().await?;
    }
    started
}

async fn watch(machine: &Machine, home: &Home, catalogue: &Catalogue, way: Way) -> Result<Start, Failure> {
    let gate = home.start(machine).await?;
    let pid = gate.server.pid;
    let mut session = Session::open(home.caller(Era::Stateless, Some(home.token.clone()))).await?;
    until_listed(&mut session, home.tools, gate.started).await?;
    let listed_ms = milliseconds(gate.started.elapsed());
    let (listed_cpu, listed_mib) = (process::cpu_time(pid)?, process::memory(pid)?);

    let called = Expected { work: Work::Call, tools: 0, fixed_id: false };
    for upstream in catalogue.upstreams() {
        let request = session.call(&format!("{}echo", upstream.prefix), &format!(r#"{{"text":"{TEXT}"}}"#));
        called.check_first(&session.ask(&request).await?, FIRST_ID)?;
    }
    let reached_ms = milliseconds(gate.started.elapsed());

    tokio::time::sleep(SETTLING).await;
    let request = session.request(Work::List);
    let listed = Expected { work: Work::List, tools: home.tools, fixed_id: false };
    listed.check_first(&session.ask(&request).await?, FIRST_ID)?;
    let (settled_cpu, settled_mib) = (process::cpu_time(pid)?, process::memory(pid)?);
    gate.server.dismiss().await?;
    Ok(Start {
        way,
        listed_ms,
        listed_cpu_ms: milliseconds(listed_cpu),
        listed_mib,
        reached_ms,
        settled_cpu_ms: milliseconds(settled_cpu),
        settled_mib,
    })
}

/// Asks until the list holds all tools.
async fn until_listed(session: &mut Session, tools: usize, started: Instant) -> Result<(), Failure> {
    let expected = Expected { work: Work::List, tools, fixed_id: false };
    let request = session.request(Work::List);
    loop {
        let answer = session.ask(&request).await?;
        match expected.check_first(&answer, FIRST_ID) {
            Ok(()) => return Ok(()),
            Err(failure) if started.elapsed() > PATIENCE => return Err(failure),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
