//! Talks to one child: matches answers to requests by id, and does not trust it to send only what was asked for.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::AsyncWriteExt,
    process::{ChildStderr, ChildStdin, ChildStdout},
    sync::{mpsc, oneshot, watch},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    lines::{Line, Lines, id_at_beginning},
    process::{Process, Streams},
};
use crate::{
    UpstreamConfig,
    calls::{Calls, Under, Whose},
    counts::Counts,
    fault::{Fault, shortened},
    message::{self, Kind},
};

/// Messages that wait to be written.
const QUEUE: usize = 256;
/// Notifications in a row after which reading rests for a moment, so that a flood does not take a whole core.
const FLOOD: u32 = 500;
const STDERR_LINE: usize = 4 << 10;

pub(crate) struct ChildLink {
    wire: Arc<Wire>,
    process: Option<u32>,
    /// Why it is over; `None` as long as it is not.
    over: watch::Receiver<Option<String>>,
    stop: CancellationToken,
    watcher: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// What the tasks share.
struct Wire {
    out: mpsc::Sender<(Option<u64>, Bytes)>,
    waiting: Mutex<HashMap<u64, Waiting>>,
    calls: Arc<Calls>,
    next: AtomicU64,
    counts: Arc<Counts>,
    most: usize,
}

type Waiting = oneshot::Sender<Result<Bytes, Fault>>;

impl ChildLink {
    pub(crate) fn start(config: &UpstreamConfig, counts: Arc<Counts>) -> Result<Self, Fault> {
        let (process, Streams { stdin, stdout, stderr }) = Process::start(&config.transport)?;
        let (out, queue) = mpsc::channel(QUEUE);
        let most = config.message_bytes();
        let calls = Calls::new(config, Arc::clone(&counts));
        let wire = Arc::new(Wire { out, waiting: Mutex::default(), calls, next: AtomicU64::new(1), counts, most });
        let (tell, over) = watch::channel(None);
        let stop = CancellationToken::new();
        let id = process.id();
        let tasks = Tasks {
            writer: AbortOnDropHandle::new(tokio::spawn(write(stdin, queue, Arc::clone(&wire)))),
            reader: AbortOnDropHandle::new(tokio::spawn(read(stdout, Arc::clone(&wire)))),
            stderr: AbortOnDropHandle::new(tokio::spawn(log(stderr, config.name.clone()))),
        };
        let watcher = watch_over(process, tasks, Arc::clone(&wire), tell, stop.clone(), config.patience.farewell);
        let watcher = Mutex::new(Some(AbortOnDropHandle::new(tokio::spawn(watcher))));
        Ok(Self { wire, process: id, over, stop, watcher })
    }

    pub(crate) fn process(&self) -> Option<u32> {
        self.process.filter(|_| self.over.borrow().is_none())
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.wire.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn calls(&self) -> &Arc<Calls> {
        &self.wire.calls
    }

    /// Sends a request and waits for its answer. Dropped before, it tells the child that nobody waits any more.
    pub(crate) async fn request(&self, id: u64, line: Bytes, under: Option<Under>) -> Result<Bytes, Fault> {
        let (answer, answered) = oneshot::channel();
        self.wire.waiting().insert(id, answer);
        let mut asked = Asked { wire: &self.wire, id, sent: false };
        // goes before `asked`: given up first, and only then found by the writer to be not worth writing
        let _under = under;
        if let Some(why) = self.over.borrow().clone() {
            return Err(Fault::Down { why });
        }
        self.wire.out.send((Some(id), line)).await.map_err(|_| Fault::Down { why: "it is ending".to_owned() })?;
        asked.sent = true;
        match answered.await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::Lost { why: self.why().await }),
        }
    }

    pub(crate) async fn notify(&self, line: Bytes) {
        let _ = self.wire.out.send((None, line)).await;
    }

    /// Waits until the child is gone.
    pub(crate) async fn why(&self) -> String {
        let mut over = self.over.clone();
        match over.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            Err(_) => "it was stopped".to_owned(),
        }
    }

    /// Ends the child and everything it started.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(watcher) = watcher {
            let _ = watcher.await;
        }
    }
}

/// A request under way.
struct Asked<'a> {
    wire: &'a Wire,
    id: u64,
    sent: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // still waited for: nobody answered, and now nobody listens
        let unanswered = self.wire.waiting().remove(&self.id).is_some();
        if !self.sent {
            self.wire.calls.over(self.id);
        } else if unanswered {
            let _ = self.wire.out.try_send((None, message::cancelled(self.id)));
        }
    }
}

impl Wire {
    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True for an answer that somebody waited for.
    fn take(&self, line: &Bytes) -> bool {
        match message::read(line) {
            Some(Kind::Answer(id, answer)) => return self.settle(id, answer),
            Some(Kind::Request(request)) => {
                let out = self.out.clone();
                let send = |reply: Bytes| async move { drop(out.send((None, reply)).await) };
                if let Some(reply) = self.calls.asked(&Whose::Unsaid, &request, send) {
                    let _ = self.out.try_send((None, reply));
                }
            }
            Some(Kind::Notification(method, params)) => self.calls.told(&Whose::Unsaid, &method, params),
            None if line.iter().all(u8::is_ascii_whitespace) => {}
            None => self.counts.garbage(line),
        }
        false
    }

    fn settle(&self, id: Option<u64>, answer: Result<Bytes, Fault>) -> bool {
        if let (Some(id), Err(fault)) = (id, &answer) {
            self.calls.refused(id, fault);
        }
        id.into_iter().for_each(|id| self.calls.over(id));
        let waiting = id.and_then(|id| self.waiting().remove(&id));
        match waiting {
            Some(waiting) => waiting.send(answer).is_ok(),
            None => {
                self.counts.unmatched();
                false
            }
        }
    }
}

struct Tasks {
    writer: AbortOnDropHandle<()>,
    reader: AbortOnDropHandle<()>,
    stderr: AbortOnDropHandle<()>,
}

async fn watch_over(
    mut process: Process,
    mut tasks: Tasks,
    wire: Arc<Wire>,
    tell: watch::Sender<Option<String>>,
    stop: CancellationToken,
    farewell: Duration,
) {
    let why = tokio::select! {
        why = process.ended() => {
            // what it wrote before it ended still counts
            let _ = tokio::time::timeout(Duration::from_millis(200), &mut tasks.reader).await;
            why
        }
        _ = &mut tasks.reader => match tokio::time::timeout(Duration::from_millis(200), process.ended()).await {
            Ok(why) => why,
            Err(_) => "its program closed its output".to_owned(),
        },
        () = stop.cancelled() => "it was stopped".to_owned(),
    };
    tell.send_replace(Some(why));
    // after the word is out: whoever asks from here on sees it, and whoever asked before is let go
    wire.waiting().clear();
    // closes its standard input, the polite way to say goodbye
    tasks.writer.abort();
    let _ = (&mut tasks.writer).await;
    process.stop(farewell).await;
    drop(tasks.reader);
    drop(tasks.stderr);
}

async fn write(mut stdin: ChildStdin, mut queue: mpsc::Receiver<(Option<u64>, Bytes)>, wire: Arc<Wire>) {
    while let Some((id, message)) = queue.recv().await {
        // a call that was given up while it waited to be written is never made
        if let Some(id) = id.filter(|id| !wire.waiting().contains_key(id)) {
            wire.calls.over(id);
            continue;
        }
        let mut line = Vec::with_capacity(message.len() + 1);
        // the arguments are the caller's own text, and a line's end within would be the end of the message
        line.extend(message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        line.push(b'\n');
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, wire: Arc<Wire>) {
    let mut lines = Lines::new(stdout, wire.most);
    let mut idle = 0;
    while let Ok(Some(line)) = lines.next().await {
        let answered = match line {
            Line::Whole(line) => wire.take(&line),
            Line::TooLong(beginning) => match id_at_beginning(&beginning) {
                Some(id) => wire.settle(Some(id), Err(Fault::TooLarge { most: wire.most })),
                None => {
                    wire.counts.garbage(&beginning);
                    false
                }
            },
        };
        idle = if answered { 0 } else { idle + 1 };
        if idle >= FLOOD {
            idle = 0;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn log(stderr: ChildStderr, upstream: String) {
    let mut lines = Lines::new(stderr, STDERR_LINE);
    while let Ok(Some(Line::Whole(line) | Line::TooLong(line))) = lines.next().await {
        let line = shortened(&String::from_utf8_lossy(&line), STDERR_LINE);
        tracing::info!(target: "toolgate::upstream", upstream, "{line}");
    }
}
