//! Progress of a command that waits, on standard error, once a second has passed: a spinner at a terminal, else one plain line.

use std::{
    io::{IsTerminal, Write, stderr},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use indicatif::ProgressBar;

/// The time after which a wait is worth a line.
const SHORT: Duration = Duration::from_secs(1);
/// The time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// A wait that is shown until the value is dropped. Nothing of it stays on a terminal.
pub struct Progress {
    text: Arc<Mutex<String>>,
    /// Dropped to tell the thread that the wait is over.
    over: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows that the command waits for something: "waiting for 'files' …". The text is the command's own: text of others is
    /// escaped before it gets here.
    pub fn start(text: impl Into<String>) -> Self {
        let text = Arc::new(Mutex::new(text.into()));
        let (over, is_over) = mpsc::channel();
        let shown = Arc::clone(&text);
        let thread = thread::spawn(move || show(&shown, &is_over));
        Self { text, over: Some(over), thread: Some(thread) }
    }

    /// Replaces the text.
    pub fn set(&self, text: impl Into<String>) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = text.into();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn show(text: &Mutex<String>, is_over: &mpsc::Receiver<()>) {
    let goes_on = |time| is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    let text = || text.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !goes_on(SHORT) {
        return;
    }
    if !stderr().is_terminal() {
        let _ = writeln!(stderr(), "{}", text());
        return;
    }
    let spinner = ProgressBar::new_spinner();
    loop {
        spinner.set_message(text());
        spinner.tick();
        if !goes_on(TICK) {
            break;
        }
    }
    spinner.finish_and_clear();
}
