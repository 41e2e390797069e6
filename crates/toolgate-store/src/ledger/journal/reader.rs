//! Reading the files: everything is found by going through them, a day at a time.

use std::{
    collections::{HashMap, VecDeque},
    fs, io,
    ops::ControlFlow,
    path::PathBuf,
};

use super::{
    day::Day,
    line::{Line, NoRecord, read},
    walk::{days, lines, walk},
};
use crate::{
    error::Fault,
    ledger::{Checker, Filter, Head, Outcome, Record, Scan},
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

    /// Reading waits for the disk, which a task must not.
    async fn blocking<T: Send + 'static>(
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
            self.records(start(filter).max(after), &mut |position, line| {
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
        let oldest = Day::of_position(start(filter)).0;
        for day in days(&self.folder)?.into_iter().rev().filter(|day| *day >= oldest) {
            let found = self.latest_of(day, filter, limit - newest.len())?;
            found.into_iter().rev().for_each(|record| newest.push_front(record));
            if newest.len() >= limit {
                break;
            }
        }
        Ok(newest.into())
    }

    /// Looks at the end of a file first, and at more of it until there is enough.
    fn latest_of(&self, day: Day, filter: &Filter, limit: usize) -> io::Result<VecDeque<Record>> {
        let length = fs::metadata(self.folder.join(day.file_name())).map_or(0, |metadata| metadata.len());
        let mut window = WINDOW;
        loop {
            let from = length.saturating_sub(window);
            let mut found = VecDeque::new();
            // what begins before the window is read with a larger one
            let mut whole = from == 0;
            let _ = lines(&self.folder, day, from, &mut |position, text| {
                if std::mem::replace(&mut whole, true)
                    && let Ok(line) = read(text)
                    && line.matches(filter)
                    && line.ended_as(filter)
                {
                    found.push_back(line.to_record(position));
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
        self.records(start(filter), &mut |position, line| {
            match &*line.kind {
                "intent" if line.matches(filter) => {
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

    /// Every writer's last record.
    pub(in crate::ledger) async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.blocking(|reader| {
            let mut heads: HashMap<String, Head> = HashMap::new();
            reader.records(i64::MIN, &mut |_, line| {
                match heads.get_mut(&*line.writer) {
                    Some(head) if head.seq < line.seq => (head.seq, head.hash) = (line.seq, line.hash),
                    Some(_) => {}
                    None => {
                        let writer = line.writer.to_string();
                        heads.insert(writer.clone(), Head { writer, seq: line.seq, hash: line.hash });
                    }
                }
                ControlFlow::Continue(())
            })?;
            let mut heads: Vec<Head> = heads.into_values().collect();
            heads.sort_unstable_by(|one, other| one.writer.cmp(&other.writer));
            Ok(heads)
        })
        .await
    }

    /// Shows the checker what it wants to see, all in one go.
    pub(in crate::ledger) async fn scan(&self, scans: Vec<Scan>, mut checker: Checker) -> Result<Checker, Fault> {
        self.blocking(move |reader| {
            let mut from: HashMap<String, i64> = HashMap::new();
            let mut everything = false;
            for scan in scans {
                match scan {
                    Scan::Everything => everything = true,
                    Scan::Writer { writer, from: seq } => drop(from.insert(writer, seq)),
                }
            }
            let wanted = |line: &Line<'_>| everything || from.get(&*line.writer).is_some_and(|seq| line.seq >= *seq);
            walk(&reader.folder, Day::of_position(i64::MIN), &mut |position, text| {
                match read(text) {
                    Ok(line) if wanted(&line) => checker.take(&line.stored(position)),
                    Ok(_) | Err(NoRecord::Torn) => {}
                    Err(NoRecord::Odd) => checker.unreadable(position),
                }
                ControlFlow::Continue(())
            })?;
            Ok(checker)
        })
        .await
    }

    fn records(&self, from: i64, each: &mut dyn FnMut(i64, &Line<'_>) -> ControlFlow<()>) -> io::Result<()> {
        walk(&self.folder, Day::of_position(from), &mut |position, text| match read(text) {
            Ok(line) => each(position, &line),
            Err(_) => ControlFlow::Continue(()),
        })
    }
}

/// Where records of a filter can begin: a day early, since clocks are set.
fn start(filter: &Filter) -> i64 {
    filter.since.map_or(i64::MIN, |since| Day::of(since).before().position(0))
}
