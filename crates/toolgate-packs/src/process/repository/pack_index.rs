//! The index of a pack: where each of its objects begins. Version 2, read in place and never whole.

use std::{fs::File, os::unix::fs::FileExt, rc::Rc};

use super::{
    error::RepositoryError,
    object_id::{HashLength, ObjectId},
};

const HEAD: u64 = 8;
const FANOUT: usize = 256 * 4;
const DAMAGED: RepositoryError = RepositoryError::Damaged("pack index");

/// What is kept of an index while its file is closed.
pub(super) struct IndexHead {
    length: HashLength,
    /// For each first byte of a hash, the objects up to and including it.
    fanout: Vec<u32>,
}

/// An index with its file open.
pub(super) struct PackIndex {
    file: File,
    head: Rc<IndexHead>,
}

impl IndexHead {
    pub(super) fn read(file: &File, length: HashLength) -> Result<Self, RepositoryError> {
        let head: [u8; 8] = read_array(file, 0)?;
        if head != *b"\xfftOc\0\0\0\x02" {
            return Err(RepositoryError::Unsupported("has a pack index of another version than 2"));
        }
        let mut table = [0; FANOUT];
        file.read_exact_at(&mut table, HEAD).map_err(|_| DAMAGED)?;
        let (counts, _) = table.as_chunks::<4>();
        let fanout: Vec<u32> = counts.iter().map(|count| u32::from_be_bytes(*count)).collect();
        if !fanout.is_sorted() {
            return Err(DAMAGED);
        }
        Ok(Self { length, fanout })
    }

    /// Whether the pack has any object whose hash begins with this byte.
    pub(super) fn may_hold(&self, first: u8) -> bool {
        let (low, high) = self.range(first);
        low < high
    }

    /// The places of the objects whose hash begins with a byte.
    fn range(&self, first: u8) -> (u32, u32) {
        let before = usize::from(first).checked_sub(1).and_then(|before| self.fanout.get(before));
        (before.copied().unwrap_or(0), self.fanout.get(usize::from(first)).copied().unwrap_or(0))
    }

    fn count(&self) -> u32 {
        self.fanout.last().copied().unwrap_or_default()
    }
}

impl PackIndex {
    pub(super) fn new(file: File, head: Rc<IndexHead>) -> Self {
        Self { file, head }
    }

    /// The place of an object in the pack.
    pub(super) fn offset(&self, id: &ObjectId) -> Result<Option<u64>, RepositoryError> {
        let place = self.first_not_before(id.bytes())?;
        match self.id(place)? {
            Some(found) if found == *id => self.offset_of(place).map(Some),
            _ => Ok(None),
        }
    }

    /// The objects whose hash begins with some bytes and, where there is one, half a byte; two at most.
    pub(super) fn beginning_with(&self, bytes: &[u8], half: Option<u8>) -> Result<Vec<ObjectId>, RepositoryError> {
        let mut low = bytes.to_vec();
        low.extend(half.map(|half| half << 4));
        let mut found = Vec::new();
        let mut place = self.first_not_before(&low)?;
        while found.len() < 2 {
            let Some(id) = self.id(place)? else { break };
            let next = id.bytes().get(bytes.len()).map(|byte| byte >> 4);
            if !id.bytes().starts_with(bytes) || half.is_some() && next != half {
                break;
            }
            found.push(id);
            place += 1;
        }
        Ok(found)
    }

    /// The first place whose hash is not before the given bytes.
    fn first_not_before(&self, bytes: &[u8]) -> Result<u32, RepositoryError> {
        let (mut low, mut high) = self.head.range(bytes.first().copied().unwrap_or_default());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle)? {
                Some(id) if id.bytes() < bytes => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    fn id(&self, place: u32) -> Result<Option<ObjectId>, RepositoryError> {
        if place >= self.head.count() {
            return Ok(None);
        }
        let mut bytes = [0; 32];
        let bytes = bytes.get_mut(..self.head.length.bytes()).ok_or(DAMAGED)?;
        self.file.read_exact_at(bytes, self.names() + u64::from(place) * self.hash()).map_err(|_| DAMAGED)?;
        Ok(ObjectId::from_bytes(bytes))
    }

    /// Offsets of 31 bits; the highest bit means a place in a second table, of 64 bits each.
    fn offset_of(&self, place: u32) -> Result<u64, RepositoryError> {
        let count = u64::from(self.head.count());
        let offsets = self.names() + count * (self.hash() + 4);
        let small = u32::from_be_bytes(read_array(&self.file, offsets + u64::from(place) * 4)?);
        if small & 0x8000_0000 == 0 {
            return Ok(u64::from(small));
        }
        let large = offsets + count * 4 + u64::from(small & 0x7fff_ffff) * 8;
        Ok(u64::from_be_bytes(read_array(&self.file, large)?))
    }

    fn hash(&self) -> u64 {
        self.head.length.bytes() as u64
    }

    /// The place of the first hash in the file.
    fn names(&self) -> u64 {
        HEAD + FANOUT as u64
    }
}

fn read_array<const N: usize>(file: &File, offset: u64) -> Result<[u8; N], RepositoryError> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, offset).map_err(|_| DAMAGED)?;
    Ok(bytes)
}
