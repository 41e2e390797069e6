//! What in a definition looks meant for a model and not for its reader. Warnings help whoever accepts; none refuses.

mod encoded;
mod folded;
mod hidden;
mod phrases;
mod scripts;

use serde::{Deserialize, Serialize};

use super::{
    canonical::Json,
    diff::{push_key, shown_path},
    visible::visible,
};
use crate::caller::words;

/// More characters in one text than a description needs.
const LONG: usize = 4_000;

/// Arguments that carry a caller's credential to the gateway.
const CREDENTIAL_ARGUMENTS: [&str; 2] =
    ["/inputSchema/properties/session_token", "/inputSchema/properties/coordinator_token"];

/// One suspicious place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// JSON pointer, in the definition's own characters; of a key, the pointer to its value.
    pub path: String,
    pub kind: WarningKind,
    /// The text around it, made visible.
    pub excerpt: String,
}

words! {
    /// What is suspicious.
    WarningKind("warning") {
        /// Characters that nobody sees.
        Invisible = "invisible",
        /// Characters that show text in another order than it is read.
        Bidi = "bidi",
        /// A word of letters from two scripts.
        MixedScripts = "mixed_scripts",
        /// A word that passes for another.
        LookAlike = "look_alike",
        /// Text that tells a model what to do.
        AddressesModel = "addresses_model",
        /// A long run that reads as base64 or hexadecimal.
        Encoded = "encoded",
        /// A terminal's control sequence.
        TerminalEscape = "terminal_escape",
        /// A comment that a renderer leaves out.
        Comment = "comment",
        /// Longer than anyone reads.
        Long = "long",
        /// An argument that the gateway takes for the caller's credential and never passes on.
        Credential = "credential",
        /// No text could be looked at.
        Unreadable = "unreadable",
    }
}

/// Every warning, in the order of the canonical form. All texts and keys are looked at, whatever they are called: a
/// model may be shown any of them.
pub fn warnings(definition: &str) -> Vec<Warning> {
    let mut found = Vec::new();
    match Json::read(definition) {
        Ok(json) => walk(&mut String::new(), &json, &mut found),
        Err(unreadable) => {
            let excerpt = unreadable.to_string();
            found.push(Warning { path: String::new(), kind: WarningKind::Unreadable, excerpt });
        }
    }
    found
}

fn walk(path: &mut String, json: &Json, found: &mut Vec<Warning>) {
    let length = path.len();
    match json {
        Json::Word(_) => {}
        Json::Text(text) => look(path, text, found),
        Json::List(items) => {
            for (index, item) in items.iter().enumerate() {
                push_key(path, &index.to_string());
                walk(path, item, found);
                path.truncate(length);
            }
        }
        Json::Object(members) => {
            for (key, value) in members {
                push_key(path, key);
                look(path, key, found);
                if CREDENTIAL_ARGUMENTS.contains(&path.as_str()) {
                    found.push(Warning { path: path.clone(), kind: WarningKind::Credential, excerpt: key.clone() });
                }
                walk(path, value, found);
                path.truncate(length);
            }
        }
    }
}

/// Where in a text something is suspicious, in bytes.
type Hit = (usize, WarningKind);

fn look(path: &str, text: &str, found: &mut Vec<Warning>) {
    let picture = path.starts_with("/icons/") && text.starts_with("data:image/");
    let mut hits: Vec<Hit> = hidden::hits(text);
    hits.extend(scripts::hits(text));
    hits.extend(phrases::hits(text));
    hits.extend(encoded::hit(text).filter(|_| !picture));
    if !picture && text.chars().nth(LONG).is_some() {
        hits.push((0, WarningKind::Long));
    }
    hits.sort_by_key(|(at, _)| *at);
    found.extend(hits.into_iter().map(|(at, kind)| Warning {
        path: shown_path(path),
        kind,
        excerpt: excerpt(text, at),
    }));
}

/// Thirty characters before the place and sixty from it on.
fn excerpt(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or(("", text));
    let start = before.char_indices().rev().nth(29).map_or(0, |(start, _)| start);
    let end = after.char_indices().nth(60).map_or(text.len(), |(end, _)| before.len() + end);
    let dots = |cut: bool| if cut { "…" } else { "" };
    format!("{}{}{}", dots(start > 0), visible(text.get(start..end).unwrap_or(text)), dots(end < text.len()))
}
