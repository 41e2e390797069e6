//! Bytes as people compare them.

/// Two digits for each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 });
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(super::hex(&[0, 9, 10, 0x7f, 0xff]), "00090a7fff");
        assert_eq!(super::hex(&[]), "");
    }
}
