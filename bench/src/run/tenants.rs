//! W7: many tenants with switches of their own. What a new tenant's first list costs, what its next ones and its calls do,
//! what one switch costs whom, and how much is remembered.

use std::time::Instant;

use serde::Serialize;
use toolgate_store::tenants::{Edit, EditFault, Member, Override, Row, Tenant, User};
use toolgate_store::{Location, Store};

use super::catalogue::Catalogue;
use super::cell::{Pair, Question, ask_gate, ask_limit};
use super::gate::Home;
use super::machine::Machine;
use super::{GATE_WINDOW, LIMIT_WINDOW, Outcome, cold, limit_of, process};
use crate::failure::{Doing, Failure};
use crate::report::median;
use crate::tools;
use crate::workload::{Era, HEADLINE, SWITCHED_OFF, TENANT_TOOLS, Workload};

/// Tenants of a whole run and of a quick one.
const TENANTS: [usize; 2] = [100_000, 10_000];
/// Switches of each: some tools off, others on that are on anyway.
const SWITCHES: usize = 10;
/// Tenants that ask for a list, one after the other.
const ASKING: usize = 200;
/// Tenants of one write.
const TOGETHER: usize = 200;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Tenants {
    pub(crate) tenants: usize,
    pub(crate) overrides: usize,
    /// The first list of a tenant that nobody asked for yet, and its next one.
    pub(crate) cold_ms: f64,
    pub(crate) next_ms: f64,
    /// Setting one switch while the server runs, until it is answered.
    pub(crate) switch_ms: f64,
    /// The next list of the tenant it was for, and of another.
    pub(crate) concerned_ms: f64,
    pub(crate) other_ms: f64,
    /// Of the server, after all those lists.
    pub(crate) memory_mib: f64,
}

pub(super) async fn measure(
    machine: &Machine,
    toolgate: &std::path::Path,
    quick: bool,
    outcome: &mut Outcome,
) -> Result<Tenants, Failure> {
    let tenants = if quick { TENANTS[1] } else { TENANTS[0] };
    let home = Home::prepare(machine, toolgate, &Catalogue::Pack { tools: TENANT_TOOLS }).await?;
    let store = Store::open(&Location::Sqlite(home.path("data").join("toolgate.db"))).await?;
    fill(&store, tenants).await?;
    let mut tokens = Vec::with_capacity(ASKING);
    for number in 0..ASKING {
        tokens.push(home.mint_for(machine, &user(spread(number, tenants))).await?);
    }
    let gate = home.start(machine).await?;
    let list = async |token: &String| {
        let (took, body) = cold::list(home.caller(Era::Stateless, Some(token.clone()))).await?;
        cold::page(&body, TENANT_TOOLS - SWITCHED_OFF).map(|_| took.as_secs_f64() * 1e3)
    };
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for token in &tokens {
        first.push(list(token).await?);
        next.push(list(token).await?);
    }
    let (mut switched, mut concerned, mut other) = (Vec::new(), Vec::new(), Vec::new());
    for (number, pair) in tokens.windows(2).take(ASKING / 2).enumerate() {
        let [one, another] = pair else { continue };
        list(one).await?;
        list(another).await?;
        let asked = Instant::now();
        // changes what is known of the tenant and nothing on its list
        let on = Row::Override(switch(tenant(spread(number, tenants)), "echo", true));
        commit(&store, &[Edit { before: None, after: Some(on) }]).await?;
        switched.push(asked.elapsed().as_secs_f64() * 1e3);
        concerned.push(list(one).await?);
        other.push(list(another).await?);
    }
    if let Some(token) = tokens.last() {
        for workload in [Workload::W7, Workload::W7Call] {
            let question = Question { workload, era: Era::Stateless, connections: HEADLINE };
            let limit = limit_of(machine, workload).await?;
            let pair = Pair {
                limit: ask_limit(machine, &limit, question, LIMIT_WINDOW).await?,
                gate: ask_gate(machine, &gate.server, token, question, GATE_WINDOW).await?,
            };
            limit.stop().await?;
            outcome.add(question, pair);
        }
    }
    let memory_mib = process::memory(gate.server.pid)?;
    gate.server.stop().await?;
    store.close().await;
    Ok(Tenants {
        tenants,
        overrides: tenants * SWITCHES,
        cold_ms: median(&first),
        next_ms: median(&next),
        switch_ms: median(&switched),
        concerned_ms: median(&concerned),
        other_ms: median(&other),
        memory_mib,
    })
}

/// Every tenant has one member, and its own choice of switches.
async fn fill(store: &Store, tenants: usize) -> Result<(), Failure> {
    eprintln!("tenants: {tenants}, with {} switches", tenants * SWITCHES);
    let names: Vec<String> = tool_names()?;
    for start in (0..tenants).step_by(TOGETHER) {
        let some = start..(start + TOGETHER).min(tenants);
        let rows = some.flat_map(|number| rows(number, &names)).map(|row| Edit { before: None, after: Some(row) });
        commit(store, &rows.collect::<Vec<_>>()).await?;
    }
    Ok(())
}

async fn commit(store: &Store, edits: &[Edit]) -> Result<(), Failure> {
    let moment = store.edits().moment().await?;
    match store.edits().commit(moment, edits).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Answer("somebody else changes tenants".to_owned())),
        Err(EditFault::Store(fault)) => Err(fault.into()),
        Err(other) => Err(Failure::Answer(other.to_string())),
    }
}

fn rows(number: usize, names: &[String]) -> impl Iterator<Item = Row> {
    let (id, who) = (tenant(number), user(number));
    let member = Member { user: who.clone(), role: Default::default(), since: 1 };
    let first = [
        Row::Tenant(Tenant { id: id.clone(), name: id.clone(), plan: "starter".to_owned(), created_at: 1 }),
        Row::User(User { id: who, name: None, email: None, created_at: 1 }),
        Row::Member { tenant: id, member },
    ];
    first.into_iter().chain(switches(number, names).map(Row::Override))
}

/// Tools that follow each other from a place that differs between tenants; never `echo`, which is called.
fn switches(number: usize, names: &[String]) -> impl Iterator<Item = Override> {
    let place = 1 + number * 7 % (names.len().saturating_sub(SWITCHES + 1)).max(1);
    names
        .iter()
        .skip(place)
        .take(SWITCHES)
        .enumerate()
        .map(move |(at, tool)| switch(tenant(number), tool, at >= SWITCHED_OFF))
}

fn switch(tenant: String, tool: &str, enabled: bool) -> Override {
    let (tool, changed_by) = (tool.to_owned(), "bench".to_owned());
    Override { tenant, tool, enabled, changed_by, reason: None, changed_at: 1 }
}

fn tool_names() -> Result<Vec<String>, Failure> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let all: Vec<Named> = serde_json::from_str(&tools::definitions(TENANT_TOOLS)).doing("reading the definitions")?;
    Ok(all.into_iter().map(|tool| tool.name).collect())
}

/// Tenants that lie far apart.
fn spread(number: usize, tenants: usize) -> usize {
    number * (tenants / ASKING).max(1) % tenants
}

fn tenant(number: usize) -> String {
    format!("tenant-{number:06}")
}

fn user(number: usize) -> String {
    format!("user-{number:06}")
}
