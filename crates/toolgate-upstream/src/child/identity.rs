//! The user that a child runs as, and what it can see of the gateway.

/// A user and a group, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildUser {
    pub uid: u32,
    pub gid: u32,
}

impl ChildUser {
    /// True for a user that can't read what only the gateway's user can.
    pub fn is_apart_from_the_gateways(self) -> bool {
        self.uid != 0 && self.uid != rustix::process::geteuid().as_raw()
    }
}

/// Keeps this process's environment and memory from other processes of the same user, children among them. Secrets of the
/// configuration come by the environment, and `/proc/PID/environ` shows it as it was at the start, whatever is removed
/// from it later.
pub fn conceal_process() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable) {
        tracing::warn!(target: "toolgate::upstream", %error, "programs of the same user can read this process's environment");
    }
}
