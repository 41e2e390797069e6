//! The bounds of a server: what `[server]` says, held against what the machine allows.

use std::time::Duration;

use toolgate_mcp::{AnonymousLimits, MAX_APPROVAL_WAIT, StreamLimits};
use toolgate_server::http::{BodyBudget, ServerLimits};
use toolgate_spine::{BookLimits, CallPlaces};

use crate::{Misuse, config::Config, ground::duration};

/// Descriptors kept for the ledger, the store, upstreams and children.
const RESERVED: u64 = 256;

/// Bounds that contradict each other.
pub fn check_limits(config: &Config) -> Result<(), Misuse> {
    let (budget, body) = (config.server.body_budget_bytes, config.limits.body_bytes);
    if budget / 4 < body {
        return Err(format!(
            "[server] body_budget_bytes = {budget} is too small: one address may have a quarter of it, and that must hold \
             a message of [limits] body_bytes = {body}"
        )
        .into());
    }
    Ok(())
}

pub fn server_limits(config: &Config) -> Result<ServerLimits, Misuse> {
    check_limits(config)?;
    let server = &config.server;
    let connections = connections(server.connections, descriptors());
    Ok(ServerLimits {
        body_bytes: config.limits.body_bytes,
        bodies: BodyBudget::new(server.body_budget_bytes),
        connections,
        connections_per_address: server.connections_per_address.unwrap_or(connections.div_ceil(4)),
        places: CallPlaces::new(server.max_in_flight, server.max_waiting_per_caller, server.max_waiting),
    })
}

pub fn stream_limits(config: &Config) -> StreamLimits {
    StreamLimits {
        per_caller: config.server.streams_per_caller,
        anonymous: config.server.anonymous_streams,
        ..StreamLimits::default()
    }
}

pub fn anonymous_limits(config: &Config) -> AnonymousLimits {
    let limit = |per_minute: u32| (per_minute > 0).then_some(per_minute);
    AnonymousLimits {
        per_minute: limit(config.limits.anonymous_per_minute),
        total_per_minute: limit(config.limits.anonymous_total_per_minute),
    }
}

pub fn book_limits(config: &Config) -> BookLimits {
    BookLimits {
        pending_approvals: Some(config.approvals.max_pending),
        pending_bytes: Some(config.approvals.max_pending_bytes),
        deny_cooldown: Duration::from_secs(config.approvals.deny_cooldown_seconds),
        open_plans: Some(config.limits.open_plans),
        open_flows: Some(config.limits.open_flows),
    }
}

/// How long a call that does not say waits for a person; zero is not at all.
pub fn approval_wait(config: &Config) -> Result<Duration, Misuse> {
    let given = config.approvals.wait.as_str();
    let wait = match given {
        "0s" => Duration::ZERO,
        given => duration(given).map_err(|fault| format!("[approvals] wait: {fault}, or 0s for not at all"))?,
    };
    if wait > MAX_APPROVAL_WAIT {
        return Err(format!("[approvals] wait = \"{given}\" is too long; a call waits for 1h at most").into());
    }
    Ok(wait)
}

/// How long what is over stays in the store; `None` is for good.
pub fn retention_age(config: &Config) -> Option<Duration> {
    let days = config.retention.days;
    (days > 0).then(|| Duration::from_secs(u64::from(days) * 24 * 60 * 60))
}

/// Files that this process may have open, once it is allowed as many as it can be. `None`: no limit.
#[cfg(unix)]
fn descriptors() -> Option<u64> {
    let (descriptors, fault) = toolgate_upstream::raise_descriptor_limit();
    if let Some(fault) = fault {
        tracing::warn!(%fault, "the limit on open files could not be raised");
    }
    descriptors
}

#[cfg(not(unix))]
fn descriptors() -> Option<u64> {
    None
}

/// As many connections as were asked for, if the rest of the process has descriptors left then.
fn connections(wanted: usize, descriptors: Option<u64>) -> usize {
    let Some(descriptors) = descriptors else { return wanted };
    let room = descriptors.saturating_sub(RESERVED.min(descriptors / 2));
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    if wanted > room {
        tracing::warn!(wanted, taken = room, descriptors, "fewer connections: the limit on open files allows no more");
    } else {
        tracing::info!(connections = wanted, descriptors, "connections");
    }
    wanted.min(room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_rest_of_the_process() {
        assert_eq!(connections(10_000, None), 10_000);
        assert_eq!(connections(10_000, Some(1 << 20)), 10_000);
        assert_eq!(connections(10_000, Some(1024)), 768);
        assert_eq!(connections(10_000, Some(256)), 128);
        assert_eq!(connections(100, Some(256)), 100);
    }

    #[test]
    fn calls_wait_for_an_hour_at_most() {
        let wait = |given: &str| {
            let mut config = Config::default();
            config.approvals.wait = given.to_owned();
            approval_wait(&config).map_err(|fault| fault.to_string())
        };
        assert_eq!(wait("0s"), Ok(Duration::ZERO));
        assert_eq!(wait("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(wait("1h"), Ok(Duration::from_secs(3600)));
        assert!(wait("61m").unwrap_err().contains("1h at most"));
        assert!(wait("soon").unwrap_err().contains("[approvals] wait"));
    }

    #[test]
    fn a_budget_must_hold_a_message_of_one_address() {
        let mut config = Config::default();
        assert!(check_limits(&config).is_ok());
        config.server.body_budget_bytes = config.limits.body_bytes * 4 - 1;
        assert!(check_limits(&config).unwrap_err().to_string().contains("body_budget_bytes"));
    }
}
