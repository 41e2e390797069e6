//! Whether the session a request names is this caller's.

use http::{HeaderMap, StatusCode};

use crate::{
    headers,
    identity::Identified,
    refusal::{Refusal, code},
    session::{self, Session, SessionId},
    wire::{Inner, now},
};

impl Inner {
    /// The session of the request, or why the client must initialize again.
    ///
    /// A session opened by nobody is signed in to once: from then on it is that caller's, and nobody's where no
    /// credential is sent, since clients without headers send theirs with calls only.
    pub(crate) async fn check_session(&self, headers: &HeaderMap, identified: &Identified) -> Result<Session, Refusal> {
        let session = self.read_session(headers)?;
        let caller = &*identified.caller;
        let owner = if !session.opened_by_nobody() || !caller.is_signed_in() {
            session.owner
        } else if let Some(holder) = self.memory.bound(&session.id) {
            holder
        } else {
            let binding = self.memory.bind(&session.id, session::digest_of(caller), session.expires);
            binding.await.map_err(|error| Refusal::unavailable(error.to_string()))?
        };
        if session::is_owner(&owner, caller) {
            return Ok(session);
        }
        // A client whose token ran out should renew it, not begin again as nobody.
        if identified.rejected.is_some() && self.config.challenge.is_some() {
            return Err(self.not_signed_in(identified.rejected));
        }
        Err(gone())
    }

    /// The session that the request names, whoever sent it.
    pub(crate) fn read_session(&self, headers: &HeaderMap) -> Result<Session, Refusal> {
        let name = headers::single(headers, &headers::SESSION_ID)?.and_then(|name| std::str::from_utf8(name).ok());
        name.and_then(|name| self.sessions.read(name, now()))
            .filter(|session| !self.has_ended(&session.id))
            .ok_or_else(gone)
    }

    fn has_ended(&self, id: &SessionId) -> bool {
        self.memory.ended(id) || self.ended_here.contains(id)
    }

    /// Whether the session was ended by its client or has expired.
    pub(crate) fn session_is_over(&self, id: &SessionId, expires: u64) -> bool {
        now() >= expires || self.has_ended(id)
    }

    /// Whether an open stream of `session` may go on for this caller.
    pub(crate) fn session_goes_on(&self, session: &Session, identified: &Identified) -> bool {
        let owner = match self.memory.bound(&session.id) {
            Some(holder) if identified.caller.is_signed_in() => holder,
            _ => session.owner,
        };
        now() < session.expires && !self.has_ended(&session.id) && session::is_owner(&owner, &identified.caller)
    }
}

/// One answer for expired, ended, changed and foreign sessions alike.
fn gone() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, code::NO_SUCH_SESSION, "session is not valid; initialize again")
}
