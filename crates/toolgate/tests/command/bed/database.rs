//! A PostgreSQL database for one test, gone when the test ends.
//!
//! Only the store knows a database driver, so the two statements a test needs are sent by hand.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

pub struct Database {
    server: String,
    name: String,
}

impl Database {
    pub fn create() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var("TOOLGATE_TEST_POSTGRES") else {
            panic!(
                "TOOLGATE_TEST_POSTGRES is not set, so nothing is known about PostgreSQL: run `cargo xtask test`, which \
                 starts a server, or set it to the URL of one where databases may be created without a password"
            );
        };
        let name = format!("toolgate_command_{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let database = Self { server, name };
        database.tell(&format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", database.name)).unwrap();
        database
    }

    /// The value of `--database`.
    pub fn url(&self) -> String {
        let (user, address) = self.parts();
        format!("postgres://{user}@{address}/{}", self.name)
    }

    /// Takes the database away, as a restart does: who is connected is cut off, and nobody gets in.
    #[allow(dead_code, reason = "not every suite that has a database takes it away")]
    pub fn go_away(&self) {
        self.tell(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", self.name)).unwrap();
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname"; // the server's, not ours; tidy: allow
        self.tell(&format!("{cut} = '{}'", self.name)).unwrap();
    }

    #[allow(dead_code, reason = "not every suite that has a database takes it away")]
    pub fn come_back(&self) {
        self.tell(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name)).unwrap();
    }

    /// Keeps everybody from a table, for as long as the value lives.
    #[allow(dead_code, reason = "not every suite that has a database locks it")]
    pub fn lock(&self, table: &str) -> TcpStream {
        let mut stream = self.enter(&self.name).unwrap();
        for statement in ["BEGIN".to_owned(), format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")] {
            send(&mut stream, Some(b'Q'), format!("{statement}\0").as_bytes()).unwrap();
            ready(&mut stream).unwrap();
        }
        stream
    }

    /// From here on a row that is added to a table is waited for without an end.
    #[allow(dead_code, reason = "not every suite that has a database stalls it")]
    pub fn stall(&self, table: &str) {
        let stall = format!(
            "CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
            CREATE TRIGGER stall BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION stall()"
        );
        let mut stream = self.enter(&self.name).unwrap();
        send(&mut stream, Some(b'Q'), format!("{stall}\0").as_bytes()).unwrap();
        ready(&mut stream).unwrap();
    }

    /// Ends the connections that wait for such a row.
    #[allow(dead_code, reason = "not every suite that has a database stalls it")]
    pub fn end_stalled(&self) {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname"; // the server's, not ours; tidy: allow
        self.tell(&format!("{cut} = '{}'", self.name)).unwrap();
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self.server.split_once("://").expect("TOOLGATE_TEST_POSTGRES is a URL").1;
        let authority = rest.split(['/', '?']).next().unwrap_or(rest);
        authority.split_once('@').unwrap_or(("postgres", authority))
    }

    fn enter(&self, database: &str) -> Result<TcpStream, String> {
        let (user, address) = self.parts();
        let mut stream = TcpStream::connect(address).map_err(|fault| format!("{address}: {fault}"))?;
        let start =
            [&196_608_u32.to_be_bytes()[..], format!("user\0{user}\0database\0{database}\0\0").as_bytes()].concat();
        send(&mut stream, None, &start)?;
        ready(&mut stream)?;
        Ok(stream)
    }

    /// One statement, on the server's own database. Nobody is asked for a password.
    fn tell(&self, statement: &str) -> Result<(), String> {
        let mut stream = self.enter("postgres")?;
        send(&mut stream, Some(b'Q'), format!("{statement}\0").as_bytes())?;
        ready(&mut stream)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = self.tell(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

fn send(stream: &mut TcpStream, kind: Option<u8>, body: &[u8]) -> Result<(), String> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    let message: Vec<u8> = kind.into_iter().chain(length).chain(body.iter().copied()).collect();
    stream.write_all(&message).map_err(|fault| fault.to_string())
}

/// Reads messages until the server waits for the next statement.
fn ready(stream: &mut TcpStream) -> Result<(), String> {
    let mut refused = Ok(());
    loop {
        let mut head = [0; 5];
        stream.read_exact(&mut head).map_err(|fault| fault.to_string())?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        let mut body = vec![0; usize::try_from(length).unwrap() - 4];
        stream.read_exact(&mut body).map_err(|fault| fault.to_string())?;
        match head[0] {
            b'Z' => return refused,
            b'E' => refused = Err(String::from_utf8_lossy(&body).replace('\0', " ")),
            b'R' if body[..4] != [0; 4] => return Err("the server asks for a password".to_owned()),
            _ => {}
        }
    }
}
