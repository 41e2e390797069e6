//! Locks between the processes that share a folder: one at a time appends, and each can tell whether it is alone.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

const WRITE: &str = "write.lock";
const PRESENT: &str = "present.lock";
/// A process that was stopped in the middle of a write holds the lock; nobody waits for it for ever.
const PATIENCE: Duration = Duration::from_secs(5);

/// The lock that every append takes. Its file has the number of the current segment.
pub(super) struct WriteLock(Arc<File>);

/// The lock, held. It also ends with the process.
pub(super) struct HeldLock(Arc<File>);

impl WriteLock {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        open(folder, WRITE).map(|file| Self(Arc::new(file)))
    }

    pub(super) fn hold(&self) -> io::Result<HeldLock> {
        let until = Instant::now() + PATIENCE;
        let mut pause = Duration::from_micros(50);
        loop {
            match self.0.try_lock() {
                Ok(()) => return Ok(HeldLock(Arc::clone(&self.0))),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() > until => {
                    return Err(io::Error::other("another process holds the ledger's lock"));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

impl HeldLock {
    /// The number of the segment that is appended to; 0 if none was ever begun.
    pub(super) fn number(&self) -> io::Result<i64> {
        let (mut file, mut bytes) = (&*self.0, [0; 8]);
        file.seek(SeekFrom::Start(0))?;
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(i64::from_le_bytes(bytes).max(0)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Before the segment is made: who finds the number and no segment makes it.
    pub(super) fn set_number(&self, number: i64) -> io::Result<()> {
        let mut file = &*self.0;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&number.to_le_bytes())
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// A lock that every process with an open ledger shares.
pub(super) struct PresenceLock(File);

impl PresenceLock {
    /// The lock, and whether no other process has it. Runs `alone` before others are let in, if so.
    pub(super) fn share<T>(folder: &Path, alone: impl FnOnce() -> io::Result<T>) -> io::Result<(Self, Option<T>)> {
        let file = open(folder, PRESENT)?;
        let done = match file.try_lock() {
            Ok(()) => Some(alone()?),
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Error(error)) => return Err(error),
        };
        if done.is_some() {
            file.unlock()?;
        }
        file.lock_shared()?;
        Ok((Self(file), done))
    }
}

impl Drop for PresenceLock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn open(folder: &Path, name: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(folder.join(name))
}
