//! Appending: one write for all records that are ready, by one of those who record.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    day::{Day, LARGEST},
    gather::{Group, Stored},
    line, walk,
};
use crate::ledger::{Answered, Chain, LedgerUnavailable, canonical::Draft};

/// Records that are written together at the most.
const MOST: usize = 64;

/// What whoever appends and whoever waits for the disk share.
pub(super) struct State {
    folder: PathBuf,
    chain: Chain,
    open: Option<Open>,
    /// Used again for each group.
    lines: Vec<u8>,
    /// The largest all files together may grow.
    limit: Option<u64>,
    /// Records that are not with the operating system yet, and where those who wait for them hear of it.
    gathered: Vec<Draft>,
    group: Arc<Group>,
    /// What is not on the disk yet.
    pub(super) unsynced: Vec<Arc<File>>,
    /// Who must know that it is.
    pub(super) waiting: Vec<Waiting>,
    pub(super) closed: bool,
}

/// Somebody who must know that a record is on the disk.
pub(super) struct Waiting {
    pub(super) answer: Answered,
    pub(super) group: Arc<Group>,
    pub(super) index: usize,
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
        Self {
            folder,
            chain,
            open: None,
            lines: Vec::new(),
            limit,
            gathered: Vec::new(),
            group: Arc::default(),
            unsynced: Vec::new(),
            waiting: Vec::new(),
            closed: false,
        }
    }

    /// Puts a record to those that are written next; says which group they are, and its place among them.
    pub(super) fn gather(&mut self, draft: Draft) -> Result<(Arc<Group>, usize), LedgerUnavailable> {
        if self.closed {
            return Err(LedgerUnavailable::new("the ledger is closed"));
        }
        if self.gathered.len() >= MOST {
            self.hand_over();
        }
        self.gathered.push(draft);
        Ok((Arc::clone(&self.group), self.gathered.len() - 1))
    }

    /// Hands what is gathered to the operating system.
    pub(super) fn hand_over(&mut self) {
        if self.gathered.is_empty() {
            return;
        }
        let (drafts, group) = (mem::take(&mut self.gathered), mem::take(&mut self.group));
        group.settle(self.store(drafts));
    }

    /// What fails leaves no record: a line that was begun is not one. What is whole is one, and the chain goes on from it.
    fn store(&mut self, drafts: Vec<Draft>) -> Stored {
        let asked = drafts.len();
        let links = self.chain.links(drafts.into_iter());
        self.lines.clear();
        let mut ends = Vec::with_capacity(links.len());
        for link in &links {
            line::write(&mut self.lines, link);
            ends.push(self.lines.len());
        }
        let (written, fault) = match self.write() {
            Ok(written) if written == self.lines.len() => (written, None),
            Ok(written) => (written, Some(io::Error::other("the disk is full"))),
            Err(error) => (0, Some(error)),
        };
        let whole = ends.iter().take_while(|end| **end <= written).count();
        if let Some(last) = links.iter().take(whole).next_back() {
            self.chain.stored(last);
        }
        // a genesis record, first if there is one, has nobody to tell
        let unasked = links.len().saturating_sub(asked);
        let places = links.iter().take(whole).skip(unasked).map(|link| self.chain.place(link)).collect();
        let others = match fault {
            Some(error) => {
                // another try finds the folder as it is then
                self.open = None;
                format!("its file can't be written: {error}")
            }
            None => "nothing was recorded".to_owned(),
        };
        Stored { places, others: LedgerUnavailable::new(others) }
    }

    /// How much was written.
    fn write(&mut self) -> io::Result<usize> {
        let today = Day::today();
        if self.open.as_ref().is_none_or(|open| open.day != today) {
            self.open = Some(Open::today(&self.folder, today)?);
        }
        let Some(open) = &self.open else { return Err(io::ErrorKind::NotFound.into()) };
        if let Some(limit) = self.limit {
            let bytes = open.others + open.file.metadata()?.len() + self.lines.len() as u64;
            if bytes > limit {
                return Err(io::Error::other(format!("the ledger is full: it may have {limit} bytes")));
            }
        }
        let written = Write::write(&mut &*open.file, &self.lines)?;
        if !self.unsynced.iter().any(|file| Arc::ptr_eq(file, &open.file)) {
            self.unsynced.push(Arc::clone(&open.file));
        }
        Ok(written)
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

#[cfg(all(test, unix))]
mod tests {
    use std::{io::Read, os::fd::OwnedFd, thread};

    use serde_json::value::RawValue;

    use super::*;
    use crate::ledger::tests::entry;

    fn large() -> Draft {
        let mut entry = entry("c");
        entry.input = RawValue::from_string(format!("\"{}\"", "x".repeat(8000))).ok();
        Draft::new(entry).unwrap()
    }

    /// A disk that takes no more in the middle of a group: a pipe that nobody reads to its end.
    #[test]
    fn of_a_group_that_is_cut_off_the_whole_records_stand_and_the_chain_goes_on_from_them() {
        let (mut reader, writer) = io::pipe().unwrap();
        let reading = thread::spawn(move || {
            let mut read = vec![0; 30_000];
            reader.read_exact(&mut read).unwrap();
        });
        let mut state = State::new(PathBuf::new(), Chain::new().unwrap(), None);
        let file = Arc::new(File::from(OwnedFd::from(writer)));
        state.open = Some(Open { day: Day::today(), file, others: 0 });
        let gathered: Vec<_> = (0..40).map(|_| state.gather(large()).unwrap()).collect();
        state.hand_over();
        reading.join().unwrap();
        let seqs: Vec<_> = gathered.iter().map_while(|(group, at)| group.of(*at).ok()).map(|place| place.seq).collect();
        assert!((3..40).contains(&seqs.len()), "{seqs:?}");
        assert!(seqs.iter().copied().eq(1..=i64::try_from(seqs.len()).unwrap()), "{seqs:?}");
        assert!(gathered.iter().skip(seqs.len()).all(|(group, at)| group.of(*at).is_err()));
        assert!(state.open.is_none());
        let next = state.chain.links(std::iter::once(large()));
        assert_eq!(next.first().map(|link| link.seq), seqs.last().map(|seq| seq + 1));
    }
}
