//! The objects of a pack, whole or as deltas of others in it.

use std::{fs::File, os::unix::fs::FileExt};

use super::{
    budget::WorkBudget,
    delta::apply_delta,
    error::RepositoryError,
    inflate::{inflate_at, most_compressed, read_exactly},
    object::{Object, ObjectKind},
    object_id::{HashLength, ObjectId},
    object_store::MOST_BYTES,
    pack_index::PackIndex,
};

/// Deltas of deltas. Git itself makes at most 4,095.
const DEEPEST: usize = 4_096;
const DAMAGED: RepositoryError = RepositoryError::Damaged("pack");

/// An entry's head: what it is, how large, and where its compressed data begins.
struct PackEntry {
    content: EntryContent,
    size: u64,
    data: u64,
}

enum EntryContent {
    Whole(ObjectKind),
    DeltaOf(u64),
}

/// Reads the object that begins at an offset.
pub(super) fn read_object(
    pack: &File,
    index: &PackIndex,
    length: HashLength,
    offset: u64,
    budget: &WorkBudget,
) -> Result<Object, RepositoryError> {
    let mut deltas = Vec::new();
    let mut next = offset;
    let (kind, mut data) = loop {
        budget.charge(0)?;
        let entry = read_entry(pack, index, length, next)?;
        match entry.content {
            EntryContent::Whole(kind) => break (kind, inflate(pack, &entry, budget)?),
            EntryContent::DeltaOf(base) => {
                if deltas.len() >= DEEPEST {
                    return Err(DAMAGED);
                }
                deltas.push(entry);
                next = base;
            }
        }
    };
    for delta in deltas.iter().rev() {
        data = apply_delta(&data, &inflate(pack, delta, budget)?, MOST_BYTES)?;
    }
    Ok(Object { kind, data })
}

fn inflate(pack: &File, entry: &PackEntry, budget: &WorkBudget) -> Result<Vec<u8>, RepositoryError> {
    if entry.size > MOST_BYTES {
        return Err(RepositoryError::LargeObject);
    }
    budget.charge(entry.size)?;
    read_exactly(inflate_at(pack, entry.data, most_compressed(entry.size)), entry.size).ok_or(DAMAGED)
}

fn read_entry(pack: &File, index: &PackIndex, length: HashLength, offset: u64) -> Result<PackEntry, RepositoryError> {
    // ten bytes for a size, then ten for an offset or a hash
    let mut bytes = [0; 48];
    let read = pack.read_at(&mut bytes, offset).map_err(|_| DAMAGED)?;
    let bytes = bytes.get(..read).unwrap_or_default();
    let mut input = bytes.iter().copied();
    let mut byte = input.next().ok_or(DAMAGED)?;
    let kind = (byte >> 4) & 7;
    let mut size = u64::from(byte & 0x0f);
    let mut shift = 4;
    while byte & 0x80 != 0 {
        byte = input.next().filter(|_| shift < 57).ok_or(DAMAGED)?;
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    let content = match kind {
        1 => EntryContent::Whole(ObjectKind::Commit),
        2 => EntryContent::Whole(ObjectKind::Tree),
        3 => EntryContent::Whole(ObjectKind::Blob),
        4 => EntryContent::Whole(ObjectKind::Tag),
        6 => {
            let back = distance(&mut input)?;
            EntryContent::DeltaOf(offset.checked_sub(back).filter(|_| back > 0).ok_or(DAMAGED)?)
        }
        7 => {
            let id: Vec<u8> = input.by_ref().take(length.bytes()).collect();
            let id = ObjectId::from_bytes(&id).ok_or(DAMAGED)?;
            EntryContent::DeltaOf(index.offset(&id)?.ok_or(RepositoryError::MissingObject)?)
        }
        _ => return Err(DAMAGED),
    };
    let head = bytes.len() - input.len();
    Ok(PackEntry { content, size, data: offset.saturating_add(head as u64) })
}

/// The distance back to a base: seven bits a byte, the highest first, each further byte adding one.
fn distance(input: &mut impl Iterator<Item = u8>) -> Result<u64, RepositoryError> {
    let mut byte = input.next().ok_or(DAMAGED)?;
    let mut distance = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = input.next().filter(|_| distance < 1 << 55).ok_or(DAMAGED)?;
        distance = (distance + 1) << 7 | u64::from(byte & 0x7f);
    }
    Ok(distance)
}
