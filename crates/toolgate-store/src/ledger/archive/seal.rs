//! The seal of an archive: what its file holds, and how all chains stand before and after it, signed.

use serde::{Deserialize, Serialize};

use super::super::{CheckpointKey, Hash, Head, signature::is_signed, verify::RecordedLosses};

const KIND: &str = "ledger archive";
const SIGNATURE: &str = ",\"signature\":\"";

/// The signed members. Their order is part of the format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SealContent {
    pub(super) v: u8,
    pub(super) kind: String,
    /// When the archive was made, Unix milliseconds.
    pub(super) time: i64,
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) sha256: Hash,
    pub(super) records: u64,
    pub(super) first_time: i64,
    pub(super) last_time: i64,
    /// Records after this position, up to and with the other, are in the file.
    pub(super) after: i64,
    pub(super) until: i64,
    /// The chains before the first record.
    pub(super) begins: Vec<Head>,
    /// The chains after the last record.
    pub(super) ends: Vec<Head>,
    /// Losses on record when the archive was made.
    pub(super) losses: RecordedLosses,
    /// The hash of the seal before; zeros for the first.
    pub(super) previous: Hash,
    pub(super) key: String,
}

/// A signed description of one archive. Written as one line of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveSeal {
    content: SealContent,
    /// The text that is signed.
    text: String,
    signature: String,
}

/// Why a line is no seal of this ledger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("it is not a seal: {0}")]
    Unreadable(String),
    #[error("it is of version {0}, which this program does not know; use a newer one")]
    Version(u8),
    #[error("it was signed with another key ({0}); give the public key of the ledger that made it")]
    OtherKey(String),
    #[error("its signature does not fit: it was changed after it was made")]
    Signature,
}

impl SealContent {
    pub(super) fn sign(mut self, key: &CheckpointKey) -> ArchiveSeal {
        (self.v, self.kind, self.key) = (1, KIND.to_owned(), key.public());
        // Strings and numbers of our own types always serialise.
        let text = serde_json::to_string(&self).unwrap_or_default();
        let signature = key.sign(&text);
        ArchiveSeal { content: self, text, signature }
    }
}

impl ArchiveSeal {
    pub(super) fn content(&self) -> &SealContent {
        &self.content
    }

    /// When the archive was made, Unix milliseconds.
    pub fn time(&self) -> i64 {
        self.content.time
    }

    /// The name of the archive's file.
    pub fn file(&self) -> &str {
        &self.content.file
    }

    /// The name of the file that holds the seal.
    pub fn seal_file(&self) -> String {
        seal_file(self.file())
    }

    pub fn bytes(&self) -> u64 {
        self.content.bytes
    }

    pub fn records(&self) -> u64 {
        self.content.records
    }

    /// The earliest and the latest time of a record, Unix milliseconds.
    pub fn times(&self) -> (i64, i64) {
        (self.content.first_time, self.content.last_time)
    }

    /// SHA-256 of the line.
    pub fn hash(&self) -> Hash {
        Hash::of(&mut Vec::new(), b"", self.to_line().as_bytes())
    }

    /// One line of JSON, without the line break.
    pub fn to_line(&self) -> String {
        let open = self.text.strip_suffix('}').unwrap_or(&self.text);
        format!("{open}{SIGNATURE}{}\"}}", self.signature)
    }

    /// Reads a line; its signature is not looked at.
    pub fn from_line(line: &str) -> Result<Self, SealError> {
        #[derive(Deserialize)]
        struct Version {
            v: u8,
        }
        let unreadable = |error: serde_json::Error| SealError::Unreadable(error.to_string());
        match serde_json::from_str(line).map_err(unreadable)? {
            Version { v: 1 } => {}
            Version { v } => return Err(SealError::Version(v)),
        }
        let unsigned = || SealError::Unreadable("it has no signature".to_owned());
        let (open, rest) = line.rsplit_once(SIGNATURE).ok_or_else(unsigned)?;
        let signature = rest.strip_suffix("\"}").ok_or_else(unsigned)?.to_owned();
        let text = format!("{open}}}");
        let content: SealContent = serde_json::from_str(&text).map_err(unreadable)?;
        let is_name = !content.file.is_empty() && !content.file.contains(['/', '\\', '\0']) && content.file != "..";
        if content.kind != KIND || !is_name {
            return Err(SealError::Unreadable("its kind or the name of its file is not one of a seal".to_owned()));
        }
        Ok(Self { content, text, signature })
    }

    /// Checks that the seal was signed with the key whose public part this is, and not changed since.
    pub fn verify_signature(&self, public: &str) -> Result<(), SealError> {
        if self.content.key != public {
            return Err(SealError::OtherKey(self.content.key.chars().take(64).collect()));
        }
        if is_signed(&self.text, &self.signature, public) { Ok(()) } else { Err(SealError::Signature) }
    }
}

/// `2026-11-16-00000012.jsonl` has its seal in `2026-11-16-00000012.seal.json`.
pub(super) fn seal_file(file: &str) -> String {
    format!("{}{SEAL_EXTENSION}", file.strip_suffix(".jsonl").unwrap_or(file))
}

pub(super) const SEAL_EXTENSION: &str = ".seal.json";

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(file: &str) -> (ArchiveSeal, String) {
        let key = CheckpointKey::from_seed(&[7; 32]).unwrap();
        let content = SealContent {
            v: 0,
            kind: String::new(),
            time: 12,
            file: file.into(),
            bytes: 3,
            sha256: Hash::of(&mut Vec::new(), b"", b"abc"),
            records: 1,
            first_time: 1,
            last_time: 2,
            after: 0,
            until: 9,
            begins: Vec::new(),
            ends: vec![Head { writer: "w".into(), seq: 3, hash: Hash::NOTHING, position: 9, covered: true }],
            losses: RecordedLosses::default(),
            previous: Hash::NOTHING,
            key: String::new(),
        };
        (content.sign(&key), key.public())
    }

    #[test]
    fn a_seal_survives_the_way_through_a_line() {
        let (made, public) = seal("a.jsonl");
        let read = ArchiveSeal::from_line(&made.to_line()).unwrap();
        assert_eq!(read, made);
        assert_eq!((read.hash(), read.seal_file()), (made.hash(), "a.seal.json".to_owned()));
        read.verify_signature(&public).unwrap();
    }

    #[test]
    fn a_changed_seal_and_another_key_are_noticed() {
        let (made, public) = seal("a.jsonl");
        let line = made.to_line();
        for (from, to) in
            [("\"records\":1", "\"records\":2"), ("\"seq\":3", "\"seq\":2"), ("signature\":\"", "signature\":\"00")]
        {
            let changed = line.replace(from, to);
            assert_ne!(changed, line);
            let read = ArchiveSeal::from_line(&changed).unwrap();
            assert_eq!(read.verify_signature(&public), Err(SealError::Signature), "{changed}");
        }
        let other = CheckpointKey::from_seed(&[8; 32]).unwrap().public();
        assert!(matches!(made.verify_signature(&other), Err(SealError::OtherKey(_))));
    }

    #[test]
    fn a_line_that_is_no_seal_is_refused() {
        let line = seal("a.jsonl").0.to_line();
        assert_eq!(ArchiveSeal::from_line(&line.replace("\"v\":1", "\"v\":2")), Err(SealError::Version(2)));
        let elsewhere = seal("../a.jsonl").0.to_line();
        for odd in ["", "{}", "{\"v\":1}", &line.replace("\"until\"", "\"unti\""), &elsewhere] {
            assert!(matches!(ArchiveSeal::from_line(odd), Err(SealError::Unreadable(_))), "{odd}");
        }
    }
}
