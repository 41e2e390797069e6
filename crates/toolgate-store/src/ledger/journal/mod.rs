//! The ledger of the embedded store: a folder of JSON Lines files, one for each day, that are only ever appended to.
//!
//! Whoever records hands its record to the operating system itself, with one write for all that are ready; one thread waits
//! for the disk for all who must be sure. Any number of processes append to the same files: the system puts every write at the end.

mod append;
mod day;
mod gather;
mod line;
mod reader;
mod sync;
mod walk;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use tokio::sync::oneshot;

use self::{
    append::{State, Waiting},
    sync::Shared,
};
pub(super) use self::{gather::Gathered, reader::JournalReader};
use super::{Chain, LedgerSettings, Pending, canonical::Draft};
use crate::{StoreError, error::Fault};

const OPEN: &str = "open the ledger";

/// The side that appends.
pub(super) struct Journal {
    writer: Arc<str>,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Journal {
    /// Makes the folder where it is missing. Its first file is made with the first record.
    pub(super) fn open(folder: &Path, settings: &LedgerSettings) -> Result<Self, StoreError> {
        let failed = |reason: String| Fault::Other(reason).during(OPEN);
        append::make(folder).map_err(|error| failed(format!("'{}' can't be made: {error}", folder.display())))?;
        let chain = Chain::new().map_err(|_| failed("the system has no random numbers".to_owned()))?;
        let writer = chain.writer().clone();
        let shared = Shared::new(State::new(folder.to_owned(), chain, settings.max_bytes));
        let syncing = Arc::clone(&shared);
        let thread = thread::Builder::new().name("ledger-sync".to_owned()).spawn(move || syncing.run());
        let thread = thread.map_err(|error| failed(format!("no thread could be started: {error}")))?;
        Ok(Self { writer, shared, thread: Mutex::new(Some(thread)) })
    }

    pub(super) fn writer(&self) -> &str {
        &self.writer
    }

    /// With the operating system when what this returns says so; on the disk, where that was asked.
    pub(super) fn append(&self, draft: Draft, durable: bool) -> Pending {
        let mut state = self.shared.lock();
        let (group, index) = match state.gather(draft) {
            Ok(gathered) => gathered,
            Err(unavailable) => return Pending::known(Err(unavailable)),
        };
        let synced = durable.then(|| {
            let (answer, answered) = oneshot::channel();
            state.waiting.push(Waiting { answer, group: Arc::clone(&group), index });
            answered
        });
        drop(state);
        Pending::gathered(Gathered::new(Arc::clone(&self.shared), group, index), synced)
    }

    pub(super) async fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let shared = Arc::clone(&self.shared);
        let end = move || {
            shared.close();
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        };
        let _ = tokio::task::spawn_blocking(end).await;
    }
}

impl Drop for Journal {
    /// The thread has the state too, and would wait for ever.
    fn drop(&mut self) {
        self.shared.close();
    }
}

/// `toolgate.db` has its ledger in the folder `toolgate-ledger`: two stores in one directory have two.
pub(super) fn beside(store: &Path) -> PathBuf {
    let mut name = store.file_stem().unwrap_or_default().to_owned();
    name.push("-ledger");
    store.with_file_name(name)
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
