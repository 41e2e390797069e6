//! A network between the store and PostgreSQL that can be cut.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use toolgate_store::Location;

use crate::bed::Bed;

const OPEN: u8 = 0;
/// What the server answers to a message that holds [`MARK`] is lost, and the connection with it.
const ANSWERS_LOST: u8 = 1;
/// Every connection is closed, and a new one is refused.
const STOPPED: u8 = 2;

pub(crate) const MARK: &str = "lost on the way";

pub(crate) struct Proxy {
    url: String,
    state: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) async fn before(bed: &Bed) -> Self {
        let url = bed.url();
        let (head, rest) = url.split_once('@').unwrap();
        let (server, path) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{head}@{}/{path}", listener.local_addr().unwrap());
        let state = Arc::new(AtomicU8::new(OPEN));
        tokio::spawn(accept(listener, server.to_owned(), state.clone()));
        Self { url, state }
    }

    pub(crate) fn location(&self) -> Location {
        self.url.parse().unwrap()
    }

    pub(crate) fn lose_answers(&self) {
        self.state.store(ANSWERS_LOST, Ordering::SeqCst);
    }

    pub(crate) fn stop(&self) {
        self.state.store(STOPPED, Ordering::SeqCst);
    }

    pub(crate) fn go_on(&self) {
        self.state.store(OPEN, Ordering::SeqCst);
    }
}

async fn accept(listener: TcpListener, server: String, state: Arc<AtomicU8>) {
    while let Ok((client, _)) = listener.accept().await {
        if state.load(Ordering::SeqCst) != STOPPED {
            tokio::spawn(pass_on(client, server.clone(), state.clone()));
        }
    }
}

async fn pass_on(mut client: TcpStream, server: String, state: Arc<AtomicU8>) {
    let mut server = TcpStream::connect(server).await.unwrap();
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    let mut is_marked = false;
    let mut look = tokio::time::interval(std::time::Duration::from_millis(5));
    loop {
        let (read, is_answer) = tokio::select! {
            read = client.read(&mut asked) => (read, false),
            read = server.read(&mut answered) => (read, true),
            _ = look.tick() => {
                if state.load(Ordering::SeqCst) == STOPPED {
                    return;
                }
                continue;
            }
        };
        let Ok(read) = read else { return };
        is_marked |= !is_answer && asked[..read].windows(MARK.len()).any(|part| part == MARK.as_bytes());
        let is_lost = is_answer && is_marked && state.load(Ordering::SeqCst) == ANSWERS_LOST;
        if read == 0 || is_lost {
            return;
        }
        let sent =
            if is_answer { client.write_all(&answered[..read]).await } else { server.write_all(&asked[..read]).await };
        if sent.is_err() {
            return;
        }
    }
}
