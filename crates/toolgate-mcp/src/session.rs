//! Legacy sessions: a sealed name that any replica can read, good only for the caller it was given to.
//!
//! A session carries no right at all; every request is identified on its own. Binding it to its caller only keeps
//! a name that leaked from being used by someone else.

use aws_lc_rs::{digest, rand};
use toolgate_core::Caller;

use crate::{abilities::Abilities, era::Version, owner_key::OwnerKey, seal::Seal, wire::Legacy};

pub type SessionId = [u8; 16];

/// The SHA-256 of who a caller is. All zeros is nobody.
pub type PrincipalDigest = [u8; 32];

const NOBODY: PrincipalDigest = [0; 32];
const FORMAT: u8 = 2;
const LENGTH: usize = 1 + 1 + 1 + 32 + 8 + 8 + 16;

/// What a session's name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) version: Version,
    /// What the client said it can be asked.
    pub(crate) abilities: Abilities,
    pub(crate) owner: PrincipalDigest,
    pub(crate) issued: u64,
    pub(crate) expires: u64,
    pub(crate) id: SessionId,
}

pub(crate) struct Sessions(Seal);

impl Sessions {
    pub(crate) fn new(master: &[u8]) -> Self {
        Self(Seal::derive(master, "toolgate session 1"))
    }

    /// A new session, or `None` if the machine has no randomness to give.
    pub(crate) fn open(
        &self,
        (version, abilities): (Version, Abilities),
        caller: &Caller,
        now: u64,
        ttl: u64,
    ) -> Option<String> {
        let mut id = SessionId::default();
        rand::fill(&mut id).ok()?;
        let expires = now.saturating_add(ttl);
        let session = Session { version, abilities, owner: digest_of(caller), issued: now, expires, id };
        Some(self.0.seal(&session.to_bytes(), &[]))
    }

    /// The session of a name that we gave out and that has not run out.
    pub(crate) fn read(&self, name: &str, now: u64) -> Option<Session> {
        let session = Session::from_bytes(&self.0.open::<LENGTH>(name, &[])?)?;
        (session.issued <= now.saturating_add(SKEW) && now < session.expires).then_some(session)
    }
}

/// Seconds that two replicas' clocks may differ.
const SKEW: u64 = 60;

impl Session {
    pub(crate) fn known(&self, owner: OwnerKey) -> Legacy {
        Legacy { abilities: self.abilities, session: self.id, expires: self.expires, owner }
    }

    pub(crate) fn opened_by_nobody(&self) -> bool {
        self.owner == NOBODY
    }

    fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let version = u8::from(self.version == Version::V2025_11_25);
        let parts: [&[u8]; 5] = [
            &[FORMAT, version, self.abilities.bits()],
            &self.owner,
            &self.issued.to_be_bytes(),
            &self.expires.to_be_bytes(),
            &self.id,
        ];
        for (slot, byte) in bytes.iter_mut().zip(parts.into_iter().flatten()) {
            *slot = *byte;
        }
        bytes
    }

    fn from_bytes(bytes: &[u8; LENGTH]) -> Option<Self> {
        let (&[format, version, abilities], rest) = bytes.split_first_chunk()?;
        let (&owner, rest) = rest.split_first_chunk()?;
        let (&issued, rest) = rest.split_first_chunk()?;
        let (&expires, rest) = rest.split_first_chunk()?;
        let (&id, _) = rest.split_first_chunk()?;
        let version = match (format, version) {
            (FORMAT, 0) => Version::V2025_06_18,
            (FORMAT, 1) => Version::V2025_11_25,
            _ => return None,
        };
        let (issued, expires) = (u64::from_be_bytes(issued), u64::from_be_bytes(expires));
        Some(Self { version, abilities: Abilities::from_bits(abilities), owner, issued, expires, id })
    }
}

pub(crate) fn digest_of(caller: &Caller) -> PrincipalDigest {
    if !caller.is_signed_in() {
        return NOBODY;
    }
    let digest = digest::digest(&digest::SHA256, caller.principal().as_bytes());
    digest.as_ref().try_into().unwrap_or(NOBODY)
}

/// Whether `caller` is `owner`, or is `owner` and more: a user who also speaks as an agent is still that user.
pub(crate) fn is_owner(owner: &PrincipalDigest, caller: &Caller) -> bool {
    if *owner == digest_of(caller) {
        return true;
    }
    let (user, agent, task) = (caller.user.is_some(), caller.agent.is_some(), caller.task.is_some());
    let narrower = [
        (true, true, false),
        (true, false, true),
        (false, true, true),
        (true, false, false),
        (false, true, false),
        (false, false, true),
    ];
    narrower
        .into_iter()
        .filter(|&(u, a, t)| (!u || user) && (!a || agent) && (!t || task))
        .map(|(u, a, t)| Caller {
            user: caller.user.clone().filter(|_| u),
            agent: caller.agent.clone().filter(|_| a),
            task: caller.task.clone().filter(|_| t),
            ..Caller::default()
        })
        .any(|part| *owner == digest_of(&part))
}

#[cfg(test)]
mod tests {
    use toolgate_core::caller::{Agent, AgentKind, UserId};

    use super::*;

    fn user(name: &str) -> Caller {
        Caller { user: Some(UserId::own(name).unwrap()), ..Caller::default() }
    }

    fn agent(id: &str) -> Option<Agent> {
        Some(Agent { id: id.into(), kind: AgentKind::Worker, project: None, purpose: None, session: None })
    }

    #[test]
    fn a_session_says_again_what_was_put_in() {
        let sessions = Sessions::new(b"key");
        let name = sessions.open((Version::V2025_06_18, Abilities::default()), &user("a"), 1000, 60).unwrap();
        let session = sessions.read(&name, 1059).unwrap();
        assert_eq!((session.version, session.issued, session.expires), (Version::V2025_06_18, 1000, 1060));
        assert!(is_owner(&session.owner, &user("a")));
        assert!(!session.opened_by_nobody());
        assert!(name.bytes().all(|byte| byte.is_ascii_graphic()));
        let other = sessions.open((Version::V2025_06_18, Abilities::default()), &user("a"), 1000, 60).unwrap();
        assert_ne!(session.id, sessions.read(&other, 1059).unwrap().id);
    }

    #[test]
    fn an_expired_changed_or_foreign_name_is_no_session() {
        let sessions = Sessions::new(b"key");
        let name = sessions.open((Version::V2025_11_25, Abilities::default()), &user("a"), 1000, 60).unwrap();
        assert_eq!(sessions.read(&name, 1060), None);
        assert_eq!(sessions.read(&name, 100), None);
        assert_eq!(Sessions::new(b"other").read(&name, 1001), None);
        assert_eq!(sessions.read("nonsense", 1001), None);
        let changed =
            if let Some(rest) = name.strip_prefix('A') { format!("B{rest}") } else { format!("A{}", &name[1..]) };
        assert_eq!(sessions.read(&changed, 1001), None);
    }

    #[test]
    fn an_owner_who_is_more_is_still_the_owner_and_nobody_else_is() {
        let both = Caller { agent: agent("x"), ..user("a") };
        assert!(is_owner(&digest_of(&user("a")), &both));
        assert!(is_owner(&digest_of(&Caller { agent: agent("x"), ..Caller::default() }), &both));
        assert!(!is_owner(&digest_of(&both), &user("a")));
        assert!(!is_owner(&digest_of(&user("b")), &both));
        assert!(!is_owner(&digest_of(&user("a")), &Caller::anonymous()));
        assert!(is_owner(&NOBODY, &Caller::anonymous()));
        assert!(!is_owner(&NOBODY, &user("a")));
    }
}
