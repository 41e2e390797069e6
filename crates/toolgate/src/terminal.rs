//! The terminal that a command runs at, where there is one.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin, stdout};

/// Columns below which a line is not cut: there is no room for a table then.
const NARROWEST: usize = 40;
/// The width of text that is cut wherever it goes.
const USUAL_WIDTH: usize = 100;

/// Columns of the terminal; `None` where standard output is a file or a pipe, whose reader wants all of a line.
pub fn width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    given.or_else(window_width).filter(|columns| *columns >= NARROWEST)
}

/// Columns of the terminal, or the usual number where there is none: for summaries whose whole is shown elsewhere.
pub fn summary_width() -> usize {
    width().unwrap_or(USUAL_WIDTH)
}

#[cfg(unix)]
fn window_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(stdout()).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn window_width() -> Option<usize> {
    None
}

/// Returns true if a person can be asked: questions go to standard error, answers come from standard input.
pub fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

/// Writes to standard error, which no lock is held on meanwhile: the log goes there too.
pub fn tell(text: &str) -> bool {
    let mut terminal = stderr();
    terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()).is_ok()
}

/// Asks a question and waits for the answer. Everything but a yes is a no. What was typed before the question is dropped: it
/// can't be an answer to it.
pub fn confirm(question: &str) -> bool {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(stdin(), rustix::termios::QueueSelector::IFlush);
    if !tell(&format!("{question} [y/N] ")) {
        return false;
    }
    let mut answer = String::new();
    let read = stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
