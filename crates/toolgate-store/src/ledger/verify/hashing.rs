//! Hashes what was read, beside the reading: each takes about half of the time.

use std::{
    mem,
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use aws_lc_rs::digest;

use super::super::Hash;

/// Bytes that are handed over at once.
const BATCH: usize = 256 * 1024;
/// Batches that may wait: the reading does not run ahead of the hashing, whatever the size of the ledger.
const WAITING: usize = 4;

/// A record whose text does not have its hash.
pub(super) struct Edited {
    /// The how manyeth record that was read it is.
    pub(super) order: u64,
    pub(super) writer: Arc<str>,
    pub(super) seq: i64,
}

#[derive(Default)]
pub(super) struct Hashing {
    batch: Batch,
    worker: Option<(SyncSender<Batch>, JoinHandle<Vec<Edited>>)>,
    edited: Vec<Edited>,
}

#[derive(Default)]
struct Batch {
    /// Previous hash and text of each record, one after another.
    bytes: Vec<u8>,
    items: Vec<Item>,
}

struct Item {
    end: usize,
    stored: Option<Hash>,
    record: Edited,
}

impl Hashing {
    pub(super) fn check(&mut self, previous: &[u8], text: &[u8], stored: Option<Hash>, record: Edited) {
        self.batch.bytes.extend_from_slice(previous);
        self.batch.bytes.extend_from_slice(text);
        self.batch.items.push(Item { end: self.batch.bytes.len(), stored, record });
        if self.batch.bytes.len() >= BATCH {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let room = Batch { bytes: Vec::with_capacity(BATCH + BATCH / 4), items: Vec::with_capacity(512) };
        let batch = mem::replace(&mut self.batch, room);
        if self.worker.is_none() {
            self.worker = start();
        }
        match &self.worker {
            Some((queue, _)) => {
                // A worker that ended is noticed when it is joined.
                let _ = queue.send(batch);
            }
            None => batch.hash(&mut self.edited),
        }
    }

    /// Every record whose text does not have its hash; `None` if the hashing failed, and so nothing is known.
    pub(super) fn finish(mut self) -> Option<Vec<Edited>> {
        mem::take(&mut self.batch).hash(&mut self.edited);
        if let Some((queue, worker)) = self.worker {
            drop(queue);
            self.edited.extend(worker.join().ok()?);
        }
        Some(self.edited)
    }
}

fn start() -> Option<(SyncSender<Batch>, JoinHandle<Vec<Edited>>)> {
    let (queue, batches) = sync_channel::<Batch>(WAITING);
    let work = move || {
        let mut edited = Vec::new();
        while let Ok(batch) = batches.recv() {
            batch.hash(&mut edited);
        }
        edited
    };
    let worker = thread::Builder::new().name("ledger-hashing".to_owned()).spawn(work).ok()?;
    Some((queue, worker))
}

impl Batch {
    fn hash(self, edited: &mut Vec<Edited>) {
        let mut start = 0;
        for Item { end, stored, record } in self.items {
            let bytes = self.bytes.get(start..end).unwrap_or_default();
            let hash = digest::digest(&digest::SHA256, bytes);
            if stored.is_none_or(|stored| stored.as_bytes() != hash.as_ref()) {
                edited.push(record);
            }
            start = end;
        }
    }
}
