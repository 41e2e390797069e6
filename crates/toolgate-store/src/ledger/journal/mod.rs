//! The ledger of the embedded store: a folder of JSON Lines files, the segments, that are only ever appended to.
//!
//! One thread writes for all who record, with one append for all records that are ready; another waits for the disk for all who must
//! be sure. Any number of processes append to the same files: a lock lets one at a time.

mod archive;
mod batch;
mod disk;
#[cfg(all(test, unix))]
mod disk_faults;
mod line;
mod line_reader;
mod reader;
mod recover;
mod room;
mod segment;
mod sync;
mod write_lock;
mod writer;

#[cfg(all(test, unix))]
mod failing_disk;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

pub(crate) use self::line::write_record;
pub(super) use self::{archive::ArchivedFile, batch::Submitted, reader::JournalReader};
use self::{
    batch::BatchQueue,
    disk::Disk,
    room::Room,
    segment::{LARGEST_SEGMENT, SEGMENT_BYTES, Segment},
    sync::SyncQueue,
    write_lock::{PresenceLock, WriteLock},
    writer::Writer,
};
use super::{
    Chain, Checker, Head, LedgerFailure, LedgerSettings, LedgerUnavailable, Pending, SystemRecord, canonical::Draft,
};
use crate::{StoreError, error::Fault};

const OPEN: &str = "open the ledger";
/// Who asks how the disk is waits no longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The side that appends.
pub(super) struct Journal {
    writer: Arc<str>,
    queue: Arc<BatchQueue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    sync: Arc<SyncQueue>,
    nearly_full: Arc<AtomicBool>,
    _present: PresenceLock,
}

impl Journal {
    /// Makes the folder where it is missing. Its first file is made with the first record.
    pub(super) fn open(folder: &Path, settings: &LedgerSettings, known: &[Head]) -> Result<Self, StoreError> {
        Self::open_on(Disk::default(), folder, settings, known)
    }

    fn open_on(disk: Disk, folder: &Path, settings: &LedgerSettings, known: &[Head]) -> Result<Self, StoreError> {
        let failed = |reason: String| Fault::Other(reason).during(OPEN);
        let in_folder = |error: io::Error| failed(format!("'{}' can't be used: {error}", folder.display()));
        disk.make_folder(folder).map_err(in_folder)?;
        let lock = WriteLock::open(folder).map_err(in_folder)?;
        let mut chain = Chain::new().map_err(|_| failed("the system has no random numbers".to_owned()))?;
        let writer = chain.writer().clone();
        let mut seen = Checker::resume(known);
        // what was verified is sound; what is damaged after it was never acknowledged
        let alone = || match recover::find(folder, if known.is_empty() { i64::MIN } else { seen.position() })? {
            Some((segment, offset)) => {
                let _held = lock.hold()?;
                recover::cut(&disk, folder, segment, offset).map(Some)
            }
            None => Ok(None),
        };
        let (present, damage) = PresenceLock::share(folder, alone).map_err(in_folder)?;
        // most of it, before the lock is held for the rest
        seen = reader::advance(folder, seen).map_err(in_folder)?;
        if let Some(damage) = damage.flatten() {
            chain.note(SystemRecord::recovery(damage.member()));
        }
        let (sync, nearly_full) = (SyncQueue::new(disk.clone()), Arc::<AtomicBool>::default());
        let appending = Writer {
            folder: folder.to_owned(),
            disk: disk.clone(),
            lock,
            chain,
            seen: Some(seen),
            open: None,
            room: Room::new(settings.max_bytes),
            segment_bytes: settings.segment_bytes.unwrap_or(SEGMENT_BYTES).clamp(1, LARGEST_SEGMENT),
            sync: Arc::clone(&sync),
            generation: 0,
            last: Segment { number: 1, day: disk.today() },
            least: 0,
            lines: Vec::new(),
            nearly_full: Arc::clone(&nearly_full),
            write_fault: None,
        };
        let taken = line_reader::bytes(folder, None).map_err(in_folder)?;
        nearly_full.store(appending.room.is_nearly_full(taken), Ordering::Relaxed);
        let (queue, syncing) = (Arc::<BatchQueue>::default(), Arc::clone(&sync));
        let batches = Arc::clone(&queue);
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let no_thread = |error: io::Error| failed(format!("no thread could be started: {error}"));
        let sync_thread = named("ledger-sync").spawn(move || syncing.run()).map_err(no_thread)?;
        let write_thread = named("ledger-write").spawn(move || appending.run(&batches)).map_err(no_thread)?;
        Ok(Self {
            writer,
            queue,
            threads: Mutex::new(vec![write_thread, sync_thread]),
            sync,
            nearly_full,
            _present: present,
        })
    }

    pub(super) fn writer(&self) -> &str {
        &self.writer
    }

    /// With the operating system when what this returns says so; on the disk, where that was asked.
    pub(super) fn append(&self, draft: Draft, durable: bool) -> Pending {
        match self.queue.submit(draft, durable) {
            Ok(submitted) => Pending::submitted(submitted),
            Err(unavailable) => Pending::known(Err(unavailable)),
        }
    }

    /// Whether a call could be recorded now.
    pub(super) async fn health(&self) -> Result<(), LedgerUnavailable> {
        let (answer, answered) = oneshot::channel();
        self.queue.probe(answer);
        match timeout(PATIENCE, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(LedgerUnavailable::closed())),
            Err(_) => Err(LedgerUnavailable::new(LedgerFailure::Disk, "the disk does not answer")),
        }
    }

    pub(super) fn is_nearly_full(&self) -> bool {
        self.nearly_full.load(Ordering::Relaxed)
    }

    pub(super) async fn close(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let (queue, sync) = (Arc::clone(&self.queue), Arc::clone(&self.sync));
        let end = move || {
            queue.close();
            for thread in threads {
                let _ = thread.join();
                // the one that writes is the first to end
                sync.close();
            }
        };
        let _ = tokio::task::spawn_blocking(end).await;
    }
}

impl Drop for Journal {
    /// The threads have their parts of the state, and would wait for ever. The one that writes ends the other.
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// `toolgate.db` has its ledger in the folder `toolgate-ledger`: two stores in one directory have two.
pub(crate) fn beside(store: &Path) -> PathBuf {
    let mut name = store.file_stem().unwrap_or_default().to_owned();
    name.push("-ledger");
    store.with_file_name(name)
}

/// Returns true if there is a ledger with records for a store.
pub(crate) fn has_records_beside(store: &Path) -> bool {
    line_reader::bytes(&beside(store), None).is_ok_and(|bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_its_own_ledger() {
        assert_eq!(beside(Path::new("a/toolgate.db")), Path::new("a/toolgate-ledger"));
        assert_eq!(beside(Path::new("other.db")), Path::new("other-ledger"));
    }
}
