//! The text of a PDF, page by page, as far as its fonts say which letters they show.

use lopdf::{Document, LoadOptions};

use super::TextFault;

/// Pages that are read before looking whether that is enough.
const TOGETHER: usize = 16;

pub(super) fn text(content: &[u8], most: usize) -> Result<String, TextFault> {
    let broken = |fault: &lopdf::Error| TextFault::Broken(fault.to_string());
    // a page holds more than its text: where each letter stands
    let unpacked = most.saturating_mul(10);
    let options = LoadOptions { max_decompressed_size: Some(unpacked), ..LoadOptions::default() };
    let document = Document::load_mem_with_options(content, options).map_err(|fault| broken(&fault))?;
    if document.is_encrypted() {
        return Err(TextFault::Broken("it is encrypted".to_owned()));
    }
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    let mut text = String::new();
    let mut fault = None;
    for some in pages.chunks(TOGETHER) {
        for chunk in document.extract_text_chunks_with_limit(some, unpacked) {
            match chunk {
                Ok(chunk) => text.push_str(&chunk),
                // one page that can't be read does not hide the others
                Err(one) => fault = Some(one),
            }
        }
        if text.len() > most {
            break;
        }
    }
    match fault {
        Some(fault) if text.trim().is_empty() => Err(broken(&fault)),
        _ => Ok(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pdf_is_broken() {
        for content in [&b""[..], b"%PDF-1.7\n", b"%PDF-1.7\n1 0 obj\n<<", &[0xff; 5000]] {
            assert!(matches!(text(content, 1000), Err(TextFault::Broken(_))));
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        let deep = format!("%PDF-1.7\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF", "[".repeat(500_000));
        let _ = text(deep.as_bytes(), 1000);
        let deep = format!("%PDF-1.7\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF", "<</A".repeat(200_000));
        let _ = text(deep.as_bytes(), 1000);
    }
}
