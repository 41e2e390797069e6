//! Strings in JSON, as whoever goes through them byte by byte sees them.

/// How many bytes of a string stand for themselves: up to a quote, a backslash or a control character.
///
/// Eight at a time. A borrow can make a byte above the first special one look special too, never one below it.
pub fn plain_bytes(rest: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGHS
    }
    let (words, tail) = rest.as_chunks::<8>();
    for (index, chunk) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let special = control | zeros(word ^ (ONES * 0x22)) | zeros(word ^ (ONES * 0x5C));
        if special != 0 {
            // each special byte has its highest bit set in it
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    rest.len() - tail.len() + tail.iter().position(is_special).unwrap_or(tail.len())
}

/// The position behind the quote that ends the JSON string which starts at `start`.
pub fn json_string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += bytes.get(at..).map_or(0, plain_bytes);
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

fn is_special(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..0x20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_special_is_found_wherever_it_stands_and_whatever_stands_around_it() {
        for length in 0..40 {
            for filler in [b'a', b' ', 0x21, 0x23, 0x5b, 0x5d, 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                let plain = vec![filler; length];
                assert_eq!(plain_bytes(&plain), length);
                for at in 0..length {
                    for special in [b'"', b'\\', 0, 0x1f] {
                        let mut text = plain.clone();
                        text[at] = special;
                        if let Some(after) = text.get_mut(at + 1) {
                            *after = special;
                        }
                        assert_eq!(plain_bytes(&text), at, "{text:?}");
                    }
                }
            }
        }
    }
}
