//! Programs that upstreams are: the user they run as, and the process that ends them where the gateway can't.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use toolgate_upstream::{ChildUser, Reaper};

/// The argument that makes this program a reaper.
pub const REAPER_ARGUMENT: &str = "__reap";
/// The argument that makes this program the launcher of a sandboxed one.
pub const LAUNCHER_ARGUMENT: &str = "__confine";

/// This program: on Linux also after another version took its place on disk.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Finds a user by `NAME`, as /etc/passwd has it, or by `UID:GID`.
pub fn find_user(user: &str) -> Result<ChildUser, String> {
    let number = |text: &str| text.parse::<u32>().ok();
    let found = match user.split_once(':') {
        Some((uid, gid)) => number(uid).zip(number(gid)),
        None => {
            let users =
                fs::read_to_string("/etc/passwd").map_err(|fault| format!("/etc/passwd can't be read: {fault}"))?;
            users.lines().find_map(|line| match line.split(':').collect::<Vec<_>>().as_slice() {
                [name, _, uid, gid, ..] if *name == user => number(uid).zip(number(gid)),
                _ => None,
            })
        }
    };
    let (uid, gid) = found.ok_or("it is neither a name in /etc/passwd nor UID:GID")?;
    Ok(ChildUser { uid, gid })
}

/// The reaper of this process, started when it is first needed.
pub fn reaper() -> Option<Arc<Reaper>> {
    static REAPER: OnceLock<Option<Arc<Reaper>>> = OnceLock::new();
    let start = || match own_program().and_then(|program| Reaper::start(program, REAPER_ARGUMENT)) {
        Ok(reaper) => Some(reaper),
        Err(error) => {
            tracing::warn!(%error, "children would outlive a killed gateway: their reaper can't be started");
            None
        }
    };
    REAPER.get_or_init(start).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_name_or_by_numbers() {
        assert_eq!(find_user("root"), Ok(ChildUser { uid: 0, gid: 0 }));
        assert_eq!(find_user("1000:100"), Ok(ChildUser { uid: 1000, gid: 100 }));
        for wrong in ["", "no such user", "1000", "1000:", "-1:5", "root:root"] {
            assert!(find_user(wrong).is_err(), "{wrong}");
        }
    }
}
