//! The live vault: folder, memory of it, and text, kept in step.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use toolgate_store::{ReadDocument, StoreError, VaultItem, VaultRepository};

use super::{
    VaultConfig,
    failure::Failure,
    folder::{Folder, Seen, nanoseconds},
    kinds, passages,
    scan::reconcile,
    text::{Reader, Text, TextFault, TextLimits},
    tree::{Node, Tree},
};

pub(super) struct Live {
    pub(super) folder: Arc<Folder>,
    pub(super) memory: VaultRepository,
    reader: Reader,
    limits: Limits,
    known: tokio::sync::Mutex<Known>,
    /// One call indexes at a time; the others wait for it and find its work done.
    indexing: tokio::sync::Mutex<()>,
    /// The folder was not where it belongs when it was last used.
    displaced: AtomicBool,
    /// What this process read, by id: the stamp of a document when its text was read.
    stamps: Mutex<HashMap<String, String>>,
}

#[derive(Debug, Clone)]
struct Limits {
    items: usize,
    file_bytes: u64,
    rescan: Duration,
    indexing: Duration,
}

#[derive(Default)]
struct Known {
    seen: Vec<Seen>,
    /// Not there at the last look; forgotten if not there at the next, and meanwhile known by their files alone.
    missed: HashSet<String>,
    tree: Arc<Tree>,
    at: Option<Instant>,
}

/// Others may store the same places at the same time: then what they stored is read, and it is looked again.
const TRIES: usize = 4;

/// A file that changed this recently may change again without its time showing it.
const UNSETTLED: Duration = Duration::from_millis(100);

/// Documents that are read at the same time.
const TOGETHER: usize = 4;

/// Documents, and bytes of their text, that are stored at once: their commits share a wait for the disk.
const STORED_AT_ONCE: (usize, usize) = (64, 1 << 20);

/// The stamp of a document that is to be read again.
const UNREAD: &str = "unread";

impl Live {
    pub(super) fn new(folder: Folder, memory: VaultRepository, config: &VaultConfig) -> Self {
        Self {
            folder: Arc::new(folder),
            memory,
            reader: Reader::new(TextLimits { bytes: config.max_text_bytes, time: config.text_time }),
            limits: Limits {
                items: config.max_items,
                file_bytes: config.max_file_bytes,
                rescan: config.rescan,
                indexing: config.indexing_time,
            },
            known: tokio::sync::Mutex::default(),
            indexing: tokio::sync::Mutex::default(),
            displaced: AtomicBool::new(false),
            stamps: Mutex::default(),
        }
    }

    /// The vault as it is, or was a moment ago.
    pub(super) async fn look(&self) -> Result<Arc<Tree>, Failure> {
        let mut known = self.known.lock().await;
        if known.at.is_none_or(|at| at.elapsed() >= self.limits.rescan) {
            self.scan(&mut known).await?;
        }
        Ok(Arc::clone(&known.tree))
    }

    /// A turn to change the vault, which is looked at first. Nobody else changes it through this process meanwhile.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, Failure> {
        let mut known = self.known.lock().await;
        self.scan(&mut known).await?;
        Ok(Turn { tree: Arc::clone(&known.tree), vault: self, known })
    }

    async fn scan(&self, known: &mut Known) -> Result<(), Failure> {
        let at = Instant::now();
        if known.at.is_some() && known.missed.is_empty() && self.walk().await? == known.seen {
            known.at = Some(at);
            return Ok(());
        }
        for _ in 0..TRIES {
            // what is known first, what is there second: others may add to both, and what they just made known would
            // otherwise seem to be gone
            let items = self.items().await?;
            let seen = self.walk().await?;
            let (walked, before, missed) = (seen.clone(), items.clone(), known.missed.clone());
            let reconciled =
                move |folder: &Folder| Ok(reconcile(&walked, &before, &missed, |path| folder.digest(path).ok()));
            let mut scanned = self.on_disk(reconciled).await?;
            let missed = scanned.doubt(&known.missed, &items);
            match self.memory.update(&scanned.update).await {
                Ok(()) if self.are_stored(&scanned.update.new).await? => {
                    *known = Known { seen, missed, tree: Arc::new(Tree::new(scanned.nodes)), at: Some(at) };
                    return Ok(());
                }
                Ok(()) | Err(StoreError::Duplicate { .. }) => {}
                Err(fault) => return Err(Failure::index(&fault)),
            }
        }
        Err(Failure::internal("The vault changes too fast to be read. Try again shortly."))
    }

    async fn walk(&self) -> Result<Vec<Seen>, Failure> {
        let most = self.limits.items;
        self.on_disk(move |folder| folder.walk(most)).await
    }

    async fn items(&self) -> Result<Vec<VaultItem>, Failure> {
        self.memory.items().await.map_err(|fault| Failure::index(&fault))
    }

    /// Another process may have given one of them an id first.
    async fn are_stored(&self, new: &[VaultItem]) -> Result<bool, Failure> {
        if new.is_empty() {
            return Ok(true);
        }
        let stored: HashSet<String> = self.items().await?.into_iter().map(|item| item.id).collect();
        Ok(new.iter().all(|item| stored.contains(&item.id)))
    }

    /// Runs what blocks where it may, if the folder is still the one that was opened.
    pub(super) async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> std::io::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let folder = Arc::clone(&self.folder);
        let checked = move || if folder.is_displaced()? { Ok(None) } else { work(&folder).map(Some) };
        let done = tokio::task::spawn_blocking(checked).await;
        if let Ok(Ok(done)) = &done {
            self.note_displaced(done.is_none());
        }
        match done {
            Ok(Ok(Some(done))) => Ok(done),
            Ok(Ok(None)) => Err(Failure::displaced()),
            Ok(Err(fault)) => Err(Failure::disk(&fault)),
            Err(_) => Err(Failure::internal("The vault's folder can't be used at the moment.")),
        }
    }

    /// Tells the log when the folder goes and when it is back, and not for every call in between.
    fn note_displaced(&self, is_displaced: bool) {
        match (self.displaced.swap(is_displaced, Ordering::Relaxed), is_displaced) {
            (false, true) => {
                tracing::error!(target: "toolgate::vault", "the vault's folder was moved, replaced or removed");
            }
            (true, false) => tracing::info!(target: "toolgate::vault", "the vault's folder is back"),
            _ => {}
        }
    }

    /// The text of a document; an error says why there is none.
    pub(super) async fn text(&self, node: &Node) -> Result<Text, Unread> {
        let Some(format) = kinds::format(&node.known.name) else { return Err(Unread::NoText) };
        let (path, most) = (node.path.clone(), self.limits.file_bytes);
        let content = self.on_disk(move |folder| folder.read(&path, most)).await.map_err(Unread::Disk)?;
        let content = content.ok_or(Unread::TooLarge(most))?;
        self.reader.read(format, content).await.map_err(Unread::Text)
    }

    /// Indexes what changed, for as long as one call may wait for it. Gives how many documents are left for later.
    pub(super) async fn index(&self, tree: &Tree) -> Result<usize, Failure> {
        let _alone = self.indexing.lock().await;
        let until = Instant::now() + self.limits.indexing;
        let mut changed: Vec<&Node> = tree.nodes().filter(|node| self.is_unread(node)).collect();
        changed.sort_by(|one, other| one.path.cmp(&other.path));
        let (mut read, mut bytes) = (Vec::new(), 0);
        for (done, some) in (0..).step_by(TOGETHER).zip(changed.chunks(TOGETHER)) {
            if Instant::now() >= until {
                self.store_texts(&read).await?;
                return Ok(changed.len() - done);
            }
            let one = |place: usize| self.read_text(some.get(place).copied());
            let texts = tokio::join!(one(0), one(1), one(2), one(3));
            for text in [texts.0, texts.1, texts.2, texts.3].into_iter().flatten() {
                bytes += text.passages.iter().map(|passage| passage.text.len()).sum::<usize>();
                read.push(text);
            }
            if read.len() >= STORED_AT_ONCE.0 || bytes >= STORED_AT_ONCE.1 {
                self.store_texts(&read).await?;
                (read, bytes) = (Vec::new(), 0);
            }
        }
        self.store_texts(&read).await?;
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.retain(|id, _| tree.get(id).is_some());
        Ok(0)
    }

    fn is_unread(&self, node: &Node) -> bool {
        if node.known.folder {
            return false;
        }
        let now = Some(stamp(&node.known));
        let stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        let read = stamps.get(&node.known.id).or(node.known.stamp.as_ref());
        // of what never had a text there is nothing to keep
        read != now.as_ref() && (read.is_some() || kinds::format(&node.known.name).is_some())
    }

    async fn read_text(&self, node: Option<&Node>) -> Option<ReadDocument> {
        let node = node?;
        // one that may still be changing is read again next time, as is one that could not be read now
        let mut stamp = if is_settled(&node.known) { stamp(&node.known) } else { UNREAD.to_owned() };
        let path = node.path.clone();
        let digest = self.on_disk(move |folder| folder.digest(&path)).await.ok();
        let passages = match self.text(node).await {
            Ok(text) => passages::passages(&node.known.name, &text.text),
            Err(Unread::NoText) => Vec::new(),
            Err(unread) => {
                if matches!(unread, Unread::Disk(_) | Unread::Text(TextFault::Busy)) {
                    UNREAD.clone_into(&mut stamp);
                }
                tracing::warn!(target: "toolgate::vault", path = node.path, "a document has no text: {unread}");
                Vec::new()
            }
        };
        Some(ReadDocument { item: node.known.id.clone(), stamp, digest, passages })
    }

    /// Stores all of them at once, or one by one where the database can't hold one of them.
    async fn store_texts(&self, texts: &[ReadDocument]) -> Result<(), Failure> {
        match self.memory.read_all(texts).await {
            Err(StoreError::Failed { .. } | StoreError::Invalid { .. }) => {
                for text in texts {
                    self.store_text(text).await?;
                }
            }
            stored => stored.map_err(|fault| Failure::index(&fault))?,
        }
        let mut stamps = self.stamps.lock().unwrap_or_else(PoisonError::into_inner);
        stamps.extend(texts.iter().map(|text| (text.item.clone(), text.stamp.clone())));
        Ok(())
    }

    async fn store_text(&self, text: &ReadDocument) -> Result<(), Failure> {
        let stored = match self.memory.read_all(std::slice::from_ref(text)).await {
            // a document the database can't hold does not keep the others from being found
            Err(fault @ (StoreError::Failed { .. } | StoreError::Invalid { .. })) => {
                tracing::warn!(target: "toolgate::vault", item = text.item, %fault, "a document is not indexed");
                let without = ReadDocument { passages: Vec::new(), ..text.clone() };
                self.memory.read_all(&[without]).await
            }
            stored => stored,
        };
        stored.map_err(|fault| Failure::index(&fault))
    }
}

/// A time in the future is nobody's clock, and will not come nearer by waiting.
fn is_settled(item: &VaultItem) -> bool {
    let age = nanoseconds(SystemTime::now()).saturating_sub(item.modified);
    u128::try_from(age).map_or(true, |age| age >= UNSETTLED.as_nanos())
}

/// The vault while one call changes it.
pub(super) struct Turn<'a> {
    pub(super) vault: &'a Live,
    /// As it was when the turn began.
    pub(super) tree: Arc<Tree>,
    known: tokio::sync::MutexGuard<'a, Known>,
}

impl Turn<'_> {
    /// The vault as it is by now.
    pub(super) async fn look(&mut self) -> Result<Arc<Tree>, Failure> {
        self.vault.scan(&mut self.known).await?;
        Ok(Arc::clone(&self.known.tree))
    }
}

impl Drop for Turn<'_> {
    /// Whoever comes next looks for itself, also after a failure: half of a change may have happened.
    fn drop(&mut self) {
        self.known.at = None;
    }
}

/// What a document's content looks like from outside. Its name is part of what it is found by.
fn stamp(item: &VaultItem) -> String {
    format!("{}.{}.{}.{}.{}", item.size, item.modified, item.inode, item.born, item.name)
}

/// Why a document has no text to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// Of a kind whose text is not read.
    NoText,
    TooLarge(u64),
    Text(TextFault),
    Disk(Failure),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoText => f.write_str("the text of this kind of document is not read"),
            Self::TooLarge(most) => write!(f, "it is larger than {most} bytes"),
            Self::Text(fault) => write!(f, "{fault}"),
            Self::Disk(failure) => f.write_str(&failure.error),
        }
    }
}
