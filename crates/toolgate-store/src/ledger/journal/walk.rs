//! Going through the files line by line, in the order of arrival.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    ops::ControlFlow,
    path::Path,
};

use memchr::memchr;

use super::day::Day;

const CHUNK: usize = 1 << 20;
/// Longer than any record: something else was written here, and it is not kept in memory.
const LONGEST: usize = 4 << 20;

/// The days there are files of, oldest first. Other files in the folder are nobody's business.
pub(super) fn days(folder: &Path) -> io::Result<Vec<Day>> {
    let mut days = Vec::new();
    for entry in fs::read_dir(folder)? {
        days.extend(entry?.file_name().to_str().and_then(Day::from_file_name));
    }
    days.sort_unstable();
    Ok(days)
}

/// Shows every line from a place on with its position, until one breaks off.
pub(super) fn walk(
    folder: &Path,
    (first, offset): (Day, u64),
    each: &mut dyn FnMut(i64, &[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    for day in days(folder)?.into_iter().filter(|day| *day >= first) {
        let from = if day == first { offset } else { 0 };
        if lines(folder, day, from, each)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The lines of one day. The last may be half written; whoever looks at it can tell.
pub(super) fn lines(
    folder: &Path,
    day: Day,
    from: u64,
    each: &mut dyn FnMut(i64, &[u8]) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut file = match File::open(folder.join(day.file_name())) {
        Ok(file) => file,
        // put away since the folder was looked at
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ControlFlow::Continue(())),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let (mut buffer, mut start) = (Vec::with_capacity(CHUNK), from);
    loop {
        let filled = buffer.len();
        let read = Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut buffer)?;
        let mut done = 0;
        let mut searched = filled;
        while let Some(length) = buffer.get(searched..).and_then(|rest| memchr(b'\n', rest)) {
            let end = searched + length;
            let line = buffer.get(done..end).unwrap_or_default();
            if !line.is_empty() && each(day.position(start + done as u64), line).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            done = end + 1;
            searched = done;
        }
        start += done as u64;
        buffer.drain(..done);
        if read == 0 {
            break;
        }
        if buffer.len() > LONGEST {
            // its beginning stands for all of it
            start += (buffer.len() - LONGEST) as u64;
            buffer.truncate(LONGEST);
        }
    }
    if buffer.is_empty() { Ok(ControlFlow::Continue(())) } else { Ok(each(day.position(start), &buffer)) }
}

/// What all files take together, but for one day's.
pub(super) fn bytes(folder: &Path, except: Day) -> io::Result<u64> {
    let mut bytes = 0;
    for day in days(folder)?.into_iter().filter(|day| *day != except) {
        bytes += fs::metadata(folder.join(day.file_name())).map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}
