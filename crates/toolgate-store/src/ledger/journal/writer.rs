//! The thread that writes: one append for all records that wait. No other thread of the process touches the files.

use std::{
    fs::{File, metadata},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    batch::{Answer, BatchQueue},
    disk::Disk,
    line, line_reader, recover,
    room::Room,
    segment::Segment,
    sync::{Mark, SyncQueue, WrittenFile},
    write_lock::{HeldLock, WriteLock},
};
use crate::ledger::{Chain, Checker, LedgerFailure, LedgerUnavailable, SystemRecord, canonical::Draft};

/// How often the writer looks whether its file is still where it was made.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes that are kept for the next batch.
const KEPT_LINES: usize = 256 << 10;

pub(super) struct Writer {
    pub(super) folder: PathBuf,
    pub(super) disk: Disk,
    pub(super) lock: WriteLock,
    pub(super) chain: Chain,
    /// Everything that others wrote, as far as it was read; taken by the first record, which names its heads.
    pub(super) seen: Option<Checker>,
    pub(super) open: Option<OpenSegment>,
    pub(super) room: Room,
    pub(super) segment_bytes: u64,
    pub(super) sync: Arc<SyncQueue>,
    pub(super) generation: u64,
    /// The segment that was opened last.
    pub(super) last: Segment,
    /// The least number of the next segment.
    pub(super) least: i64,
    /// Used again for each batch.
    pub(super) lines: Vec<u8>,
    /// Whether four fifths of the limit are taken, for who asks before recording.
    pub(super) nearly_full: Arc<AtomicBool>,
    /// Why the last append failed, until one succeeds.
    pub(super) write_fault: Option<LedgerUnavailable>,
}

/// The segment that is appended to.
pub(super) struct OpenSegment {
    segment: Segment,
    file: Arc<File>,
    /// The end of it after the last append of this process.
    end: u64,
    /// The bytes of the other segments.
    others: u64,
    /// Something was written to it: from then on the other thread alone syncs it, since an error is told only once.
    is_written: bool,
    looked: Instant,
}

impl Writer {
    pub(super) fn run(mut self, queue: &BatchQueue) {
        loop {
            let next = queue.next();
            if !next.drafts.is_empty() {
                match self.store(next.drafts) {
                    (answers, Some(file)) => self.sync.written(file, next.batch, answers, next.durable),
                    (answers, None) => next.batch.settle_written(answers),
                }
            }
            for probe in next.probes {
                let _ = probe.send(self.probe());
            }
            if next.closed {
                break;
            }
        }
        self.sync.close();
    }

    /// What fails leaves no record: a line that was begun is cut off again. What is whole is one, and the chain goes on from it.
    fn store(&mut self, drafts: Vec<Draft>) -> (Vec<Answer>, Option<WrittenFile>) {
        match self.held() {
            // held until the records are written
            Ok(_held) => self.append(drafts),
            Err(reason) => (drafts.iter().map(|_| Err(reason.clone())).collect(), None),
        }
    }

    /// The lock, and a segment that may be appended to while it is held.
    fn held(&mut self) -> Result<HeldLock, LedgerUnavailable> {
        let held = self.lock.hold().map_err(|error| LedgerUnavailable::disk("it can't be locked", &error))?;
        let prepared = self.prepare(&held);
        if prepared.is_err() {
            self.open = None;
        }
        prepared.map(|()| held)
    }

    fn append(&mut self, drafts: Vec<Draft>) -> (Vec<Answer>, Option<WrittenFile>) {
        let Some(open) = &mut self.open else {
            return (drafts.iter().map(|_| Err(LedgerUnavailable::closed())).collect(), None);
        };
        let mut used = open.others.saturating_add(open.end);
        let mut admitted = Vec::with_capacity(drafts.len());
        let asked: Vec<bool> = drafts
            .into_iter()
            .map(|draft| {
                let after = self.room.admit(&draft, used);
                used = after.unwrap_or(used);
                if after.is_some() {
                    admitted.push(draft);
                }
                after.is_some()
            })
            .collect();
        let intents: Vec<Option<Arc<str>>> =
            admitted.iter().map(|draft| (draft.columns.kind == "intent").then(|| draft.columns.call.clone())).collect();
        let full = self.room.limit().unwrap_or_default();
        let full = LedgerUnavailable::new(
            LedgerFailure::Full,
            format!("the ledger is full: it may have {full} bytes; archive a part of it or raise [ledger] max_bytes"),
        );
        if admitted.is_empty() && !asked.is_empty() {
            // another try finds the folder as it is then
            self.open = None;
            return (asked.iter().map(|_| Err(full.clone())).collect(), None);
        }
        let count = admitted.len();
        let links = self.chain.links(admitted.into_iter());
        for (call, link) in intents.iter().zip(links.iter().skip(links.len().saturating_sub(count))) {
            if let Some(call) = call {
                self.room.number(call, link.seq);
            }
        }
        self.lines.clear();
        let mut ends = Vec::with_capacity(links.len());
        for link in &links {
            line::write(&mut self.lines, link);
            ends.push(self.lines.len());
        }
        open.is_written = true;
        let (written, fault) = match self.disk.append(&open.file, &self.lines) {
            Ok(written) if written == self.lines.len() => (written, None),
            Ok(written) => (written, Some(io::Error::other("the disk is full"))),
            Err(error) => (0, Some(error)),
        };
        // a few large records must not keep their memory for good
        self.lines.shrink_to(KEPT_LINES);
        let whole = ends.iter().take_while(|end| **end <= written).count();
        let bytes = ends.iter().take(whole).next_back().copied().unwrap_or_default();
        open.end = open.end.saturating_add(bytes as u64);
        let taken = open.others.saturating_add(open.end);
        self.nearly_full.store(self.room.is_nearly_full(taken), Ordering::Relaxed);
        let mut file = None;
        if let Some(last) = links.iter().take(whole).next_back() {
            self.chain.stored(last);
            let mark = Mark { seq: last.seq, hash: last.hash, end: open.segment.position(open.end) };
            file = Some(WrittenFile { file: Arc::clone(&open.file), generation: self.generation, mark });
        }
        if written > bytes && open.file.set_len(open.end).is_err() {
            tracing::warn!("half a record stays at the end of the ledger; the next record is preceded by a recovery");
        }
        if fault.is_some() {
            // another try finds the folder as it is then
            self.open = None;
        }
        let refused = fault.map(|error| LedgerUnavailable::disk("its file can't be written", &error));
        self.write_fault.clone_from(&refused);
        let unasked = links.len().saturating_sub(count);
        let mut stored =
            links.iter().zip(0..).skip(unasked).zip(intents).map(|((link, number), intent)| match &refused {
                Some(refused) if number >= whole => {
                    if let Some(call) = &intent {
                        self.room.release(call);
                    }
                    Err(refused.clone())
                }
                _ => Ok(self.chain.place(link)),
            });
        let answers = asked.into_iter().map(|asked| {
            let stored = if asked { stored.next() } else { None };
            stored.unwrap_or_else(|| Err(full.clone()))
        });
        (answers.collect(), file)
    }

    /// An open segment that may be appended to, and a chain that fits it.
    fn prepare(&mut self, held: &HeldLock) -> Result<(), LedgerUnavailable> {
        if let Some(synced) = self.sync.failed(self.generation) {
            self.begin_again(synced)?;
        }
        let failed = |error: io::Error| LedgerUnavailable::disk("its file can't be opened", &error);
        let current = held.number().map_err(failed)?.max(self.least);
        let leaves = self.open.as_mut().is_some_and(|open| open.segment.number < current || open.is_gone(&self.folder));
        if leaves {
            self.leave()?;
        }
        if self.open.is_none() {
            let last = line_reader::segments(&self.folder).map_err(failed)?.pop();
            let (number, day) = last.map_or((1, self.disk.today()), |last| (last.number, last.day));
            let day = if number < current { day.max(self.disk.today()) } else { day };
            self.begin(held, Segment { number: number.max(current), day }).map_err(failed)?;
        }
        let today = self.disk.today();
        if let Some(open) = &self.open
            && (open.segment.day < today || open.end >= self.segment_bytes)
        {
            let next = Segment { number: open.segment.number.saturating_add(1), day: today.max(open.segment.day) };
            self.leave()?;
            self.begin(held, next).map_err(failed)?;
        }
        self.check_end().map_err(failed)?;
        if self.sync.failing().is_some()
            && let Some(open) = self.open.as_ref().filter(|open| !open.is_written)
        {
            let unsynced = |error: io::Error| LedgerUnavailable::disk("its file can't be synced", &error);
            self.disk.sync(&open.file).map_err(unsynced)?;
        }
        self.name_heads().map_err(failed)
    }

    /// What is not on the disk yet belongs to the segment that is left.
    fn leave(&mut self) -> Result<(), LedgerUnavailable> {
        self.open = None;
        self.sync.flush()
    }

    fn begin(&mut self, held: &HeldLock, segment: Segment) -> io::Result<()> {
        if !segment.is_possible() {
            return Err(io::Error::other("the ledger has no number left for a segment; use PostgreSQL for this much"));
        }
        if held.number()? != segment.number {
            held.set_number(segment.number)?;
        }
        let file = Arc::new(self.disk.open(&self.folder, &segment.file_name())?);
        let others = line_reader::bytes(&self.folder, Some(segment))?;
        self.last = segment;
        self.open =
            Some(OpenSegment { segment, file, end: u64::MAX, others, is_written: false, looked: Instant::now() });
        self.check_end()
    }

    /// Another process may have appended, and may have been killed in the middle of it.
    fn check_end(&mut self) -> io::Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let length = open.file.metadata()?.len();
        if length == open.end {
            return Ok(());
        }
        open.end = length;
        if let Some(offset) = recover::torn_tail(&open.file, length)? {
            let damage = recover::cut(&self.disk, &self.folder, open.segment, offset)?;
            open.end = open.file.metadata()?.len();
            self.chain.note(SystemRecord::recovery(damage.member()));
        }
        Ok(())
    }

    /// A file failed: what was not on the disk is not counted on, and a new chain says so in a new file.
    fn begin_again(&mut self, synced: Option<Mark>) -> Result<(), LedgerUnavailable> {
        self.generation += 1;
        self.open = None;
        self.least = self.last.number.saturating_add(1);
        let no_name = |_| LedgerUnavailable::new(LedgerFailure::Disk, "the system has no random numbers");
        let chain = Chain::new().map_err(no_name)?;
        let from = synced.as_ref().map_or_else(|| self.last.position(0), |mark| mark.end);
        // who waits for such an intent is refused, so that no outcome follows it
        self.room.release_after(synced.as_ref().map_or(-1, |mark| mark.seq));
        self.chain.succeed(chain, synced.map(|mark| (mark.seq, mark.hash)), from);
        Ok(())
    }

    /// The first record of a process names the heads of every chain there is at that moment.
    fn name_heads(&mut self) -> io::Result<()> {
        let Some(checker) = self.seen.take() else { return Ok(()) };
        let seen = super::reader::advance(&self.folder, checker)?;
        self.chain.begin(seen.heads());
        Ok(())
    }

    /// Appends an empty line, which readers pass over: the disk takes writes again, or it does not.
    fn append_nothing(&mut self) -> Result<(), LedgerUnavailable> {
        let Some(open) = &mut self.open else { return Err(LedgerUnavailable::closed()) };
        open.is_written = true;
        let fault = match self.disk.append(&open.file, b"\n") {
            Ok(1) => None,
            Ok(_) => Some(io::Error::other("the disk is full")),
            Err(error) => Some(error),
        };
        if let Some(error) = fault {
            self.open = None;
            return Err(LedgerUnavailable::disk("its file can't be written", &error));
        }
        open.end = open.end.saturating_add(1);
        self.write_fault = None;
        Ok(())
    }

    /// Whether a call could be recorded now.
    fn probe(&mut self) -> Result<(), LedgerUnavailable> {
        let failing = self.sync.failing();
        let held = self.held()?;
        if failing.is_some() {
            // only what is on the disk shows that the disk works: the record of what was lost
            let (_, file) = self.append(Vec::new());
            drop(held);
            if let Some(fault) = &self.write_fault {
                return Err(fault.clone());
            }
            if let Some(file) = file {
                self.sync.written(file, Arc::default(), Vec::new(), true);
            }
            self.sync.flush()?;
        } else if self.write_fault.is_some() {
            self.append_nothing()?;
        }
        let used = self.open.as_ref().map_or(0, |open| open.others.saturating_add(open.end));
        self.nearly_full.store(self.room.is_nearly_full(used), Ordering::Relaxed);
        if self.room.has_room(used) {
            return Ok(());
        }
        self.open = None;
        let limit = self.room.limit().unwrap_or_default();
        Err(LedgerUnavailable::new(LedgerFailure::Full, format!("the ledger is full: it may have {limit} bytes")))
    }
}

impl OpenSegment {
    /// Whoever took the file away (to keep it elsewhere) gets a new one made.
    fn is_gone(&mut self, folder: &Path) -> bool {
        if self.looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Instant::now();
        !self.is_in_place(folder)
    }

    #[cfg(unix)]
    fn is_in_place(&self, folder: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let here = metadata(folder.join(self.segment.file_name()));
        match (self.file.metadata(), here) {
            (Ok(open), Ok(here)) => (open.dev(), open.ino()) == (here.dev(), here.ino()),
            _ => false,
        }
    }

    #[cfg(not(unix))]
    fn is_in_place(&self, folder: &Path) -> bool {
        metadata(folder.join(self.segment.file_name())).is_ok()
    }
}
