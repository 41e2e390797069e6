//! The little that must be remembered of legacy sessions: which were signed in to, and which were ended.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::session::{PrincipalDigest, SessionId};

/// What outlives a request. Look-ups are in memory; changes reach every replica before they are answered.
#[async_trait]
pub trait SessionMemory: Send + Sync {
    /// Who signed in to a session that was opened by nobody, as far as is known here.
    fn bound(&self, id: &SessionId) -> Option<PrincipalDigest>;

    /// Binds the session to `principal` unless it is bound already, and says who holds it now.
    async fn bind(
        &self,
        id: &SessionId,
        principal: PrincipalDigest,
        expires: u64,
    ) -> Result<PrincipalDigest, MemoryUnavailable>;

    fn ended(&self, id: &SessionId) -> bool;

    /// Remembers until `expires` (seconds since 1970) that the session is over.
    async fn end(&self, id: &SessionId, expires: u64) -> Result<(), MemoryUnavailable>;
}

#[derive(Debug, thiserror::Error)]
#[error("sessions can't be stored now; try again")]
pub struct MemoryUnavailable;

/// For one process without a store.
#[derive(Default)]
pub struct ProcessMemory(Mutex<HashMap<SessionId, Kept>>);

#[derive(Default)]
struct Kept {
    holder: Option<PrincipalDigest>,
    ended: bool,
    expires: u64,
}

impl ProcessMemory {
    fn kept(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        // Every change is one assignment, so a panic elsewhere can't leave half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets sessions that have run out; nobody can name them any more.
    pub fn sweep(&self, now: u64) {
        self.kept().retain(|_, kept| kept.expires > now);
    }
}

#[async_trait]
impl SessionMemory for ProcessMemory {
    fn bound(&self, id: &SessionId) -> Option<PrincipalDigest> {
        self.kept().get(id).and_then(|kept| kept.holder)
    }

    async fn bind(
        &self,
        id: &SessionId,
        principal: PrincipalDigest,
        expires: u64,
    ) -> Result<PrincipalDigest, MemoryUnavailable> {
        let mut all = self.kept();
        let kept = all.entry(*id).or_default();
        kept.expires = expires;
        Ok(*kept.holder.get_or_insert(principal))
    }

    fn ended(&self, id: &SessionId) -> bool {
        self.kept().get(id).is_some_and(|kept| kept.ended)
    }

    async fn end(&self, id: &SessionId, expires: u64) -> Result<(), MemoryUnavailable> {
        let mut all = self.kept();
        let kept = all.entry(*id).or_default();
        kept.ended = true;
        kept.expires = expires;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_to_sign_in_holds_the_session() {
        let memory = ProcessMemory::default();
        let id = [1; 16];
        assert_eq!(memory.bound(&id), None);
        assert_eq!(memory.bind(&id, [2; 32], 100).await.unwrap(), [2; 32]);
        assert_eq!(memory.bind(&id, [3; 32], 100).await.unwrap(), [2; 32]);
        assert_eq!(memory.bound(&id), Some([2; 32]));
    }

    #[tokio::test]
    async fn an_ended_session_is_remembered_until_it_would_have_expired() {
        let memory = ProcessMemory::default();
        memory.end(&[1; 16], 100).await.unwrap();
        memory.sweep(99);
        assert!(memory.ended(&[1; 16]));
        memory.sweep(100);
        assert!(!memory.ended(&[1; 16]));
    }
}
