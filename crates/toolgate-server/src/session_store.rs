//! Legacy sessions that ended or were signed in to: looked up in memory, kept in the store, shared by replicas.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use tokio::task::AbortHandle;
use toolgate_core::forget_tenth;
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
    /// Milliseconds since 1970, after which nobody can name the session.
    expires: i64,
}

/// Sessions known at the most. Of more, those are forgotten first that have not ended: who holds one is asked of the store
/// again, and that one has ended is not.
const MOST: usize = 100_000;
/// How long a session may last of which another replica tells: that one knows, and the next purge finds it.
const LONGEST: i64 = 24 * 60 * 60 * 1000;
/// How often expired sessions are forgotten.
const PURGE_EVERY: Duration = Duration::from_secs(10 * 60);

impl StoredSessions {
    pub async fn open(store: Store) -> Result<Self, StoreError> {
        let known = Arc::new(Known::default());
        let mut changes = store.changes();
        load(&store, &known).await?;
        let (followed, follower) = (store.clone(), Arc::clone(&known));
        let following = tokio::spawn(async move {
            let mut purge = tokio::time::interval_at(tokio::time::Instant::now() + PURGE_EVERY, PURGE_EVERY);
            loop {
                let change = tokio::select! {
                    change = changes.next() => change,
                    _ = purge.tick() => {
                        forget(&followed, &follower).await;
                        continue;
                    }
                };
                let Some(change) = change else { break };
                match change {
                    Change::SessionEnded { id } => note(&follower, id, now() + LONGEST, |kept| kept.ended = true),
                    Change::SessionBound { id, principal } => {
                        let holder = digest(&principal);
                        note(&follower, id, now() + LONGEST, |kept| kept.holder = holder);
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
        note(&self.known, name(id), millis(expires), |kept| kept.holder = Some(holder));
        Ok(holder)
    }

    fn ended(&self, id: &SessionId) -> bool {
        self.kept(id).is_some_and(|kept| kept.ended)
    }

    async fn end(&self, id: &SessionId, expires: u64) -> Result<(), MemoryUnavailable> {
        self.store.sessions().end(&name(id), millis(expires)).await.map_err(|fault| unavailable(&fault))?;
        note(&self.known, name(id), millis(expires), |kept| kept.ended = true);
        Ok(())
    }
}

/// Replaces what is known, so that expired sessions are forgotten too.
async fn load(store: &Store, known: &Known) -> Result<(), StoreError> {
    let now = now();
    store.sessions().purge(now).await?;
    // nobody else comes by where results were cut once and none is any more
    store.cut_results().purge(now).await?;
    let sessions = store.sessions().load(now).await?;
    let loaded = sessions
        .into_iter()
        .map(|session| {
            let holder = session.principal.as_deref().and_then(digest);
            (session.id, Kept { holder, ended: session.ended, expires: session.expires_at })
        })
        .collect();
    *known.write().unwrap_or_else(PoisonError::into_inner) = loaded;
    Ok(())
}

/// Forgets what has expired, here and in the store.
async fn forget(store: &Store, known: &Known) {
    let now = now();
    known.write().unwrap_or_else(PoisonError::into_inner).retain(|_, kept| kept.expires > now);
    if let Err(fault) = store.sessions().purge(now).await {
        tracing::warn!(%fault, "expired sessions could not be removed");
    }
}

fn note(known: &Known, id: String, expires: i64, change: impl FnOnce(&mut Kept)) {
    let mut known = known.write().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST && !known.contains_key(&id) {
        make_room(&mut known);
    }
    let kept = known.entry(id).or_insert(Kept { expires, ..Kept::default() });
    // of two times the earlier one is exact: the other is the longest that a session may last
    kept.expires = kept.expires.min(expires);
    change(kept);
}

/// Forgets what has expired, and then a tenth: sessions that have not ended before others, and those that expire first.
fn make_room(known: &mut HashMap<String, Kept>) {
    let now = now();
    known.retain(|_, kept| kept.expires > now);
    if known.len() < MOST {
        return;
    }
    forget_tenth(known, MOST, |kept| (kept.ended, kept.expires));
}

/// Milliseconds since 1970.
fn now() -> i64 {
    crate::now_millis()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_sessions_are_known_and_those_that_last_longest_stay() {
        let known = Known::default();
        let begun = now();
        for number in 0..MOST + 1000 {
            let expires = begun + 60_000 + i64::try_from(number).unwrap();
            note(&known, format!("s{number}"), expires, |kept| kept.ended = true);
        }
        let all = known.read().unwrap();
        assert!(all.len() <= MOST, "{}", all.len());
        assert!(all.contains_key(&format!("s{}", MOST + 999)) && !all.contains_key("s0"));
    }

    #[test]
    fn a_session_that_has_ended_outlasts_those_that_were_signed_in_to() {
        let known = Known::default();
        let begun = now();
        note(&known, "over".to_owned(), begun + 60_000, |kept| kept.ended = true);
        for number in 0..MOST + 1000 {
            let expires = begun + 120_000 + i64::try_from(number).unwrap();
            note(&known, format!("s{number}"), expires, |kept| kept.holder = Some([1; 32]));
        }
        let all = known.read().unwrap();
        assert!(all.len() <= MOST && all.get("over").is_some_and(|kept| kept.ended));
    }

    #[tokio::test]
    async fn what_has_expired_is_forgotten_here_and_in_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&toolgate_store::Location::Sqlite(folder.path().join("t.db"))).await.unwrap();
        let sessions = StoredSessions::open(store.clone()).await.unwrap();
        let (over, alive) = ([1; 16], [2; 16]);
        sessions.end(&over, 1).await.unwrap();
        sessions.end(&alive, u64::MAX / 2000).await.unwrap();
        assert!(sessions.ended(&over) && sessions.ended(&alive));
        forget(&store, &sessions.known).await;
        assert!(!sessions.ended(&over) && sessions.ended(&alive));
        assert_eq!(store.sessions().load(0).await.unwrap().len(), 1);
    }
}
