//! The terminal a command runs at, where there is one.

use std::io::{BufRead, IsTerminal, Write};

/// The width of text that goes to no terminal.
const USUAL_WIDTH: usize = 100;

/// Whether a person can be asked: questions go to standard error, answers come from standard input.
pub fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The columns of standard output.
pub fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH)
}

/// Writes to standard error, which no lock is held on meanwhile: the log goes there too.
pub fn tell(text: &str) -> bool {
    let mut terminal = std::io::stderr();
    terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()).is_ok()
}

/// Asks a question and waits for the answer. Everything but a yes is a no.
pub fn confirm(question: &str) -> bool {
    if !tell(&format!("{question} [y/N] ")) {
        return false;
    }
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// The beginning of a text, in at most so many characters.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}
