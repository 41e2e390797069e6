//! Progress of a command that waits, on standard error: a spinner at a terminal, else one plain line once a second has passed.

use std::{
    io::{IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use indicatif::ProgressBar;

/// The time after which a wait is worth a line.
const SHORT: Duration = Duration::from_secs(1);
/// The time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// A wait that is shown until the value is dropped. Nothing of it stays on a terminal.
pub struct Progress(Shown);

enum Shown {
    Spinner(ProgressBar),
    /// The line, until it is written. The sender tells the thread that the wait is over.
    Line {
        text: Arc<Mutex<String>>,
        _over: mpsc::Sender<()>,
    },
}

impl Progress {
    /// Shows that the command waits for something: "waiting for 'files' …". The text is the command's own: text of others is
    /// escaped before it gets here.
    pub fn start(text: impl Into<String>) -> Self {
        let text = text.into();
        if std::io::stderr().is_terminal() {
            let spinner = ProgressBar::new_spinner().with_message(text);
            spinner.enable_steady_tick(TICK);
            return Self(Shown::Spinner(spinner));
        }
        let text = Arc::new(Mutex::new(text));
        let (over, is_over) = mpsc::channel();
        let later = Arc::clone(&text);
        thread::spawn(move || {
            if is_over.recv_timeout(SHORT) == Err(mpsc::RecvTimeoutError::Timeout) {
                let line = later.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        });
        Self(Shown::Line { text, _over: over })
    }

    /// Replaces the text.
    pub fn set(&self, text: impl Into<String>) {
        match &self.0 {
            Shown::Spinner(spinner) => spinner.set_message(text.into()),
            Shown::Line { text: shown, .. } => *shown.lock().unwrap_or_else(PoisonError::into_inner) = text.into(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Spinner(spinner) = &self.0 {
            spinner.finish_and_clear();
        }
    }
}
