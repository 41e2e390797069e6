//! A command at a pseudo-terminal, as a person meets it.

use std::{
    fs::File,
    io::Write,
    net::SocketAddr,
    process::{Child, Command},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use super::{served::Said, wait::until};

pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Said,
    /// How much of the screen was looked at.
    seen: usize,
}

impl Terminal {
    /// Standard input, output and error are a terminal of so many columns, which controls the session: Ctrl-C interrupts.
    pub fn start(command: Command, columns: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let terminal = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut session = in_session(&command);
        session.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap()).stderr(terminal);
        let child = session.spawn().unwrap();
        let keyboard = File::from(controller);
        let screen = Said::by(keyboard.try_clone().unwrap());
        Self { child, keyboard, screen, seen: 0 }
    }

    /// All that was shown so far.
    pub fn screen(&self) -> String {
        self.screen.so_far().replace("\r\n", "\n")
    }

    /// Waits for these words after those that were seen before; gives what stands before them.
    pub fn shows(&mut self, words: &str) -> String {
        let (before, seen) = until(&format!("the terminal shows '{words}'"), || {
            let screen = self.screen();
            let rest = screen.get(self.seen..)?;
            let at = rest.find(words)?;
            Some((rest[..at].to_owned(), self.seen + at + words.len()))
        });
        self.seen = seen;
        before
    }

    pub fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// The address that `serve` shows.
    pub fn address(&self) -> SocketAddr {
        until("the terminal shows the address", || {
            let screen = self.screen();
            let (address, _) = screen.split_once("http://")?.1.split_once("/mcp")?;
            Some(address.parse().unwrap())
        })
    }

    /// Sends a signal to the program, as a service manager does.
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// The exit code, and all of the screen.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let status = until("the command ends", || self.child.try_wait().unwrap());
        (status.code(), self.screen())
    }
}

/// The same command as the leader of a session of its own, with its standard input as the controlling terminal.
fn in_session(command: &Command) -> Command {
    let mut session = Command::new("/usr/bin/setsid");
    session.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
    session.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        session.current_dir(folder);
    }
    session
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
