//! Records of the ledger itself: how a chain begins, what was lost and recovered, and what was archived.

use serde::Deserialize;

use super::{Hash, Head};
use crate::RestoredDatabase;

/// A record that no call brought about.
#[derive(Debug, Clone)]
pub(crate) struct SystemRecord {
    pub(crate) kind: &'static str,
    /// The members after those that every record has, each with a comma before it.
    pub(crate) members: String,
}

impl SystemRecord {
    /// The first record of a writer: the last records of the chains that it found and that no other writer named.
    pub(crate) fn genesis(heads: &[Head]) -> Self {
        let named: Vec<_> =
            heads.iter().map(|Head { writer, seq, hash, .. }| NamedHead { writer, seq, hash }).collect();
        // Strings and numbers of our own types always serialise.
        let heads = serde_json::to_string(&named).unwrap_or_else(|_| "[]".to_owned());
        Self { kind: "genesis", members: format!(",\"heads\":{heads}") }
    }

    pub(crate) fn recovery(members: String) -> Self {
        Self { kind: "recovery", members }
    }

    /// Records were moved into an archive: the hash of its seal, the name of its file, and how many.
    pub(crate) fn archive(seal: Hash, file: &str, records: u64) -> Self {
        Self { kind: "archive", members: format!(",\"seal\":\"{seal}\",\"file\":\"{file}\",\"records\":{records}") }
    }

    /// Somebody accepted a database that lost writes.
    pub(crate) fn restored(RestoredDatabase { writes, known }: RestoredDatabase, by: &str) -> Self {
        let (by, known) = (serde_json::Value::from(by), serde_json::Value::from(known));
        Self::recovery(format!(",\"restored\":{{\"writes\":{writes},\"known\":{known},\"by\":{by}}}"))
    }

    /// Records of a writer after a number, and what stands at positions from one on, may not be on the disk.
    pub(crate) fn unsynced(writer: &str, after: i64, from: i64) -> Self {
        Self::recovery(format!(",\"unsynced\":{{\"writer\":\"{writer}\",\"after\":{after},\"from\":{from}}}"))
    }
}

#[derive(serde::Serialize)]
struct NamedHead<'a> {
    writer: &'a str,
    seq: &'a i64,
    hash: &'a Hash,
}

/// The members of such a record, read back.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct SystemMembers {
    #[serde(default)]
    pub(crate) heads: Vec<Head>,
    pub(crate) damaged: Option<DamagedRange>,
    pub(crate) unsynced: Option<UnsyncedRange>,
    pub(crate) seal: Option<Hash>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DamagedRange {
    pub(crate) position: i64,
    pub(crate) bytes: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnsyncedRange {
    pub(crate) writer: String,
    pub(crate) after: i64,
    pub(crate) from: i64,
}
