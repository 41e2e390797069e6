//! Deltas of a pack: an object as copies out of another one, and insertions.

use super::error::RepositoryError;

const DAMAGED: RepositoryError = RepositoryError::Damaged("pack");

/// Makes the object that a delta describes. Its size is what the delta says, and at most `most` bytes.
pub(super) fn apply_delta(base: &[u8], delta: &[u8], most: u64) -> Result<Vec<u8>, RepositoryError> {
    let mut input = delta;
    if size(&mut input)? != base.len() as u64 {
        return Err(DAMAGED);
    }
    let target = size(&mut input)?;
    if target > most {
        return Err(RepositoryError::LargeObject);
    }
    let target = usize::try_from(target).map_err(|_| RepositoryError::LargeObject)?;
    let mut made = Vec::with_capacity(target);
    while let Some(command) = next(&mut input) {
        if command & 0x80 != 0 {
            let offset = selected(&mut input, command, 4)?;
            let length = match selected(&mut input, command >> 4, 3)? {
                0 => 0x1_0000,
                length => length,
            };
            let end = offset.checked_add(length).ok_or(DAMAGED)?;
            made.extend_from_slice(base.get(offset..end).ok_or(DAMAGED)?);
        } else if command != 0 {
            let (inserted, rest) = input.split_at_checked(usize::from(command)).ok_or(DAMAGED)?;
            made.extend_from_slice(inserted);
            input = rest;
        } else {
            return Err(DAMAGED);
        }
        if made.len() > target {
            return Err(DAMAGED);
        }
    }
    if made.len() == target { Ok(made) } else { Err(DAMAGED) }
}

/// A number of seven bits a byte, the lowest first.
fn size(input: &mut &[u8]) -> Result<u64, RepositoryError> {
    let mut number = 0_u64;
    for shift in (0..63).step_by(7) {
        let byte = next(input).ok_or(DAMAGED)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(DAMAGED)
}

/// A number of those of its bytes that the flags name, the lowest first.
fn selected(input: &mut &[u8], flags: u8, count: usize) -> Result<usize, RepositoryError> {
    let mut number = 0;
    for place in 0..count {
        if flags & (1 << place) != 0 {
            number |= usize::from(next(input).ok_or(DAMAGED)?) << (8 * place);
        }
    }
    Ok(number)
}

fn next(input: &mut &[u8]) -> Option<u8> {
    let (first, rest) = input.split_first()?;
    *input = rest;
    Some(*first)
}
