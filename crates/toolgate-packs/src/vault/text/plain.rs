//! Text as it is: UTF-8, or UTF-16 where the file says so. What is neither is shown as far as it can be.

pub(super) fn text(content: &[u8]) -> String {
    match content {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        content => String::from_utf8_lossy(content).into_owned(),
    }
}

fn wide(content: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let units = content.chunks_exact(2).filter_map(|pair| pair.try_into().ok()).map(unit);
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_at_the_beginning_says_how_it_is_written() {
        assert_eq!(text("水".as_bytes()), "水");
        assert_eq!(text(b"\xef\xbb\xbfa"), "a");
        assert_eq!(text(b"\xff\xfea\0b\0"), "ab");
        assert_eq!(text(b"\xfe\xff\0a\0b"), "ab");
        assert_eq!(text(b"a\xffb"), "a\u{fffd}b");
    }
}
