//! A Toolgate that serves one client on standard input and output.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

use super::{home::Ran, message::Message, served::Said, wait::until};

pub struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    err: Said,
    /// Every line it wrote.
    pub lines: Vec<String>,
}

impl Pipe {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let err = Said::by(child.stderr.take().unwrap());
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take();
        Self { child, input, output, err, lines: Vec::new() }
    }

    pub fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input
            .write_all(format!("{line}\n").as_bytes())
            .unwrap_or_else(|fault| panic!("{fault}: {}", self.err.so_far()));
        input.flush().unwrap();
    }

    /// The next message it writes, or `None` at its end. Everything that is no JSON fails the test.
    pub fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        let message = serde_json::from_str(&line).unwrap_or_else(|fault| panic!("{fault}: {line:?}"));
        self.lines.push(line);
        Some(message)
    }

    /// One message and its answer.
    pub fn ask(&mut self, message: &Message) -> Value {
        self.write(&message.body());
        self.read().unwrap_or_else(|| panic!("no answer: {}", self.err.so_far()))
    }

    /// The client goes: nothing more will be written.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Every message that is left, and how it ended.
    pub fn ended(mut self) -> (Vec<Value>, Ran) {
        self.hang_up();
        let mut messages = Vec::new();
        while let Some(message) = self.read() {
            messages.push(message);
        }
        let status = until("the command ends", || self.child.try_wait().unwrap());
        (messages, Ran { code: status.code(), out: self.lines.concat(), err: self.err.whole() })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
