//! The terminal that a person sits at: its width, and what was typed before a question.

use std::io::IsTerminal;

/// The columns of the terminal on standard output; `None` where it is none or does not say.
pub fn width() -> Option<usize> {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return None;
    }
    columns(&out).filter(|columns| *columns > 0)
}

/// Forgets what was typed and not yet read: it answers no question that was not there when it was typed.
pub fn forget_typed() {
    forget(&std::io::stdin());
}

#[cfg(unix)]
fn columns(out: &std::io::Stdout) -> Option<usize> {
    rustix::termios::tcgetwinsize(out).ok().map(|size| usize::from(size.ws_col))
}

#[cfg(unix)]
fn forget(input: &std::io::Stdin) {
    let _ = rustix::termios::tcflush(input, rustix::termios::QueueSelector::IFlush);
}

#[cfg(not(unix))]
fn columns(_out: &std::io::Stdout) -> Option<usize> {
    None
}

#[cfg(not(unix))]
fn forget(_input: &std::io::Stdin) {}
