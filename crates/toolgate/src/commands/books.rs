//! What the commands over the books share: a store that is there, text of others on a line, and reports without an end.

use std::{fmt::Display, io::Write};

use serde_json::Value;
use toolgate_core::terminal_escape;
use toolgate_store::{Location, Page, Paging, Store, StoreError};

use crate::{CommandResult, Ending, Misuse, cli::Place, ground::Ground};

/// The store, if there is one: looking into a place where nothing was ever kept is a mistake, and must not pass for a look
/// into something empty.
pub async fn store(place: &Place) -> Result<Store, Misuse> {
    let ground = Ground::of(place)?;
    if let Location::Sqlite(path) = ground.location()?
        && !path.exists()
    {
        return Err(format!(
            "there is no store at '{}'; say where it is with --data or --database, or make one: toolgate serve",
            path.display()
        )
        .into());
    }
    ground.store().await
}

/// Up to so many of a list that comes in pages, and whether there are more.
pub async fn gathered<T>(
    limit: u32,
    list: impl AsyncFn(Paging) -> Result<Page<T>, StoreError>,
) -> Result<(Vec<T>, bool), Misuse> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let left = limit.saturating_sub(u32::try_from(found.len())?);
        let page = list(Paging { limit: left, after }).await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() || found.len() >= usize::try_from(limit)? {
            return Ok((found, after.is_some()));
        }
    }
}

/// A store that is gone or broken is no wrong use: the answer is no.
pub fn ended(result: CommandResult) -> CommandResult {
    match result {
        Err(fault) if fault.downcast_ref::<StoreError>().is_some_and(is_no_misuse) => {
            eprintln!("toolgate: {fault}");
            Ok(Ending::No)
        }
        ended => ended,
    }
}

fn is_no_misuse(fault: &StoreError) -> bool {
    !matches!(fault, StoreError::Address { .. })
}

/// Characters of a call's arguments that a line of a list has room for.
pub const SUMMARY: usize = 80;

/// Text of others on one line.
pub fn line(text: impl Display) -> String {
    terminal_escape(&text.to_string()).replace('\n', "\\n").replace('\t', " ")
}

/// A name before what it names, the same width for all.
pub fn field(text: &mut String, name: &str, value: impl Display) {
    text.push_str(&format!("{:<12} {}\n", format!("{name}:"), line(value)));
}

/// JSON for people, on lines of its own.
pub fn block(text: &mut String, name: &str, value: &Value) {
    text.push_str(&format!("{name}:\n"));
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    text.extend(terminal_escape(&pretty).lines().map(|line| format!("  {line}\n")));
}

/// Stored JSON; what is none is shown as the text it is.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Writes to standard output; false once nobody reads any more (`| head`).
pub fn put(text: &str) -> Result<bool, Misuse> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        said => Ok(said.map(|()| true)?),
    }
}

/// `1 tool`, `2 tools`: a count with its noun.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// A list that was cut says so, beside what is printed.
pub fn note_cut(cut: bool, limit: u32) {
    if cut {
        eprintln!("toolgate: there are more than {limit}; ask for more with --limit");
    }
}
