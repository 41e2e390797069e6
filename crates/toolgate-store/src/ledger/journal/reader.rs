//! Reading the files: everything is found by going through them, a day at a time.

use std::{
    collections::{HashMap, VecDeque},
    fs::{self, File},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use super::{
    line::{Line, NoRecord, read},
    line_reader::{lines, segments, walk},
    segment::{Day, Segment},
};
use crate::{
    error::Fault,
    ledger::{Checker, Filter, Outcome, Record, Scan},
};

/// What the newest records are looked for in first.
const WINDOW: u64 = 1 << 20;

/// The side that reads. Holds nothing between two readings.
#[derive(Clone)]
pub(in crate::ledger) struct JournalReader {
    folder: PathBuf,
}

impl JournalReader {
    pub(in crate::ledger) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reading waits for the disk, which a task must not.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let this = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&this)).await;
        done.map_err(|_| Fault::Closed)?
            .map_err(|error| Fault::Unavailable(format!("its files can't be read: {error}")))
    }

    /// Records in the order of arrival, after a position.
    pub(in crate::ledger) async fn page(&self, filter: Filter, after: i64, limit: u32) -> Result<Vec<Record>, Fault> {
        self.blocking(move |reader| reader.page_now(&filter, after, limit)).await
    }

    fn page_now(&self, filter: &Filter, after: i64, limit: u32) -> io::Result<Vec<Record>> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        if filter.outcome == Some(Outcome::Unknown) {
            let mut unknown = self.unknown(filter)?;
            unknown.retain(|record| record.position > after);
            unknown.truncate(limit);
            return Ok(unknown);
        }
        let mut page = Vec::new();
        if limit > 0 {
            self.records(self.start(filter)?.max(after), &mut |position, line| {
                if position > after && line.matches(filter) && line.ended_as(filter) {
                    page.push(line.to_record(position));
                }
                if page.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
        }
        Ok(page)
    }

    /// The newest records, oldest of them first.
    pub(in crate::ledger) async fn latest(&self, filter: Filter, limit: u32) -> Result<Vec<Record>, Fault> {
        self.blocking(move |reader| reader.latest_now(&filter, usize::try_from(limit).unwrap_or(usize::MAX))).await
    }

    fn latest_now(&self, filter: &Filter, limit: usize) -> io::Result<Vec<Record>> {
        if filter.outcome == Some(Outcome::Unknown) {
            let mut unknown = self.unknown(filter)?;
            return Ok(unknown.split_off(unknown.len().saturating_sub(limit)));
        }
        let mut newest = VecDeque::new();
        let (oldest, _) = Segment::of_position(self.start(filter)?);
        for segment in segments(&self.folder)?.into_iter().rev().filter(|segment| segment.number >= oldest) {
            let found = self.latest_of(segment, filter, limit - newest.len())?;
            found.into_iter().rev().for_each(|record| newest.push_front(record));
            if newest.len() >= limit {
                break;
            }
        }
        Ok(newest.into())
    }

    /// Looks at the end of a file first, and at more of it until there is enough.
    fn latest_of(&self, segment: Segment, filter: &Filter, limit: usize) -> io::Result<VecDeque<Record>> {
        let length = fs::metadata(self.folder.join(segment.file_name())).map_or(0, |metadata| metadata.len());
        let mut window = WINDOW;
        loop {
            let from = length.saturating_sub(window);
            let mut found = VecDeque::new();
            // what begins before the window is read with a larger one
            let mut whole = from == 0;
            let _ = lines(&self.folder, segment, from, &mut |raw| {
                if std::mem::replace(&mut whole, true)
                    && raw.is_ended
                    && let Ok(line) = read(raw.text)
                    && line.matches(filter)
                    && line.ended_as(filter)
                {
                    found.push_back(line.to_record(raw.position));
                    if found.len() > limit {
                        found.pop_front();
                    }
                }
                ControlFlow::Continue(())
            })?;
            if found.len() >= limit || from == 0 {
                return Ok(found);
            }
            window = window.saturating_mul(8);
        }
    }

    /// Intents from a time on that have no outcome.
    pub(in crate::ledger) async fn unfinished(&self, since: Option<i64>) -> Result<Vec<Record>, Fault> {
        self.blocking(move |reader| reader.unknown(&Filter { since, ..Filter::default() })).await
    }

    fn unknown(&self, filter: &Filter) -> io::Result<Vec<Record>> {
        let mut open = HashMap::new();
        self.records(self.start(filter)?, &mut |position, line| {
            match &*line.kind {
                "intent" if line.matches(filter) => {
                    open.insert(line.call.to_string(), line.to_record(position));
                }
                // the outcome itself may say that nobody knows
                "outcome" if filter.outcome.is_some() && line.ended_as(filter) && line.matches(filter) => {
                    open.insert(line.call.to_string(), line.to_record(position));
                }
                "outcome" => {
                    open.remove(&*line.call);
                }
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        let mut open: Vec<Record> = open.into_values().collect();
        open.sort_unstable_by_key(|record| record.position);
        Ok(open)
    }

    /// What the newest segment has is on the disk, whoever wrote it.
    pub(in crate::ledger) async fn sync(&self) -> Result<(), Fault> {
        self.blocking(|reader| match segments(&reader.folder)?.pop() {
            Some(last) => File::open(reader.folder.join(last.file_name()))?.sync_data(),
            None => Ok(()),
        })
        .await
    }

    /// Shows the checker what it wants to see, all in one go.
    pub(in crate::ledger) async fn scan(&self, scans: Vec<Scan>, mut checker: Checker) -> Result<Checker, Fault> {
        self.blocking(move |reader| {
            for scan in scans {
                match scan {
                    Scan::After(position) => show(&reader.folder, position, &mut checker)?,
                    Scan::Heads(heads, witness) => {
                        for head in heads {
                            reader.at(head.position, &mut |line| {
                                let found = line.filter(|line| line.writer == head.writer && line.seq == head.seq);
                                let parts = found
                                    .map(|line| (&line.previous.as_bytes()[..], &line.hash.as_bytes()[..], line.text));
                                checker.compare(&head, parts, &witness);
                            })?;
                        }
                    }
                    // records stand in the order in which they were written
                    Scan::Writer { .. } => {}
                }
            }
            Ok(checker)
        })
        .await
    }

    /// Shows the record at a position, or that there is none.
    fn at(&self, position: i64, show: &mut dyn FnMut(Option<&Line<'_>>)) -> io::Result<()> {
        let (number, offset) = Segment::of_position(position);
        let mut shown = false;
        for segment in segments(&self.folder)?.into_iter().filter(|segment| segment.number == number) {
            let _ = lines(&self.folder, segment, offset, &mut |raw| {
                shown = true;
                show(read(raw.text).ok().as_ref());
                ControlFlow::Break(())
            })?;
        }
        if !shown {
            show(None);
        }
        Ok(())
    }

    fn records(&self, from: i64, each: &mut dyn FnMut(i64, &Line<'_>) -> ControlFlow<()>) -> io::Result<()> {
        walk(&self.folder, from, &mut |raw| match read(raw.text) {
            Ok(line) if raw.is_ended => each(raw.position, &line),
            _ => ControlFlow::Continue(()),
        })
    }

    /// Where records of a filter can begin: in the segment that was begun a day early, since clocks are set.
    fn start(&self, filter: &Filter) -> io::Result<i64> {
        let Some(since) = filter.since else { return Ok(i64::MIN) };
        let early = Day::of(since).before();
        let first = segments(&self.folder)?.into_iter().rfind(|segment| segment.day < early);
        Ok(first.map_or(i64::MIN, |segment| segment.position(0)))
    }
}

/// Shows the checker every line after a position.
fn show(folder: &Path, after: i64, checker: &mut Checker) -> io::Result<()> {
    walk(folder, after, &mut |raw| {
        if raw.position > after {
            match read(raw.text) {
                Ok(line) if raw.is_ended => checker.take(&line.stored(raw.position)),
                // half a record, or one on its way: nobody was told that it is there
                Ok(_) | Err(NoRecord::Torn) => {}
                Err(NoRecord::Odd) => checker.unreadable(raw.position),
            }
        }
        ControlFlow::Continue(())
    })
}

/// Lets a checker go on to the end.
pub(super) fn advance(folder: &Path, mut checker: Checker) -> io::Result<Checker> {
    let after = if checker.heads().is_empty() { i64::MIN } else { checker.position() };
    show(folder, after, &mut checker)?;
    Ok(checker)
}
