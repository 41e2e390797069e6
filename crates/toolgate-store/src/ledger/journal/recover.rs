//! Recovery after a power cut or a killed process: what is no record is cut off, kept aside and put on record.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    ops::ControlFlow,
    path::Path,
};

use aws_lc_rs::digest;
use memchr::{memchr, memrchr};

use super::{
    disk::Disk,
    line_reader::{self, lines},
    segment::Segment,
};
use crate::ledger::chain::hex;

const CHUNK: u64 = 64 << 10;

/// Bytes that were no record, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Damage {
    segment: String,
    offset: u64,
    position: i64,
    bytes: u64,
    digest: String,
    kept: String,
}

impl Damage {
    /// The member of the record that says so.
    pub(super) fn member(&self) -> String {
        let Self { segment, offset, position, bytes, digest, kept } = self;
        format!(
            ",\"damaged\":{{\"segment\":\"{segment}\",\"offset\":{offset},\"position\":{position},\"bytes\":{bytes},\"sha256\":\"{digest}\",\"kept\":\"{kept}\"}}"
        )
    }
}

/// The first damage of the newest segment from a position on: a line without an end, or with NUL bytes in it, as a file
/// system leaves them after a power cut. Every sync covers the whole file, so nothing after it was acknowledged as durable.
/// Other lines that are no records are not taken for damage: verifying finds them.
pub(super) fn find(folder: &Path, from: i64) -> io::Result<Option<(Segment, u64)>> {
    let Some(last) = line_reader::segments(folder)?.pop() else { return Ok(None) };
    let (number, offset) = Segment::of_position(from);
    let from = if number == last.number { offset } else { 0 };
    let mut found = None;
    let _ = lines(folder, last, from, &mut |line| {
        if line.is_ended && memchr(0, line.text).is_none() {
            return ControlFlow::Continue(());
        }
        found = Some((last, Segment::of_position(line.position).1));
        ControlFlow::Break(())
    })?;
    Ok(found)
}

/// The place after the last line break, if something stands there.
pub(super) fn torn_tail(file: &File, length: u64) -> io::Result<Option<u64>> {
    let (mut file, mut end, mut chunk) = (file, length, Vec::new());
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        file.seek(SeekFrom::Start(start))?;
        chunk.clear();
        Read::by_ref(&mut file).take(end - start).read_to_end(&mut chunk)?;
        if let Some(at) = memrchr(b'\n', &chunk) {
            let after = start + at as u64 + 1;
            return Ok((after < length).then_some(after));
        }
        end = start;
    }
    Ok((length > 0).then_some(0))
}

/// Cuts a segment at an offset; what stood there is kept in a file beside it first. Where the system lets nobody cut a
/// file, the damage gets a line break and stays.
pub(super) fn cut(disk: &Disk, folder: &Path, segment: Segment, offset: u64) -> io::Result<Damage> {
    let name = segment.file_name();
    let kept = format!("{name}.{offset}.damaged");
    let mut from = File::open(folder.join(&name))?;
    from.seek(SeekFrom::Start(offset))?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut to = options.open(folder.join(&kept))?;
    let (mut context, mut bytes, mut chunk) = (digest::Context::new(&digest::SHA256), 0, Vec::new());
    loop {
        chunk.clear();
        let read = Read::by_ref(&mut from).take(CHUNK).read_to_end(&mut chunk)?;
        if read == 0 {
            break;
        }
        context.update(&chunk);
        to.write_all(&chunk)?;
        bytes += read as u64;
    }
    disk.sync(&to)?;
    disk.sync_folder(folder)?;
    let file = OpenOptions::new().append(true).open(folder.join(&name))?;
    if file.set_len(offset).is_err() {
        disk.append(&file, b"\n")?;
    }
    disk.sync(&file)?;
    let mut digits = String::with_capacity(64);
    hex(&mut digits, context.finish().as_ref());
    tracing::warn!(segment = name, offset, bytes, kept, "the ledger was damaged at its end, and is recovered");
    Ok(Damage { segment: name, offset, position: segment.position(offset), bytes, digest: digits, kept })
}
