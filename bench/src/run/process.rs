//! What the kernel says about a process: CPU time used and memory held.

use std::time::Duration;

use crate::failure::{Doing, Failure};

/// One tick of /proc/PID/stat; Linux fixes it at a hundredth of a second for user space.
const TICK: Duration = Duration::from_millis(10);

/// User and system time of all threads since the process started.
pub(crate) fn cpu_time(pid: u32) -> Result<Duration, Failure> {
    let stat = read(pid, "stat")?;
    ticks(&stat).map(|ticks| TICK.saturating_mul(ticks)).ok_or_else(|| unreadable(pid, "stat"))
}

/// Resident memory in MiB.
pub(crate) fn memory(pid: u32) -> Result<f64, Failure> {
    let status = read(pid, "status")?;
    resident_kib(&status).map(|kib| f64::from(kib) / 1024.0).ok_or_else(|| unreadable(pid, "status"))
}

fn read(pid: u32, file: &str) -> Result<String, Failure> {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).doing(format!("reading {path}"))
}

fn unreadable(pid: u32, file: &str) -> Failure {
    Failure::Answer(format!("/proc/{pid}/{file} is not as expected"))
}

fn ticks(stat: &str) -> Option<u32> {
    // The name in brackets may hold anything, spaces and brackets too; what follows the last one is numbers.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

fn resident_kib(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_the_sum_of_user_and_system_time() {
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194560 100 0 0 0 250 31 9 9 20 0 4 0 1 1 1";
        assert_eq!(ticks(stat), Some(281));
        assert_eq!(ticks("42 (short) S 1"), None);
    }

    #[test]
    fn memory_is_what_is_resident() {
        let status = "Name:\tx\nVmSize:\t 9999 kB\nVmRSS:\t    2048 kB\n";
        assert_eq!(resident_kib(status), Some(2048));
    }

    #[test]
    fn this_process_can_be_read() {
        let pid = std::process::id();
        assert!(memory(pid).unwrap() > 0.0);
        assert!(cpu_time(pid).is_ok());
    }
}
