//! What kind of thing a document is, by its name.

use serde::{Deserialize, Serialize};

use super::{names, text::Format};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Doc,
    Pdf,
    Deck,
    Sheet,
    Email,
    Folder,
    Unknown,
}

/// Where a document comes from. All that is in the folder is the vault's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    Vault,
    Drive,
    Gmail,
    Upload,
    Unknown,
}

/// Extension, kind, media type, and how its text is read.
type Known = (&'static str, Kind, &'static str, Option<Format>);

const KNOWN: &[Known] = &[
    ("txt", Kind::Doc, "text/plain", Some(Format::Plain)),
    ("md", Kind::Doc, "text/markdown", Some(Format::Plain)),
    ("markdown", Kind::Doc, "text/markdown", Some(Format::Plain)),
    ("html", Kind::Doc, "text/html", Some(Format::Html)),
    ("htm", Kind::Doc, "text/html", Some(Format::Html)),
    ("json", Kind::Doc, "application/json", Some(Format::Plain)),
    ("docx", Kind::Doc, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", Some(Format::Docx)),
    ("doc", Kind::Doc, "application/msword", None),
    ("odt", Kind::Doc, "application/vnd.oasis.opendocument.text", None),
    ("rtf", Kind::Doc, "application/rtf", None),
    ("pdf", Kind::Pdf, "application/pdf", Some(Format::Pdf)),
    ("csv", Kind::Sheet, "text/csv", Some(Format::Plain)),
    ("tsv", Kind::Sheet, "text/tab-separated-values", Some(Format::Plain)),
    ("xlsx", Kind::Sheet, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", None),
    ("xls", Kind::Sheet, "application/vnd.ms-excel", None),
    ("ods", Kind::Sheet, "application/vnd.oasis.opendocument.spreadsheet", None),
    ("pptx", Kind::Deck, "application/vnd.openxmlformats-officedocument.presentationml.presentation", None),
    ("ppt", Kind::Deck, "application/vnd.ms-powerpoint", None),
    ("odp", Kind::Deck, "application/vnd.oasis.opendocument.presentation", None),
    ("key", Kind::Deck, "application/vnd.apple.keynote", None),
    ("eml", Kind::Email, "message/rfc822", None),
    ("msg", Kind::Email, "application/vnd.ms-outlook", None),
];

fn known(name: &str) -> Option<&'static Known> {
    let extension = names::parts(name).1.trim_start_matches('.').to_lowercase();
    KNOWN.iter().find(|(known, ..)| *known == extension)
}

pub(super) fn kind(name: &str, folder: bool) -> Kind {
    if folder { Kind::Folder } else { known(name).map_or(Kind::Unknown, |(_, kind, ..)| *kind) }
}

pub(super) fn media_type(name: &str) -> Option<&'static str> {
    known(name).map(|(_, _, media_type, _)| *media_type)
}

pub(super) fn format(name: &str) -> Option<Format> {
    known(name).and_then(|(.., format)| *format)
}
