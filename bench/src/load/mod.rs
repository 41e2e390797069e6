//! The load generator: a closed loop on a fixed number of connections, one session each.

mod check;
mod lane;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

pub(crate) use check::Expected;
use lane::Lane;

use crate::failure::Failure;
use crate::report::percentile;
use crate::run::cpu_time;
use crate::wire::Caller;
use crate::workload::{Era, Work};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[arg(long)]
    address: std::net::SocketAddr,
    #[arg(long)]
    era: Era,
    #[arg(long)]
    work: Work,
    /// Tools that a list must hold
    #[arg(long)]
    tools: usize,
    /// Answers carry a fixed id, as those of the static limit do
    #[arg(long)]
    fixed_id: bool,
    #[arg(long)]
    connections: usize,
    /// The server's process, whose CPU time is read
    #[arg(long)]
    pid: u32,
    #[arg(long)]
    warm_ms: u64,
    #[arg(long)]
    window_ms: u64,
    #[arg(long, env = crate::TOKEN_VARIABLE, hide_env_values = true)]
    token: Option<String>,
}

/// One measured window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) requests: usize,
    pub(crate) seconds: f64,
    /// CPU time of the server per request, in microseconds.
    pub(crate) cpu_us: f64,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    /// Bytes of one answer's body.
    pub(crate) answer_bytes: usize,
}

/// Warms up, measures one window, and fails at the first answer that is not as it must be.
pub(crate) async fn run(options: Options) -> Result<Measured, Failure> {
    let span = options.warm_ms + options.window_ms;
    let bound = Duration::from_millis(span) + Duration::from_secs(30);
    tokio::time::timeout(bound, measure(options)).await.map_err(|_| Failure::Late("the load".to_owned()))?
}

async fn measure(options: Options) -> Result<Measured, Failure> {
    let mut lanes = Vec::with_capacity(options.connections);
    for number in 0..options.connections {
        let caller = Caller { address: options.address, token: options.token.clone(), era: options.era };
        let expected = Expected { work: options.work, tools: options.tools, fixed_id: options.fixed_id };
        lanes.push(Lane::open(number, caller, expected).await?);
    }
    let answer_bytes = lanes.first().map_or(0, Lane::answer_bytes);
    let mut lanes = drive(lanes, Duration::from_millis(options.warm_ms)).await?;
    lanes.iter_mut().for_each(Lane::forget);

    // Every request whose CPU time is counted is counted itself: all lanes have ended at both readings.
    let (started, before) = (Instant::now(), cpu_time(options.pid)?);
    let lanes = drive(lanes, Duration::from_millis(options.window_ms)).await?;
    let (elapsed, after) = (started.elapsed(), cpu_time(options.pid)?);

    let mut latencies: Vec<Duration> = lanes.into_iter().flat_map(Lane::latencies).collect();
    latencies.sort_unstable();
    let requests = latencies.len();
    let count = requests.max(1) as f64;
    Ok(Measured {
        requests,
        seconds: elapsed.as_secs_f64(),
        cpu_us: microseconds(after.saturating_sub(before)) / count,
        per_second: count / elapsed.as_secs_f64(),
        p50_us: microseconds(percentile(&latencies, 500)),
        p99_us: microseconds(percentile(&latencies, 990)),
        answer_bytes,
    })
}

async fn drive(lanes: Vec<Lane>, window: Duration) -> Result<Vec<Lane>, Failure> {
    let until = Instant::now() + window;
    let mut running = JoinSet::new();
    for lane in lanes {
        running.spawn_local(lane.run(until));
    }
    let mut ended = Vec::with_capacity(running.len());
    while let Some(lane) = running.join_next().await {
        ended.push(lane.map_err(|source| Failure::Answer(source.to_string()))??);
    }
    Ok(ended)
}

fn microseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}
