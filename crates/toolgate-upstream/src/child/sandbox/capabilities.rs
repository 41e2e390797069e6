//! Root's capabilities, given up for good: CAP_PERFMON reads other processes' memory past Landlock, CAP_MKNOD makes a device
//! of the disk, and there are more.

use rustix::{
    process::geteuid,
    thread::{
        CapabilitySet, CapabilitySets, capability_is_in_bounding_set, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities,
    },
};

/// Leaves this process, and every program it becomes, without capabilities.
///
/// Only root gets capabilities back by running a program, and only those of the bounding set. Others have nothing to lose
/// but what was handed down to them.
pub(super) fn give_up() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| format!("the capabilities of root can't be given up: {error}");
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(capability) {
            Ok(true) if geteuid().is_root() => remove_capability_from_bounding_set(capability).map_err(failed)?,
            Ok(_) => {}
            // the first that this kernel does not know
            Err(_) => break,
        }
    }
    clear_ambient_capability_set().map_err(failed)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).map_err(failed)
}
