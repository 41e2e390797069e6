//! Faults of a disk, for tests: syncs that fail, writes that are cut off, a clock that is set.

use std::{
    collections::VecDeque,
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::segment::Day;

#[derive(Default)]
pub(in crate::ledger) struct DiskFaults(Mutex<Plan>);

#[derive(Default)]
struct Plan {
    day: Option<Day>,
    /// Whether each of the next syncs fails; those after it do what `all_fail` says.
    syncs: VecDeque<bool>,
    all_fail: bool,
    /// The bytes that the next append takes.
    takes: Option<usize>,
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
        self.plan().takes.take()
    }

    pub(super) fn folder(&self, folder: &Path) {
        self.plan().folders.push(folder.to_owned());
    }

    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        let mut plan = self.plan();
        let fails = plan.syncs.pop_front().unwrap_or(plan.all_fail);
        plan.synced.push((file.metadata()?.ino(), fails));
        if fails { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
    }
}
