//! Checkpoints: every writer's head, signed, to be kept where the ledger is not.

use std::fmt::Write;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    Hash,
    signature::{CheckpointKey, is_signed},
};

/// A writer's last record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub writer: String,
    pub seq: i64,
    pub hash: Hash,
    /// Where the record stands.
    #[serde(default)]
    pub position: i64,
    /// The first record of a later writer names this one, so that nothing else has to.
    #[serde(default, skip_serializing_if = "is_false")]
    pub covered: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(covered: &bool) -> bool {
    !covered
}

/// What is signed. The order of its members is part of the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Signed {
    v: u8,
    time: i64,
    heads: Vec<Head>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<Hash>,
    key: String,
}

/// A signed list of heads. Written as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    signed: Signed,
    signature: String,
}

/// A checkpoint whose signature was checked: what verifying may rely on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted(Checkpoint);

impl Trusted {
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.0
    }
}

/// Why a line is no checkpoint of this ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCheckpoint {
    #[error("the line is not a checkpoint: {0}")]
    Unreadable(String),
    #[error("the checkpoint is of version {0}, which this program does not know; use a newer one")]
    Version(u8),
    #[error("the checkpoint was signed with another key ({0}); give the public key of the ledger that made it")]
    OtherKey(String),
    #[error("the checkpoint's signature does not fit: it was changed after it was made")]
    Signature,
    #[error("the key for checkpoints is not a seed of 32 bytes")]
    Seed,
}

impl Checkpoint {
    pub(super) fn sign(key: &CheckpointKey, time: i64, heads: Vec<Head>, seal: Option<Hash>) -> Self {
        let signed = Signed { v: 1, time, heads, seal, key: key.public() };
        let signature = key.sign(&signed.text());
        Self { signed, signature }
    }

    /// When it was made, Unix milliseconds.
    pub fn time(&self) -> i64 {
        self.signed.time
    }

    pub fn heads(&self) -> &[Head] {
        &self.signed.heads
    }

    /// The hash of the newest seal there was, where a part of the ledger was archived.
    pub fn seal(&self) -> Option<Hash> {
        self.signed.seal
    }

    /// One line of JSON, without the line break.
    pub fn to_line(&self) -> String {
        let mut line = self.signed.text();
        line.pop();
        let _ = write!(line, ",\"signature\":\"{}\"}}", self.signature);
        line
    }

    /// Reads a line; its signature is not looked at.
    pub fn from_line(line: &str) -> Result<Self, BadCheckpoint> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Line {
            v: u8,
            time: i64,
            heads: Vec<Head>,
            seal: Option<Hash>,
            key: String,
            signature: String,
        }
        #[derive(Deserialize)]
        struct Version {
            v: u8,
        }
        let unreadable = |error: serde_json::Error| BadCheckpoint::Unreadable(error.to_string());
        match serde_json::from_str(line).map_err(unreadable)? {
            Version { v: 1 } => {}
            Version { v } => return Err(BadCheckpoint::Version(v)),
        }
        let Line { v, time, heads, seal, key, signature } = serde_json::from_str(line).map_err(unreadable)?;
        Ok(Self { signed: Signed { v, time, heads, seal, key }, signature })
    }

    /// Whether it was signed with the key whose public part this is, and not changed since.
    pub fn verify_signature(&self, public: &str) -> Result<(), BadCheckpoint> {
        if self.signed.key != public {
            return Err(BadCheckpoint::OtherKey(self.signed.key.chars().take(64).collect()));
        }
        if is_signed(&self.signed.text(), &self.signature, public) { Ok(()) } else { Err(BadCheckpoint::Signature) }
    }

    /// The same, as a value to verify against.
    pub fn trusted(self, public: &str) -> Result<Trusted, BadCheckpoint> {
        self.verify_signature(public).map(|()| Trusted(self))
    }
}

impl Signed {
    fn text(&self) -> String {
        // Strings and numbers of our own types always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Hash::from_hex(text.as_bytes()).ok_or_else(|| D::Error::custom("a hash is 64 of 0-9 and a-f"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint() -> (Checkpoint, String) {
        let key = CheckpointKey::from_seed(&[7; 32]).unwrap();
        let heads = vec![Head {
            writer: "w".into(),
            seq: 3,
            hash: Hash::of(&mut Vec::new(), b"", b"x"),
            position: 9,
            covered: false,
        }];
        (Checkpoint::sign(&key, 12, heads, None), key.public())
    }

    #[test]
    fn a_checkpoint_survives_the_way_through_a_line() {
        let (made, public) = checkpoint();
        let line = made.to_line();
        assert!(!line.contains('\n'));
        let read = Checkpoint::from_line(&line).unwrap();
        assert_eq!(read, made);
        read.verify_signature(&public).unwrap();
    }

    #[test]
    fn a_changed_checkpoint_and_another_key_are_noticed() {
        let (made, public) = checkpoint();
        let line = made.to_line();
        for changed in [
            line.replace("\"time\":12", "\"time\":13"),
            line.replace("\"seq\":3", "\"seq\":2"),
            line.replace("\"writer\":\"w\"", "\"writer\":\"v\""),
            line.replace("\"signature\":\"", "\"signature\":\"00"),
        ] {
            assert_ne!(changed, line);
            let read = Checkpoint::from_line(&changed).unwrap();
            assert_eq!(read.verify_signature(&public), Err(BadCheckpoint::Signature), "{changed}");
        }
        let other = CheckpointKey::from_seed(&[8; 32]).unwrap().public();
        assert!(matches!(made.verify_signature(&other), Err(BadCheckpoint::OtherKey(_))));
    }

    #[test]
    fn what_is_no_checkpoint_is_refused() {
        let (made, _) = checkpoint();
        assert_eq!(
            Checkpoint::from_line(&made.to_line().replace("\"v\":1", "\"v\":2")),
            Err(BadCheckpoint::Version(2))
        );
        for odd in ["", "{}", "[]", "{\"v\":1}", &made.to_line().replace("\"time\"", "\"tine\"")] {
            assert!(matches!(Checkpoint::from_line(odd), Err(BadCheckpoint::Unreadable(_))), "{odd}");
        }
        assert!(CheckpointKey::from_seed(&[7; 31]).is_err());
    }
}
