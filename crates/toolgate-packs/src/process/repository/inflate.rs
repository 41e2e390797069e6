//! Compressed data, read from a place in a file.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    os::unix::fs::FileExt,
};

use flate2::bufread::ZlibDecoder;

/// A file from an offset on. Reading does not move the file's own position.
pub(super) struct FileFrom<'f> {
    file: &'f File,
    offset: u64,
}

impl Read for FileFrom<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset = self.offset.saturating_add(read as u64);
        Ok(read)
    }
}

/// Returns what was compressed at an offset of a file.
pub(super) fn inflate_at(file: &File, offset: u64) -> ZlibDecoder<BufReader<FileFrom<'_>>> {
    ZlibDecoder::new(BufReader::with_capacity(4_096, FileFrom { file, offset }))
}

/// Reads exactly `size` bytes, or `None` where there are fewer, or where they are not compressed as they should be.
pub(super) fn read_exactly(from: impl Read, size: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    from.take(size).read_to_end(&mut data).ok()?;
    (data.len() as u64 == size).then_some(data)
}
