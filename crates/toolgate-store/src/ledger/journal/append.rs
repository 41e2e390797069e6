//! Appending: one write for each record, by whoever records it.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    day::{Day, LARGEST},
    line, walk,
};
use crate::ledger::{Answered, Chain, LedgerUnavailable, Place, canonical::Draft};

/// What whoever appends and whoever waits for the disk share.
pub(super) struct State {
    folder: PathBuf,
    chain: Chain,
    open: Option<Open>,
    /// Used again for each record.
    line: Vec<u8>,
    /// The largest all files together may grow.
    limit: Option<u64>,
    /// What is not on the disk yet.
    pub(super) unsynced: Vec<Arc<File>>,
    /// Who must know that it is.
    pub(super) waiting: Vec<(Answered, Place)>,
    pub(super) closed: bool,
}

/// The file of today.
struct Open {
    day: Day,
    file: Arc<File>,
    /// What the files of other days take.
    others: u64,
}

impl State {
    pub(super) fn new(folder: PathBuf, chain: Chain, limit: Option<u64>) -> Self {
        let (line, unsynced, waiting) = (Vec::new(), Vec::new(), Vec::new());
        Self { folder, chain, open: None, line, limit, unsynced, waiting, closed: false }
    }

    /// Hands a record to the operating system. What fails leaves no record: a line that was begun is not one.
    pub(super) fn append(&mut self, draft: Draft) -> Result<Place, LedgerUnavailable> {
        if self.closed {
            return Err(LedgerUnavailable::new("the ledger is closed"));
        }
        let links = self.chain.links(iter::once(draft));
        self.line.clear();
        links.iter().for_each(|link| line::write(&mut self.line, link));
        if let Err(error) = self.write() {
            // another try finds the folder as it is then
            self.open = None;
            return Err(LedgerUnavailable::new(format!("its file can't be written: {error}")));
        }
        let stored = links.last().map(|last| {
            self.chain.stored(last);
            self.chain.place(last)
        });
        stored.ok_or_else(|| LedgerUnavailable::new("nothing was recorded"))
    }

    fn write(&mut self) -> io::Result<()> {
        let today = Day::today();
        if self.open.as_ref().is_none_or(|open| open.day != today) {
            self.open = Some(Open::today(&self.folder, today)?);
        }
        let Some(open) = &self.open else { return Err(io::ErrorKind::NotFound.into()) };
        if let Some(limit) = self.limit {
            let bytes = open.others + open.file.metadata()?.len() + self.line.len() as u64;
            if bytes > limit {
                return Err(io::Error::other(format!("the ledger is full: it may have {limit} bytes")));
            }
        }
        let written = Write::write(&mut &*open.file, &self.line)?;
        if written != self.line.len() {
            return Err(io::Error::other("the disk is full"));
        }
        if !self.unsynced.iter().any(|file| Arc::ptr_eq(file, &open.file)) {
            self.unsynced.push(Arc::clone(&open.file));
        }
        Ok(())
    }

    /// Whoever took the file away (to keep it elsewhere) gets a new one made at the next record.
    pub(super) fn look(&mut self) {
        if self.open.as_ref().is_some_and(|open| !open.is_in_place(&self.folder)) {
            self.open = None;
        }
    }

    pub(super) fn reopen(&mut self) {
        self.open = None;
    }
}

impl Open {
    fn today(folder: &Path, day: Day) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(folder.join(day.file_name()))?;
        if file.metadata()?.len() >= LARGEST {
            return Err(io::Error::other("the file of today can't grow any more; use PostgreSQL for this much"));
        }
        // that the file exists must be as sure as what is in it
        File::open(folder)?.sync_all()?;
        Ok(Self { day, file: Arc::new(file), others: walk::bytes(folder, day)? })
    }

    #[cfg(unix)]
    fn is_in_place(&self, folder: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let here = std::fs::metadata(folder.join(self.day.file_name()));
        match (self.file.metadata(), here) {
            (Ok(open), Ok(here)) => (open.dev(), open.ino()) == (here.dev(), here.ino()),
            _ => false,
        }
    }

    #[cfg(not(unix))]
    fn is_in_place(&self, folder: &Path) -> bool {
        folder.join(self.day.file_name()).exists()
    }
}

/// Made so that only its owner can look into it.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
