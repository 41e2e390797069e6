//! Bytes as people compare them.

/// Two digits for each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    let mut text = vec![0; bytes.len() * 2];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 15)];
    }
    // digits and letters are always text
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(super::hex(&[0, 9, 10, 0x7f, 0xff]), "00090a7fff");
        assert_eq!(super::hex(&[]), "");
    }
}
