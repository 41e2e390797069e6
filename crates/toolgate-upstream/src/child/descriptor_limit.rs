//! The limit on open files that the gateway was started with. The gateway raises its own; a program that it starts gets back
//! what it would have had, since some programs go through every descriptor that they may have.

use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};

static GIVEN: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process have as many open files as it can be allowed. Returns how many those are, `None` without a limit, and the
/// fault where the limit could not be raised.
pub fn raise_descriptor_limit() -> (Option<u64>, Option<std::io::Error>) {
    let given = getrlimit(Resource::Nofile);
    let _ = GIVEN.set(given);
    let most = Rlimit { current: given.maximum, ..given };
    match setrlimit(Resource::Nofile, most) {
        Ok(()) => (most.current, None),
        Err(fault) => (given.current, Some(fault.into())),
    }
}

/// Gives a child the limit that this process was started with. The child has begun to run by then: a limit that is set between
/// fork and exec takes `unsafe`.
#[cfg(target_os = "linux")]
pub(super) fn restore(child: Pid) {
    let Some(given) = GIVEN.get() else { return };
    if let Err(error) = rustix::process::prlimit(Some(child), Resource::Nofile, *given) {
        tracing::debug!(target: "toolgate::upstream", %error, "a program keeps the gateway's limit on open files");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn restore(_: Pid) {}
