//! The terminal that standard output is, if it is one.

use std::io::{IsTerminal, stdout};

/// Columns of the terminal; `None` where standard output is a file or a pipe, whose reader wants all of a line.
pub fn width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    given.or_else(asked).filter(|columns| *columns >= NARROWEST)
}

/// Columns below which a line is not cut: there is no room for a table then.
const NARROWEST: usize = 40;

#[cfg(unix)]
fn asked() -> Option<usize> {
    rustix::termios::tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn asked() -> Option<usize> {
    None
}
