//! Compressed data, read from a place in a file.

use std::{
    fs::File,
    io::{self, BufReader, Read, Take},
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

/// Returns what was compressed at an offset of a file into at most `most` bytes.
pub(super) fn inflate_at(file: &File, offset: u64, most: u64) -> ZlibDecoder<BufReader<Take<FileFrom<'_>>>> {
    ZlibDecoder::new(BufReader::with_capacity(4_096, FileFrom { file, offset }.take(most)))
}

/// The most bytes that data of a size may be compressed into. Data that does not shrink grows by far less; a stream may hold
/// any number of empty blocks, and reading them would be work that nothing counts.
pub(super) fn most_compressed(size: u64) -> u64 {
    size.saturating_add(size / 8).saturating_add(64 << 10)
}

/// Reads exactly `size` bytes, or `None` where there are fewer, or where they are not compressed as they should be.
pub(super) fn read_exactly(from: impl Read, size: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    from.take(size).read_to_end(&mut data).ok()?;
    (data.len() as u64 == size).then_some(data)
}
