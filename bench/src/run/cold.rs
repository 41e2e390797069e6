//! W0, the cold view: what the first list of a caller class costs more than the next ones.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::catalogue::Catalogue;
use super::gate::Home;
use super::machine::Machine;
use crate::failure::Failure;
use crate::report::median;
use crate::wire::{Caller, Session};
use crate::workload::{COLD_TOOLS, Era, Work};

/// Lists after the first one; their median is what a list costs when its view is there.
const LATER: usize = 5;
/// More than an answer with all tools takes.
const ROOM: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Cold {
    pub(crate) first_ms: f64,
    pub(crate) later_ms: f64,
    /// Tools on the first page.
    pub(crate) tools: usize,
}

impl Cold {
    pub(crate) fn added_ms(&self) -> f64 {
        self.first_ms - self.later_ms
    }
}

/// In a fresh server, whose only caller so far was anonymous, signed-in callers are a new class.
pub(crate) async fn measure(machine: &Machine, toolgate: &Path) -> Result<Cold, Failure> {
    let home = Home::prepare(machine, toolgate, &Catalogue::Pack { tools: COLD_TOOLS }).await?;
    let gate = home.start(machine).await?;
    for _ in 0..LATER {
        list(home.caller(Era::Stateless, None)).await?;
    }
    let caller = home.caller(Era::Stateless, Some(home.token.clone()));
    let (first, body) = list(caller.clone()).await?;
    let tools = page(&body, COLD_TOOLS)?;
    let mut later = Vec::with_capacity(LATER);
    for _ in 0..LATER {
        later.push(milliseconds(list(caller.clone()).await?.0));
    }
    gate.server.stop().await?;
    Ok(Cold { first_ms: milliseconds(first), later_ms: median(&later), tools })
}

/// Every list is asked on a new connection: how a connection's window grows is then the same for all.
pub(super) async fn list(caller: Caller) -> Result<(Duration, Vec<u8>), Failure> {
    let mut session = Session::open(caller).await?;
    session.make_room(ROOM);
    let request = session.request(Work::List);
    let asked = Instant::now();
    let answer = session.ask(&request).await?;
    let took = asked.elapsed();
    Ok((took, answer.body.into_owned()))
}

/// The tools of a page, which are all of them unless another page follows.
pub(super) fn page(body: &[u8], all: usize) -> Result<usize, Failure> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let tools = body.pointer("/result/tools").and_then(Value::as_array);
    let tools = tools.map_or(0, Vec::len);
    let more = body.pointer("/result/nextCursor").is_some();
    if tools == all || (more && tools > 0) {
        Ok(tools)
    } else {
        let what = format!("{tools} tools, expected {all} or a further page");
        Err(Failure::Answer(what))
    }
}

fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
