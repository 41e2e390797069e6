//! Ids that people type: any beginning that only one record has.

use toolgate_store::{IdKind, Store};

use super::books::line;
use crate::Misuse;

/// Digits after the word of an id (`appr_`) that a beginning has at least.
const FEWEST_DIGITS: usize = 4;
/// Digits of a whole id.
const ALL_DIGITS: usize = 32;
/// Ids that are listed where a beginning is not unique.
const MOST_LISTED: u32 = 10;

/// Returns the id that begins with `given`, with or without the word of its kind. A text that begins no id is returned as it is.
pub async fn whole_id(store: &Store, kind: IdKind, given: &str) -> Result<String, Misuse> {
    let digits = given.strip_prefix(kind.prefix()).unwrap_or(given).to_ascii_lowercase();
    let is_beginning = (FEWEST_DIGITS..=ALL_DIGITS).contains(&digits.len());
    if !is_beginning || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Ok(given.to_owned());
    }
    let beginning = format!("{}{digits}", kind.prefix());
    let mut found = store.ids_beginning_with(kind, &beginning, MOST_LISTED + 1).await?;
    if found.len() > 1 {
        return Err(ambiguous(given, found).into());
    }
    Ok(found.pop().unwrap_or_else(|| given.to_owned()))
}

fn ambiguous(given: &str, mut found: Vec<String>) -> String {
    let most = usize::try_from(MOST_LISTED).unwrap_or(usize::MAX);
    let more = if found.len() > most { "\n  …" } else { "" };
    found.truncate(most);
    format!("more than one id begins with '{}'; write more of it:\n  {}{more}", line(given), found.join("\n  "))
}
