//! Messages in a stream: server-sent events over HTTP (without ids: streams are not resumed), lines over stdio.

use bytes::Bytes;

/// A comment line that keeps idle connections open.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// One `message` event on one data line.
pub(crate) fn event(parts: &[&[u8]]) -> Bytes {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length + 32);
    out.extend_from_slice(b"event: message\ndata: ");
    for part in parts {
        push_on_one_line(&mut out, part);
    }
    out.extend_from_slice(b"\n\n");
    out.into()
}

/// A raw line break can only be white space between tokens (in strings it is escaped), so it may go.
fn push_on_one_line(out: &mut Vec<u8>, part: &[u8]) {
    let mut rest = part;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let (line, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(line);
        out.push(b' ');
        rest = after.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// One line of stdio.
pub(crate) fn line(parts: &[&[u8]]) -> Bytes {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length + 1);
    for part in parts {
        push_on_one_line(&mut out, part);
    }
    out.push(b'\n');
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_data_line() {
        assert_eq!(event(&[b"{\"a\":", b"1}"]), "event: message\ndata: {\"a\":1}\n\n");
        assert_eq!(event(&[b"{\r\n\"a\":1\n}"]), "event: message\ndata: {  \"a\":1 }\n\n");
    }

    #[test]
    fn a_line_ends_once() {
        assert_eq!(line(&[b"{\n", b"}\n"]), "{ } \n");
    }
}
