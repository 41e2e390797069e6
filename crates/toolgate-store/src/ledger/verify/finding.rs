//! What verifying says.

use std::fmt;

use serde::Serialize;

/// The outcome of reading the chains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Records that were read.
    pub records: u64,
    /// Writers that were seen.
    pub writers: u64,
    /// The first of what was found wrong, in the order it was found.
    pub findings: Vec<Finding>,
    /// How much was found wrong in all.
    pub found: u64,
    /// Recoveries on record: what they say was lost is not found wrong.
    pub recoveries: u64,
    /// The part that was archived and not read, if there is one.
    pub archived: Option<ArchivedRecords>,
}

/// A part of the ledger that its seal stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivedRecords {
    /// The number of archives.
    pub archives: u64,
    /// The latest time of an archived record, Unix milliseconds.
    pub last_time: i64,
    /// Records that a checkpoint, the store or another writer names and only an archive can show.
    pub unread: u64,
}

impl Verification {
    pub fn is_sound(&self) -> bool {
        self.found == 0
    }
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub writer: String,
    pub seq: i64,
    pub wrong: Wrong,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "what")]
pub enum Wrong {
    /// The text does not have the hash that is stored with it.
    Edited,
    /// The columns say something else than the text.
    Columns,
    /// The record does not continue the one before it: either was replaced.
    Unlinked,
    /// Records up to and with this number are not there.
    Missing { until: i64 },
    /// The record is there a second time, or was put in.
    Inserted,
    /// The record stands at another place than it was written to.
    Moved,
    /// The record is another than the one a checkpoint lists.
    NotAsInCheckpoint { checkpoint: i64 },
    /// A checkpoint lists this record, and the chain ends before it.
    Truncated { checkpoint: i64 },
    /// Something beside the chain names this record, and the chain ends before it.
    Lost { known_from: String },
    /// The record is another than the one that something beside the chain names.
    NotAsKnown { known_from: String },
    /// The row can't be read as a record; the number is its position.
    Unreadable { position: i64 },
    /// A recovery on record says that this writer had ended, and it went on.
    FalseRecovery,
    /// The seal of the archived part is not one that may be trusted.
    SealInvalid { reason: String },
    /// No record of the ledger says that the archive was made.
    SealUnrecorded,
    /// A checkpoint names a seal that the store does not have.
    SealLost { checkpoint: i64 },
    /// The file of an archive, or its seal, is not there.
    ArchiveLost { file: String },
    /// The file of an archive is not the one that was sealed.
    ArchiveChanged { file: String },
}

impl Wrong {
    /// Returns true for what concerns archives as a whole, and no record of a writer.
    fn is_about_archives(&self) -> bool {
        matches!(
            self,
            Self::SealInvalid { .. }
                | Self::SealUnrecorded
                | Self::SealLost { .. }
                | Self::ArchiveLost { .. }
                | Self::ArchiveChanged { .. }
        )
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { writer, seq, wrong } = self;
        if !wrong.is_about_archives() {
            write!(f, "writer {writer}, record {seq}: ")?;
        }
        match wrong {
            Wrong::Edited => f.write_str("its text was changed after it was written"),
            Wrong::Columns => {
                f.write_str("the columns used for filters were changed and no longer say what its text says")
            }
            Wrong::Unlinked => f.write_str("it does not continue the record before it; one of the two was replaced"),
            Wrong::Missing { until } if until == seq => f.write_str("it is missing"),
            Wrong::Missing { until } => write!(f, "it and all up to {until} are missing"),
            Wrong::Inserted => f.write_str("it was put in, or is there twice"),
            Wrong::Moved => f.write_str("it was moved to another place"),
            Wrong::NotAsInCheckpoint { checkpoint } => {
                write!(f, "it is not the record that the checkpoint of time {checkpoint} lists")
            }
            Wrong::Truncated { checkpoint } => {
                write!(f, "the checkpoint of time {checkpoint} lists it, and the chain ends before it")
            }
            Wrong::Lost { known_from } => write!(f, "it is known from the {known_from}, and the chain ends before it"),
            Wrong::NotAsKnown { known_from } => write!(f, "it is not the record that is known from the {known_from}"),
            Wrong::Unreadable { position } => write!(f, "the row at position {position} can't be read as a record"),
            Wrong::FalseRecovery => f.write_str("a recovery on record says that its writer had ended before it"),
            Wrong::SealInvalid { reason } => write!(f, "the seal of the archived records: {reason}"),
            Wrong::SealUnrecorded => {
                f.write_str("records are gone, and no record of the ledger says that they were archived")
            }
            Wrong::SealLost { checkpoint } => {
                write!(f, "the checkpoint of time {checkpoint} names an archive that the store does not know")
            }
            Wrong::ArchiveLost { file } => write!(f, "archive {file}: it is not there"),
            Wrong::ArchiveChanged { file } => write!(f, "archive {file}: it is not the file that was sealed"),
        }
    }
}
