//! A Toolgate that serves HTTP, with everything it says.

use std::{
    io::Read,
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
};

use super::{
    events::Events,
    home::Ran,
    http::{self, Answer, Request},
    message::Message,
    wait::{DEADLINE, until},
};

pub struct Served {
    child: Child,
    pub address: SocketAddr,
    out: Said,
    err: Said,
}

/// What a process wrote to one of its outputs so far.
pub struct Said {
    text: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Said {
    pub fn by(mut output: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&text);
        let reader = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                kept.lock().unwrap().extend_from_slice(&buffer[..count]);
            }
        });
        Self { text, reader: Some(reader) }
    }

    pub fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    /// All of it, once the process has ended.
    pub fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.so_far()
    }
}

impl Served {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = Said::by(child.stdout.take().unwrap());
        let err = Said::by(child.stderr.take().unwrap());
        let address = until("the server says its address", || {
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the server ended with {status}: {}", err.so_far());
            }
            let said = out.so_far();
            said.lines().find(|line| line.starts_with("Next: "))?;
            let line = said.lines().find_map(|line| line.strip_prefix("MCP address: http://"))?;
            let address = line.strip_suffix("/mcp")?;
            Some(address.parse().unwrap())
        });
        Self { child, address, out, err }
    }

    pub fn send(&self, request: &Request) -> Answer {
        http::exchange(self.address, request).unwrap_or_else(|fault| panic!("{fault}: {request:?}\n{}", self.log()))
    }

    pub fn ask(&self, message: &Message) -> Answer {
        self.send(&message.request())
    }

    pub fn open(&self, request: &Request) -> Events {
        Events::open(self.address, request)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// The lines on standard output so far.
    pub fn out(&self) -> String {
        self.out.so_far()
    }

    pub fn log(&self) -> String {
        self.err.so_far()
    }

    /// The first line of the log with these words.
    pub fn logs(&self, words: &str) -> String {
        until(&format!("the log says '{words}'"), || {
            self.log().lines().find(|line| line.contains(words)).map(str::to_owned)
        })
    }

    /// Asks it to stop, as a service keeper does.
    pub fn terminate(&self) {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }

    /// Stops it where it stands, or lets it go on.
    #[allow(dead_code, reason = "not every suite that serves stops its server")]
    pub fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends it and all it started, without asking. It must lead a process group of its own.
    pub fn kill_group(mut self) {
        let killed = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status().unwrap();
        assert!(killed.success());
        self.child.wait().unwrap();
    }

    pub fn ended(mut self) -> Ran {
        let status = until("the server ends", || self.child.try_wait().unwrap());
        Ran { code: status.code(), out: self.out.whole(), err: self.err.whole() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
