//! Lines of standard input, read on a thread of their own: a read can't be called off, and must not hold up the end.

use std::{
    io::{BufRead, Read},
    thread,
};

use tokio::sync::mpsc;

/// Longest line that is read at once; more of it is the next line.
const LONGEST: u64 = 4096;

/// Lines until the end of standard input, at which the channel closes.
pub fn lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    thread::spawn(move || {
        loop {
            let mut line = Vec::new();
            match std::io::stdin().lock().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let line = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                    if sender.blocking_send(line).is_err() {
                        return;
                    }
                }
            }
        }
    });
    lines
}

/// Returns once the other end of a pipe or socket on standard input is closed. Any other input has no end that matters:
/// `/dev/null` is what a service has.
pub async fn closed() {
    if !is_pipe() {
        return std::future::pending().await;
    }
    let mut lines = lines();
    while lines.recv().await.is_some() {}
}

#[cfg(unix)]
fn is_pipe() -> bool {
    use std::os::{fd::AsFd, unix::fs::FileTypeExt};

    let input = std::io::stdin();
    let Ok(input) = input.as_fd().try_clone_to_owned() else { return false };
    std::fs::File::from(input)
        .metadata()
        .is_ok_and(|input| input.file_type().is_fifo() || input.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_pipe() -> bool {
    use std::io::IsTerminal;

    !std::io::stdin().is_terminal()
}
