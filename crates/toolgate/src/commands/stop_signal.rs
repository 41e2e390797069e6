//! The signals that end a command.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Interrupt and termination, heard from the moment this exists: a signal during a slow start ends the start too.
pub struct StopSignals {
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    terminate: Signal,
}

#[cfg(unix)]
impl StopSignals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next of either.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl StopSignals {
    pub fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for an interrupt.
    pub async fn received(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
