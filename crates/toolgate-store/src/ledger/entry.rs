//! What is recorded of a call, before it has a place in a chain.

use std::sync::Arc;

use serde_json::value::RawValue;

/// A closed set of words, the same in records, filters and exports.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The word's meaning, if it is one of ours.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a record is about.
    Kind {
        /// The first record of a writer.
        Genesis = "genesis",
        /// A call with an effect is about to run.
        Intent = "intent",
        /// What became of an intent.
        Outcome = "outcome",
        /// A call that ended at the gate: turned away or previewed.
        Decision = "decision",
        /// A call without an effect, whole in one record.
        Read = "read",
        /// What somebody said to an approval that was asked for.
        Answer = "answer",
        /// Something was lost: half a record that was cut off, or records that may not have reached the disk.
        Recovery = "recovery",
        /// Records were moved into an archive.
        Archive = "archive",
    }
}

words! {
    /// What became of a call.
    Outcome {
        /// It may run; an intent's word.
        Allowed = "allowed",
        Denied = "denied",
        Previewed = "previewed",
        NeedsApproval = "needs_approval",
        /// A guard said no: arguments or limits.
        Refused = "refused",
        Failed = "failed",
        Answered = "answered",
        Undone = "undone",
        /// Somebody said yes; an answer's word.
        Granted = "granted",
        /// Nobody knows: the intent is there and the outcome is not, or the outcome says that the effect is not known.
        Unknown = "unknown",
    }
}

/// The longest name or address of a prompt or resource in a record: callers choose it. What is as long may have been cut.
pub const LONGEST_ASKED: usize = 4096;

/// One record, as its caller gives it.
///
/// INVARIANT of callers: everything in it is redacted. The ledger keeps what it is given for ever.
#[derive(Debug, Clone)]
pub struct Entry {
    pub kind: Kind,
    /// Unix milliseconds.
    pub time: i64,
    /// The call's id: an intent and its outcome share it. Ids that sort by time keep the index small.
    pub call: Arc<str>,
    pub tool: Arc<str>,
    /// The pack or upstream that runs the tool.
    pub source: Arc<str>,
    /// Who asked, in one word for filters; the whole is `actor`.
    pub principal: Arc<str>,
    pub tenant: Option<Arc<str>>,
    pub flow: Option<Arc<str>>,
    pub outcome: Outcome,
    /// Where it was no tool: the kind and the name or address that was asked for, `resource:file:///notes`, the latter no longer
    /// than [`LONGEST_ASKED`] characters.
    pub asked: Option<Arc<str>>,
    /// User, tenant, session, agent, task and flow, as JSON.
    pub actor: Arc<RawValue>,
    /// The redacted input, as JSON.
    pub input: Option<Box<RawValue>>,
    /// The state of an approval: by whom, what id, or that none was needed.
    pub approval: Option<Arc<str>>,
    /// The plan that the call was a step of.
    pub plan: Option<Arc<str>>,
    /// The rule and the code that decided.
    pub rule: Option<Arc<str>>,
    pub code: Option<Arc<str>>,
    pub result: Option<ResultNote>,
    /// Digest of the rulebook that decided.
    pub revision: Arc<str>,
    pub duration_us: Option<u64>,
}

/// What is kept of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultNote {
    pub summary: String,
    /// SHA-256 of the redacted result.
    pub digest: [u8; 32],
}

/// When an append counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Synced: it survives a power cut. For intents and outcomes of calls with an effect.
    Durable,
    /// Handed to the database and through it to the operating system: it survives the end of this process, and a power
    /// cut once the next group is synced. For everything else.
    Ordered,
}
