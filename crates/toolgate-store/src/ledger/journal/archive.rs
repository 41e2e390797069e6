//! Segments that become archives, and archives that are read again.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use aws_lc_rs::digest;

use super::{
    line::{NoRecord, read},
    line_reader::{lines, lines_of, open_regular, segments},
    reader::JournalReader,
    segment::Segment,
};
use crate::{
    error::Fault,
    ledger::{Checker, CopiedPart, Hash, archive::temporary},
};

const CHUNK: usize = 1 << 20;

/// The file of an archive.
pub(in crate::ledger) struct ArchivedFile<'a> {
    pub(in crate::ledger) path: &'a Path,
    /// The name that its seal has for it: that of a segment, where it was one.
    pub(in crate::ledger) name: &'a str,
    /// The position after which its records begin.
    pub(in crate::ledger) after: i64,
}

/// The earliest and the latest time in a file; zeros where it has no record.
#[derive(Default)]
pub(in crate::ledger) struct RecordTimes {
    pub(in crate::ledger) first: i64,
    pub(in crate::ledger) last: i64,
}

impl ArchivedFile<'_> {
    /// SHA-256 and the number of bytes.
    pub(in crate::ledger) fn digest(&self) -> io::Result<(Hash, u64)> {
        let mut file = open_regular(self.path)?;
        let (mut context, mut bytes, mut chunk) = (digest::Context::new(&digest::SHA256), 0, vec![0; CHUNK]);
        loop {
            let read = file.read(&mut chunk)?;
            if read == 0 {
                break;
            }
            context.update(chunk.get(..read).unwrap_or_default());
            bytes += read as u64;
        }
        Ok((Hash::from_slice(context.finish().as_ref()).unwrap_or(Hash::NOTHING), bytes))
    }

    /// Shows the checker every line. Records have the positions that they had in a segment; those of a table are counted.
    pub(in crate::ledger) fn show(&self, checker: &mut Checker) -> io::Result<RecordTimes> {
        let segment = Segment::from_file_name(self.name);
        let (mut times, mut number) = (None::<RecordTimes>, self.after);
        let position_of = |offset| segment.map_or(0, |segment| segment.position(offset));
        let _ = lines_of(open_regular(self.path)?, 0, &position_of, &mut |raw| {
            number = number.saturating_add(1);
            let position = if segment.is_some() { raw.position } else { number };
            match read(raw.text) {
                Ok(line) if raw.is_ended => {
                    checker.take(&line.stored(position));
                    let seen = times.get_or_insert(RecordTimes { first: line.time, last: line.time });
                    (seen.first, seen.last) = (seen.first.min(line.time), seen.last.max(line.time));
                }
                Ok(_) | Err(NoRecord::Torn | NoRecord::Odd) => checker.unreadable(position),
            }
            ControlFlow::Continue(())
        })?;
        Ok(times.unwrap_or_default())
    }
}

impl JournalReader {
    /// Copies the oldest segment after a position, if it is not the newest one and all its records are older than a time.
    pub(in crate::ledger) async fn copy_part(
        &self,
        after: i64,
        before: i64,
        to: PathBuf,
    ) -> Result<Option<CopiedPart>, Fault> {
        self.blocking(move |reader| copy_segment(reader.folder(), after, before, &to)).await
    }

    /// Removes the segments up to a position, but never the newest.
    pub(in crate::ledger) async fn remove_until(&self, until: i64) -> Result<(), Fault> {
        self.blocking(move |reader| {
            let (folder, (last, _)) = (reader.folder(), Segment::of_position(until));
            let mut segments = segments(folder)?;
            segments.pop();
            for segment in segments.into_iter().filter(|segment| segment.number <= last) {
                fs::remove_file(folder.join(segment.file_name()))?;
            }
            File::open(folder)?.sync_all()
        })
        .await
    }
}

fn copy_segment(folder: &Path, after: i64, before: i64, to: &Path) -> io::Result<Option<CopiedPart>> {
    let (archived, _) = Segment::of_position(after);
    let mut segments = segments(folder)?;
    segments.pop();
    let Some(segment) = segments.into_iter().find(|segment| segment.number > archived) else { return Ok(None) };
    if !is_older(folder, segment, before)? {
        return Ok(None);
    }
    let file = segment.file_name();
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(temporary(to, &file))?;
    io::copy(&mut open_regular(&folder.join(&file))?, &mut copy)?;
    copy.sync_all()?;
    Ok(Some(CopiedPart { file, until: segment.position(u64::MAX) }))
}

fn is_older(folder: &Path, segment: Segment, before: i64) -> io::Result<bool> {
    let flow = lines(folder, segment, 0, &mut |raw| match read(raw.text) {
        Ok(line) if line.time >= before => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })?;
    Ok(flow.is_continue())
}
