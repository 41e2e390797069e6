//! The text of a Word document: paragraphs of `word/document.xml` in the zip archive that it is.

use std::io::{Cursor, Read};

use quick_xml::{Reader, events::Event};
use zip::ZipArchive;

use super::TextFault;

const PART: &str = "word/document.xml";

pub(super) fn text(content: &[u8], most: usize) -> Result<String, TextFault> {
    let broken = |fault: &dyn std::fmt::Display| TextFault::Broken(fault.to_string());
    let mut archive = ZipArchive::new(Cursor::new(content)).map_err(|fault| broken(&fault))?;
    let part = archive.by_name(PART).map_err(|fault| broken(&fault))?;
    // what the archive says of the size is not believed; tags may take ten times what their text does
    let limit = most.saturating_mul(10);
    let mut xml = Vec::new();
    part.take(u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1))
        .read_to_end(&mut xml)
        .map_err(|fault| broken(&fault))?;
    if xml.len() > limit {
        return Err(TextFault::TooLarge(limit));
    }
    paragraphs(&String::from_utf8_lossy(&xml))
}

/// Reads tags one after another and keeps no tree, so that nesting costs nothing.
fn paragraphs(xml: &str) -> Result<String, TextFault> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut text = String::new();
    let mut within = false;
    loop {
        match reader.read_event().map_err(|fault| TextFault::Broken(fault.to_string()))? {
            Event::Start(tag) if tag.local_name().as_ref() == "t" => within = true,
            Event::Empty(tag) => match tag.local_name().as_ref() {
                "tab" => text.push('\t'),
                "br" | "cr" | "p" => text.push('\n'),
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                "t" => within = false,
                "p" => text.push('\n'),
                "tc" => text.push('\t'),
                _ => {}
            },
            Event::Text(words) if within => text.push_str(&words),
            Event::GeneralRef(name) if within => text.push_str(&character(&name)),
            Event::Eof => return Ok(text.trim().to_owned()),
            _ => {}
        }
    }
}

/// The five that XML knows, and numbers. Nothing else is looked up.
fn character(name: &str) -> String {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let known = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        name => match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
            Some(digits) => number(digits, 16),
            None => name.strip_prefix('#').and_then(|digits| number(digits, 10)),
        },
    };
    known.map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_lines_and_only_text_is_text() {
        let xml = "<w:document><w:body><w:p><w:pPr>no</w:pPr><w:r><w:t>One &amp; </w:t><w:tab/><w:t>two&#33;</w:t></w:r></w:p>\
            <w:p><w:r><w:t>水</w:t></w:r></w:p></w:body></w:document>";
        assert_eq!(paragraphs(xml).unwrap(), "One & \ttwo!\n水");
    }

    #[test]
    fn entities_are_not_looked_up_and_nesting_costs_nothing() {
        let laughs = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><w:p><w:t>&b;x</w:t></w:p>";
        assert_eq!(paragraphs(laughs).unwrap(), "x");
        let deep = format!("{}<w:t>deep</w:t>", "<w:x>".repeat(300_000));
        assert_eq!(paragraphs(&deep).unwrap(), "deep");
    }

    #[test]
    fn what_is_no_archive_or_has_no_text_is_broken() {
        assert!(matches!(text(b"PK\x03\x04 not really", 100), Err(TextFault::Broken(_))));
        assert!(matches!(text(b"", 100), Err(TextFault::Broken(_))));
    }
}
