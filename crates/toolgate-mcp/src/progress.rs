//! Calls whose client asked for progress: notes as they come, then the answer.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use http::StatusCode;
use serde_json::value::RawValue;
use tokio::{sync::mpsc, task::JoinHandle, time};
use toolgate_core::Caller;
use toolgate_spine::{Call, Outcome, Progress, ProgressNote};

use crate::{
    call::Render,
    era::Version,
    framing,
    json::text,
    listen::KEEP_ALIVE_EVERY,
    message::Params,
    refusal::{Refusal, code},
    reply::Reply,
    wire::Inner,
};

/// Notes that wait while the client reads; a slow one misses some.
const NOTES_KEPT: usize = 32;

/// The client's progress token, as it was written.
pub(crate) fn token<'a>(params: &Params<'a>) -> Result<Option<&'a str>, Refusal> {
    match params.meta.progress_token {
        None | Some("null") => Ok(None),
        Some(raw) if raw.starts_with('"') || text::is_integer(raw) => Ok(Some(raw)),
        Some(_) => Err(Refusal::params("_meta.progressToken must be a string or an integer")),
    }
}

/// Answers with events from the first note on, and with plain JSON if the answer comes before any.
///
/// As long as nothing is sent the status is still free, so that a denial can be a 401 here too.
pub(crate) async fn answer_with_events(
    render: Render<'_>,
    caller: &Arc<Caller>,
    call: Call<'_>,
    token: &str,
) -> Result<Reply, Refusal> {
    let (sender, mut notes) = mpsc::channel(NOTES_KEPT);
    let mut running = Running::start(render, caller, call, Progress::to(sender));
    let mut first = None;
    let mut outcome = None;
    tokio::select! {
        biased;
        Some(note) = notes.recv() => first = Some(note),
        ended = running.outcome() => {
            // Notes may have come with the answer; without one it needs no stream.
            first = notes.try_recv().ok();
            if first.is_none() {
                return ended.and_then(|outcome| render.outcome(outcome, true)).map(Reply::json);
            }
            outcome = Some(ended);
        }
        () = time::sleep(KEEP_ALIVE_EVERY) => {}
    }
    let (out, events) = mpsc::channel(16);
    let stream = Stream {
        inner: render.inner.clone(),
        id: render.id.to_owned(),
        version: render.version,
        name: render.name.to_owned(),
        notes: Notes::new(token),
        out,
    };
    tokio::spawn(stream.run(first, notes, running, outcome));
    Ok(Reply::events(events))
}

/// On stdio notes and answers share one channel.
pub(crate) async fn answer_with_lines(
    render: Render<'_>,
    caller: &Arc<Caller>,
    call: Call<'_>,
    token: &str,
    out: &mpsc::Sender<Bytes>,
) -> Result<Reply, Refusal> {
    let (sender, mut received) = mpsc::channel(NOTES_KEPT);
    let mut notes = Notes::new(token);
    let mut running = pin!(render.inner.spine.call(caller, Call { progress: Progress::to(sender), ..call }));
    let outcome = loop {
        tokio::select! {
            biased;
            Some(note) = received.recv() => tell(&mut notes, &note, out).await,
            outcome = &mut running => break outcome,
        }
    };
    while let Ok(note) = received.try_recv() {
        tell(&mut notes, &note, out).await;
    }
    render.outcome(outcome, false).map(Reply::json)
}

async fn tell(notes: &mut Notes, note: &ProgressNote, out: &mpsc::Sender<Bytes>) {
    if let Some(message) = notes.message(note) {
        // A closed channel means that the client is gone; the call goes on to its end all the same.
        let _ = out.send(framing::line(&[&message])).await;
    }
}

/// A call in a task of its own.
struct Running {
    task: JoinHandle<Outcome>,
    /// In the modern era hanging up cancels; in the older one the call goes on.
    cancels: bool,
}

impl Running {
    fn start(render: Render<'_>, caller: &Arc<Caller>, call: Call<'_>, progress: Progress) -> Self {
        let (inner, caller) = (render.inner.clone(), caller.clone());
        let (name, arguments) = (call.name.to_owned(), call.arguments.map(RawValue::to_owned));
        let (dry_run, lang) = (call.dry_run, call.lang);
        let task = tokio::spawn(async move {
            let call = Call { name: &name, arguments: arguments.as_deref(), dry_run, lang, progress };
            inner.spine.call(&caller, call).await
        });
        Self { task, cancels: render.version.is_modern() }
    }

    async fn outcome(&mut self) -> Result<Outcome, Refusal> {
        let broken_off = "the call broke off; what it did is not known";
        (&mut self.task).await.map_err(|_| Refusal::new(StatusCode::OK, code::INTERNAL, broken_off))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.cancels {
            self.task.abort();
        }
    }
}

/// An answer that has become a stream.
struct Stream {
    inner: Arc<Inner>,
    id: String,
    version: Version,
    name: String,
    notes: Notes,
    out: mpsc::Sender<Bytes>,
}

impl Stream {
    async fn run(
        mut self,
        first: Option<ProgressNote>,
        mut received: mpsc::Receiver<ProgressNote>,
        mut running: Running,
        mut outcome: Option<Result<Outcome, Refusal>>,
    ) {
        if let Some(note) = first {
            self.tell(&note).await;
        }
        let mut keep_alive = time::interval_at(time::Instant::now() + KEEP_ALIVE_EVERY, KEEP_ALIVE_EVERY);
        let outcome = loop {
            if let Some(outcome) = outcome.take() {
                break outcome;
            }
            tokio::select! {
                biased;
                () = self.out.closed(), if running.cancels => return,
                Some(note) = received.recv() => self.tell(&note).await,
                ended = running.outcome() => outcome = Some(ended),
                _ = keep_alive.tick() => self.send(framing::KEEP_ALIVE).await,
            }
        };
        while let Ok(note) = received.try_recv() {
            self.tell(&note).await;
        }
        let render =
            Render { inner: &self.inner, id: &self.id, version: self.version, name: &self.name, rejected: false };
        let event = match outcome.and_then(|outcome| render.outcome(outcome, false)) {
            Ok(parts) => framing::event(&parts.each_ref().map(|part| &**part)),
            Err(refusal) => framing::event(&[&refusal.body(Some(&self.id))]),
        };
        self.send(event).await;
    }

    async fn tell(&mut self, note: &ProgressNote) {
        if let Some(message) = self.notes.message(note) {
            self.send(framing::event(&[&message])).await;
        }
    }

    async fn send(&self, bytes: Bytes) {
        // Who hung up is not waited for; `closed` decides what becomes of the call.
        let _ = self.out.send(bytes).await;
    }
}

/// Writes progress notifications under one token.
struct Notes {
    token: String,
    last: f64,
}

impl Notes {
    fn new(token: &str) -> Self {
        Self { token: token.to_owned(), last: f64::NEG_INFINITY }
    }

    /// `None` for a note that does not go forward, which the protocol forbids.
    fn message(&mut self, note: &ProgressNote) -> Option<Vec<u8>> {
        if !note.progress.is_finite() || note.progress <= self.last {
            return None;
        }
        self.last = note.progress;
        let mut out = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#.to_vec();
        out.extend_from_slice(self.token.as_bytes());
        out.extend_from_slice(format!(",\"progress\":{}", note.progress).as_bytes());
        if let Some(total) = note.total.filter(|total| total.is_finite()) {
            out.extend_from_slice(format!(",\"total\":{total}").as_bytes());
        }
        if let Some(message) = &note.message {
            out.extend_from_slice(b",\"message\":");
            text::push_string(&mut out, message);
        }
        out.extend_from_slice(b"}}");
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_go_forward_only_and_are_json() {
        let mut notes = Notes::new("\"t\"");
        let note = |progress| ProgressNote { progress, total: Some(100.0), message: Some("a\"b".into()) };
        let first = String::from_utf8(notes.message(&note(0.5)).unwrap()).unwrap();
        assert_eq!(
            first,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"total":100,"message":"a\"b"}}"#
        );
        assert_eq!(notes.message(&note(0.5)), None);
        assert_eq!(notes.message(&note(f64::NAN)), None);
        assert!(
            notes.message(&note(1e300)).is_some_and(|text| serde_json::from_slice::<serde_json::Value>(&text).is_ok())
        );
    }
}
