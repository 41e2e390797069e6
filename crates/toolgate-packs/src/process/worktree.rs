//! The worktrees of tasks, and how many calls read one at the same time: a task writes its own worktree, and must not
//! take every place with it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::repository::{Repository, RepositoryError, WorkBudget};
use crate::failure::{Failure, short};

const TIME: Duration = Duration::from_secs(30);
/// Calls that read one worktree at the same time.
const MOST_CALLS: usize = 2;

/// The calls in flight, for each worktree.
type CallCounts = Arc<Mutex<HashMap<PathBuf, usize>>>;

#[derive(Default)]
pub(super) struct Worktrees {
    calls: CallCounts,
}

pub(super) struct Worktree {
    folder: PathBuf,
    main: Option<PathBuf>,
    /// The words for what is asked, for failures.
    asking: &'static str,
    slot: WorktreeSlot,
}

impl Worktrees {
    /// Takes a place for a call at a worktree.
    pub(super) fn open(&self, path: &str, main: Option<&str>, asking: &'static str) -> Result<Worktree, Failure> {
        let real = |path: &str| Path::new(path).is_absolute().then(|| Path::new(path).canonicalize().ok()).flatten();
        let missing = || Failure::not_found(format!("Worktree directory not found: {}", short(path)));
        let folder = real(path).filter(|folder| folder.is_dir()).ok_or_else(missing)?;
        let slot = WorktreeSlot::take(&self.calls, &folder)
            .ok_or_else(|| Failure::conflict(format!("{asking} failed: other calls read this worktree. Try again.")))?;
        Ok(Worktree { folder, main: main.and_then(real), asking, slot })
    }
}

impl Worktree {
    /// Reads the repository, away from the threads that serve requests. Work stops when the caller goes.
    pub(super) async fn read<T: Send + 'static>(
        self,
        work: impl FnOnce(&Repository) -> Result<T, RepositoryError> + Send + 'static,
    ) -> Result<T, Failure> {
        let Self { folder, main, asking, slot } = self;
        let cancel = CancelOnDrop::default();
        let budget = WorkBudget::new(TIME, cancel.0.clone());
        let done = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work(&Repository::open(&folder, main.as_deref(), budget)?)
        });
        match done.await {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(RepositoryError::TimedOut)) => Err(Failure::internal(format!("{asking} timed out."))),
            Ok(Err(error)) => Err(Failure::conflict(format!("{asking} failed: {error}"))),
            Err(error) => {
                tracing::error!(target: "toolgate::process", %error, "reading a worktree failed");
                Err(Failure::internal(format!("{asking} failed: the repository can't be read")))
            }
        }
    }
}

#[derive(Default)]
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A place for one call at a worktree, free again when the work is over.
struct WorktreeSlot {
    calls: CallCounts,
    folder: PathBuf,
}

impl WorktreeSlot {
    fn take(calls: &CallCounts, folder: &Path) -> Option<Self> {
        let mut counts = calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(folder.to_owned()).or_default();
        if *count >= MOST_CALLS {
            return None;
        }
        *count += 1;
        Some(Self { calls: calls.clone(), folder: folder.to_owned() })
    }
}

impl Drop for WorktreeSlot {
    fn drop(&mut self) {
        let mut counts = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.folder) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.folder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_worktree_takes_its_own_places_and_nobody_elses() {
        let (hostile, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = |folder: &tempfile::TempDir| folder.path().to_str().unwrap().to_owned();
        let worktrees = Worktrees::default();
        let open = |path: String| worktrees.open(&path, None, "git diff");
        let held = [open(path(&hostile)).ok(), open(path(&hostile)).ok()];
        assert!(held.iter().all(Option::is_some));
        assert_eq!(open(path(&hostile)).err().unwrap().code, "conflict");
        assert!(open(path(&other)).is_ok());
        drop(held);
        assert!(open(path(&hostile)).is_ok());
        assert!(worktrees.calls.lock().unwrap().is_empty(), "nothing is kept of a worktree that nobody reads");
    }
}
