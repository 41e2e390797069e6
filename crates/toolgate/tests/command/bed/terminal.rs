//! A Toolgate at a terminal: what a person sees and types.

use std::{
    fs,
    io::Write,
    net::SocketAddr,
    process::{Child, ChildStdin, Command, Stdio},
};

use super::{home::Home, served::Said, wait::until};

/// Runs a program at a terminal of its own, and passes on what is typed and what is shown.
const RELAY: &str = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

pub struct Terminal {
    relay: Child,
    keys: ChildStdin,
    screen: Said,
}

impl Terminal {
    pub fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", RELAY, env!("CARGO_BIN_EXE_toolgate")]).args(arguments);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).current_dir(home.path(""));
        let mut relay = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (keys, screen) = (relay.stdin.take().unwrap(), Said::by(relay.stdout.take().unwrap()));
        Self { relay, keys, screen }
    }

    pub fn screen(&self) -> String {
        self.screen.so_far().replace("\r\n", "\n")
    }

    /// Waits until the words are shown.
    pub fn shows(&self, words: &str) {
        until(&format!("the terminal shows '{words}'"), || self.screen().contains(words).then_some(()));
    }

    pub fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
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
        let relay = self.relay.id();
        let children = fs::read_to_string(format!("/proc/{relay}/task/{relay}/children")).unwrap();
        let program = children.split_whitespace().next().unwrap();
        assert!(Command::new("kill").args([&format!("-{signal}"), program]).status().unwrap().success());
    }

    /// The exit code, and all that was shown.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let status = until("the program ends", || self.relay.try_wait().unwrap());
        self.screen.whole();
        (status.code(), self.screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.relay.kill();
        let _ = self.relay.wait();
    }
}
