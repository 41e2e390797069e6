//! Faults of a disk, for tests: syncs that fail, writes that are cut off, a clock that is set.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use super::segment::Day;

#[derive(Default)]
pub(in crate::ledger) struct DiskFaults(Mutex<Plan>, Condvar);

#[derive(Default)]
struct Plan {
    day: Option<Day>,
    /// Whether each of the next syncs fails; those after it do what `all_fail` says.
    syncs: VecDeque<bool>,
    all_fail: bool,
    /// The bytes that the next append takes.
    takes: Option<usize>,
    /// No append takes anything.
    is_full: bool,
    /// Syncs of files that hold something wait until they may go on.
    are_syncs_held: bool,
    /// Files that are being synced.
    syncing: Vec<u64>,
    /// A file was synced by two threads at once.
    overlapped: bool,
    /// Each file that was synced, and whether that failed.
    synced: Vec<(u64, bool)>,
    folders: Vec<PathBuf>,
}

impl DiskFaults {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_day(&self, time: i64) {
        self.plan().day = Some(Day::of(time));
    }

    pub(super) fn fail_next(&self, syncs: impl IntoIterator<Item = bool>) {
        self.plan().syncs.extend(syncs);
    }

    pub(super) fn fail_all(&self, all: bool) {
        self.plan().all_fail = all;
    }

    pub(super) fn take_only(&self, bytes: usize) {
        self.plan().takes = Some(bytes);
    }

    /// Each synced file by its number, and whether that sync failed.
    pub(super) fn synced(&self) -> Vec<(u64, bool)> {
        self.plan().synced.clone()
    }

    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.plan().folders.clone()
    }

    pub(super) fn today(&self) -> Option<Day> {
        self.plan().day
    }

    pub(super) fn takes(&self) -> Option<usize> {
        let mut plan = self.plan();
        if plan.is_full { Some(0) } else { plan.takes.take() }
    }

    pub(super) fn set_full(&self, is_full: bool) {
        self.plan().is_full = is_full;
    }

    pub(super) fn hold_syncs(&self, are_held: bool) {
        self.plan().are_syncs_held = are_held;
        self.1.notify_all();
    }

    /// Returns true where two threads synced one file at the same time.
    pub(super) fn overlapped(&self) -> bool {
        self.plan().overlapped
    }

    pub(super) fn is_syncing(&self) -> bool {
        !self.plan().syncing.is_empty()
    }

    pub(super) fn folder(&self, folder: &Path) {
        self.plan().folders.push(folder.to_owned());
    }

    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        let number = file.metadata()?.ino();
        let mut plan = self.plan();
        plan.overlapped |= plan.syncing.contains(&number);
        plan.syncing.push(number);
        while plan.are_syncs_held && file.metadata()?.len() > 0 {
            plan = self.1.wait(plan).unwrap_or_else(PoisonError::into_inner);
        }
        plan.syncing.retain(|other| *other != number);
        let fails = plan.syncs.pop_front().unwrap_or(plan.all_fail);
        plan.synced.push((number, fails));
        if fails { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
    }
}
