//! Going through the segments line by line, in the order of arrival.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    ops::ControlFlow,
    path::Path,
};

use memchr::memchr;

use super::segment::Segment;

const CHUNK: usize = 1 << 20;
/// Longer than any record: something else was written here, and it is not kept in memory.
const LONGEST: usize = 4 << 20;

/// One line as it stands in a segment.
pub(super) struct RawLine<'a> {
    pub(super) position: i64,
    pub(super) text: &'a [u8],
    /// False for the end of a file that has no line break: half a record, or one on its way.
    pub(super) is_ended: bool,
}

pub(super) type EachLine<'a> = dyn FnMut(&RawLine<'_>) -> ControlFlow<()> + 'a;

/// The segments there are, oldest first. Other files in the folder are nobody's business.
pub(super) fn segments(folder: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder)? {
        segments.extend(entry?.file_name().to_str().and_then(Segment::from_file_name));
    }
    segments.sort_unstable();
    Ok(segments)
}

/// Shows every line from a position on, until one breaks off.
pub(super) fn walk(folder: &Path, from: i64, each: &mut EachLine<'_>) -> io::Result<()> {
    let (first, offset) = Segment::of_position(from);
    for segment in segments(folder)?.into_iter().filter(|segment| segment.number >= first) {
        let from = if segment.number == first { offset } else { 0 };
        if lines(folder, segment, from, each)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The lines of one segment.
pub(super) fn lines(
    folder: &Path,
    segment: Segment,
    from: u64,
    each: &mut EachLine<'_>,
) -> io::Result<ControlFlow<()>> {
    let path = folder.join(segment.file_name());
    // A pipe would be waited for, and a device has no end. What stood there is found to be missing.
    if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
        return Ok(ControlFlow::Continue(()));
    }
    match File::open(path) {
        Ok(file) => lines_of(file, from, &|offset| segment.position(offset), each),
        // put away since the folder was looked at
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(ControlFlow::Continue(())),
        Err(error) => Err(error),
    }
}

/// Opens a regular file. A pipe would be waited for, and a device has no end.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    Err(io::Error::other(format!("'{}' is no regular file", path.display())))
}

/// The lines of a file from an offset on, each with the position that its offset stands for.
pub(super) fn lines_of(
    mut file: File,
    from: u64,
    position_of: &dyn Fn(u64) -> i64,
    each: &mut EachLine<'_>,
) -> io::Result<ControlFlow<()>> {
    file.seek(SeekFrom::Start(from))?;
    let (mut buffer, mut start) = (Vec::with_capacity(CHUNK), from);
    loop {
        let filled = buffer.len();
        let read = Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut buffer)?;
        let mut done = 0;
        let mut searched = filled;
        while let Some(length) = buffer.get(searched..).and_then(|rest| memchr(b'\n', rest)) {
            let end = searched + length;
            let text = buffer.get(done..end).unwrap_or_default();
            let line = RawLine { position: position_of(start + done as u64), text, is_ended: true };
            if !text.is_empty() && each(&line).is_break() {
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
    if buffer.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    Ok(each(&RawLine { position: position_of(start), text: &buffer, is_ended: false }))
}

/// The bytes of all segments, but for one.
pub(super) fn bytes(folder: &Path, except: Option<Segment>) -> io::Result<u64> {
    let mut bytes = 0;
    for segment in segments(folder)?.into_iter().filter(|segment| Some(*segment) != except) {
        bytes += fs::metadata(folder.join(segment.file_name())).map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}
