//! Legacy sessions that ended or were signed in to: looked up in memory, kept in the store, shared by replicas.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::{SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use tokio::task::AbortHandle;
use toolgate_mcp::{MemoryUnavailable, PrincipalDigest, SessionId, SessionMemory};
use toolgate_store::{Change, Store, StoreError};

/// The store's sessions, with a copy in memory that follows every replica's changes.
pub struct StoredSessions {
    store: Store,
    known: Arc<Known>,
    following: AbortHandle,
}

type Known = RwLock<HashMap<String, Kept>>;

#[derive(Debug, Clone, Default)]
struct Kept {
    holder: Option<PrincipalDigest>,
    ended: bool,
}

impl StoredSessions {
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let known = Arc::new(Known::default());
        let mut changes = store.changes();
        load(&store, &known).await?;
        let (followed, follower) = (store.clone(), Arc::clone(&known));
        let following = tokio::spawn(async move {
            while let Some(change) = changes.next().await {
                match change {
                    Change::SessionEnded { id } => note(&follower, id, |kept| kept.ended = true),
                    Change::SessionBound { id, principal } => {
                        let holder = digest(&principal);
                        note(&follower, id, |kept| kept.holder = holder);
                    }
                    // something was missed: read all of it again
                    Change::Resync => {
                        if let Err(fault) = load(&followed, &follower).await {
                            tracing::warn!(%fault, "sessions could not be read again");
                        }
                    }
                    Change::Task { .. }
                    | Change::Key { .. }
                    | Change::Flow { .. }
                    | Change::Approval { .. }
                    | Change::AgentSession { .. }
                    | Change::Rights
                    | Change::Team { .. } => {}
                }
            }
        })
        .abort_handle();
        Ok(Self { store, known, following })
    }

    fn kept(&self, id: &SessionId) -> Option<Kept> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.is_empty() {
            return None;
        }
        known.get(&name(id)).cloned()
    }
}

impl Drop for StoredSessions {
    fn drop(&mut self) {
        self.following.abort();
    }
}

#[async_trait]
impl SessionMemory for StoredSessions {
    fn bound(&self, id: &SessionId) -> Option<PrincipalDigest> {
        self.kept(id).and_then(|kept| kept.holder)
    }

    async fn bind(
        &self,
        id: &SessionId,
        principal: PrincipalDigest,
        expires: u64,
    ) -> Result<PrincipalDigest, MemoryUnavailable> {
        let holder = self
            .store
            .sessions()
            .bind(&name(id), &BASE64.encode(principal), millis(expires))
            .await
            .map_err(|fault| unavailable(&fault))?;
        // a session that has ended in the meantime has no holder
        let holder = holder.as_deref().and_then(digest).ok_or(MemoryUnavailable)?;
        note(&self.known, name(id), |kept| kept.holder = Some(holder));
        Ok(holder)
    }

    fn ended(&self, id: &SessionId) -> bool {
        self.kept(id).is_some_and(|kept| kept.ended)
    }

    async fn end(&self, id: &SessionId, expires: u64) -> Result<(), MemoryUnavailable> {
        self.store.sessions().end(&name(id), millis(expires)).await.map_err(|fault| unavailable(&fault))?;
        note(&self.known, name(id), |kept| kept.ended = true);
        Ok(())
    }
}

/// Replaces what is known, so that expired sessions are forgotten too.
async fn load(store: &Store, known: &Known) -> Result<(), StoreError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    store.sessions().purge(millis(now)).await?;
    // nobody else comes by where results were cut once and none is any more
    store.cut_results().purge(millis(now)).await?;
    let sessions = store.sessions().load(millis(now)).await?;
    let loaded = sessions
        .into_iter()
        .map(|session| {
            (session.id, Kept { holder: session.principal.as_deref().and_then(digest), ended: session.ended })
        })
        .collect();
    *known.write().unwrap_or_else(PoisonError::into_inner) = loaded;
    Ok(())
}

fn note(known: &Known, id: String, change: impl FnOnce(&mut Kept)) {
    change(known.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_default());
}

fn name(id: &SessionId) -> String {
    BASE64.encode(id)
}

fn digest(text: &str) -> Option<PrincipalDigest> {
    BASE64.decode(text).ok()?.try_into().ok()
}

fn millis(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}

fn unavailable(fault: &StoreError) -> MemoryUnavailable {
    tracing::error!(%fault, "a session could not be stored");
    MemoryUnavailable
}
