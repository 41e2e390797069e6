//! What people ask of the books: approvals, the ledger, receipts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use toolgate_store::{ApprovalState, PlanState, ReceiptState, ledger::Outcome};

use super::{Output, Place};

#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// List approvals, newest first.
    List {
        /// pending, granted, denied, spent, expired or ended.
        #[arg(long, value_parser = approval_state)]
        state: Option<ApprovalState>,
        /// Only those of one flow.
        #[arg(long, value_name = "ID")]
        flow: Option<String>,
        /// Only those that one principal asked for, e.g. user:ann.
        #[arg(long, value_name = "PRINCIPAL")]
        by: Option<String>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show what will run, why a person is asked, who asks, and until when.
    Show {
        /// The approval's id, as `approvals list` shows it.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Let the call run. Exit code 1: the answer does not count.
    Approve {
        /// The approval's id.
        id: String,
        /// Who says so; without it, the user of the operating system.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// How long the yes holds from now: 90s, 15m, 1h, 7d. Without it as long as is configured, or less where less was asked for.
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Where more than one call was asked for: only the call that asked.
        #[arg(long)]
        once: bool,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Refuse the call. Exit code 1: the answer does not count.
    Deny {
        /// The approval's id.
        id: String,
        /// Who says so; without it, the user of the operating system.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        /// Why; the caller is told.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one is made, once")]
pub enum LedgerCommand {
    /// Read every record and say what was changed. Exit code 1: something was.
    Verify {
        /// Signed checkpoints, a line each: the records they list must be there.
        #[arg(long, value_name = "FILE")]
        checkpoints: Option<PathBuf>,
        /// Read only what came after the last of them.
        #[arg(long, requires = "checkpoints")]
        since_last: bool,
        /// A folder of archives that are read before what is left of the ledger.
        #[arg(long, value_name = "DIR", conflicts_with = "since_last")]
        archives: Option<PathBuf>,
        /// The key that checkpoints and seals must be signed with; without it, the one in the store.
        #[arg(long, value_name = "HEX")]
        public_key: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show the newest records.
    Tail {
        /// Go on with what is recorded from now on.
        #[arg(long)]
        follow: bool,
        /// Also the record with which each process begins to write.
        #[arg(long)]
        all: bool,
        /// At most so many to begin with.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Write all records to standard output, oldest first.
    Export {
        /// How records are written.
        #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
        format: ExportFormat,
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        place: Place,
        // An export is JSON in any case.
        #[command(flatten)]
        output: Output,
    },
    /// Move old records into archives, each with a signed seal. Exit code 1: the ledger is not sound.
    Archive {
        /// Only records from before this time: 2026-01-31T12:00:00Z, or 90d for so long ago.
        #[arg(long, value_name = "T")]
        before: String,
        /// The folder for archives; without it, ledger-archive in the data folder.
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Read archives alone and say what was changed. Exit code 1: something was.
    VerifyArchive {
        /// A folder of archives, or the file of one seal.
        path: PathBuf,
        /// The key that seals must be signed with: no store is needed then. Without it, the one in the store.
        #[arg(long, value_name = "HEX")]
        public_key: Option<String>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Sign the last record of every writer.
    Checkpoint {
        /// Append the line to this file; without it, it goes to standard output.
        #[arg(long, value_name = "FILE")]
        to: Option<PathBuf>,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A record a line, with what is needed to check its hash.
    Jsonl,
    /// OpenTelemetry logs (OTLP/JSON): a line is one whole `resourceLogs` document of some records.
    Otel,
}

/// Which records; what is not given does not limit.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterArgs {
    /// From then on: 2026-01-31T12:00:00Z, or 90s, 15m, 1h, 7d ago.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Before then, written like --since.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only calls of this tool, by its canonical name.
    #[arg(long)]
    pub tool: Option<String>,
    /// Only calls of this caller, e.g. "user:ann agent:scribe".
    #[arg(long)]
    pub principal: Option<String>,
    /// Only calls that ended so: allowed, denied, previewed, needs_approval, refused, failed, answered, undone or unknown.
    #[arg(long, value_parser = outcome)]
    pub outcome: Option<Outcome>,
    /// Only calls of this flow.
    #[arg(long, value_name = "ID")]
    pub flow: Option<String>,
    /// Only calls on behalf of this tenant.
    #[arg(long, value_name = "ID")]
    pub tenant: Option<String>,
    /// Only the records of this call.
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The operator's rules to decide by: a folder of .cedar files, or a file. Without it, those of the configuration.
    #[arg(long, value_name = "DIR")]
    pub rulebook: Option<PathBuf>,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The receipt of what is to be taken back.
    #[arg(required_unless_present_any = ["flow", "plan"], conflicts_with_all = ["flow", "plan"])]
    pub receipt: Option<String>,
    /// Take back everything that was done in this flow, newest first, up to the first that can't be.
    #[arg(long, value_name = "ID")]
    pub flow: Option<String>,
    /// Take back what the steps of this plan did, newest first, up to the first that can't be.
    #[arg(long, value_name = "ID", conflicts_with = "flow")]
    pub plan: Option<String>,
    /// Who does so; without it, the user of the operating system.
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum ReceiptsCommand {
    /// List receipts, newest first.
    List {
        /// Only those of one flow.
        #[arg(long, value_name = "ID")]
        flow: Option<String>,
        /// Only those of one tool, by its canonical name.
        #[arg(long)]
        tool: Option<String>,
        /// Only those of one caller, e.g. user:ann.
        #[arg(long)]
        principal: Option<String>,
        /// Only those in this state: done, undoing, undone or unknown.
        #[arg(long, value_parser = receipt_state)]
        state: Option<ReceiptState>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show what was done, who allowed it, and whether it can be undone.
    Show {
        /// The receipt's id, as `receipts list` shows it.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
pub enum PlansCommand {
    /// List plans, newest first.
    List {
        /// Only those in this state: proposed, approved, running, done, failed, undone or unknown.
        #[arg(long, value_parser = plan_state)]
        state: Option<PlanState>,
        /// Only those of one flow.
        #[arg(long, value_name = "ID")]
        flow: Option<String>,
        /// At most so many.
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
    /// Show a plan's steps, how far it is, and who allowed it.
    Show {
        /// The plan's id, as `plans list` shows it.
        id: String,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        output: Output,
    },
}

fn one_of<T: ToString>(known: Option<T>, all: impl Iterator<Item = T>) -> Result<T, String> {
    known.ok_or_else(|| format!("write one of {}", all.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")))
}

fn approval_state(word: &str) -> Result<ApprovalState, String> {
    one_of(ApprovalState::parse(word), ApprovalState::ALL.iter().copied())
}

fn receipt_state(word: &str) -> Result<ReceiptState, String> {
    one_of(ReceiptState::parse(word), ReceiptState::ALL.iter().copied())
}

fn plan_state(word: &str) -> Result<PlanState, String> {
    one_of(PlanState::parse(word), PlanState::ALL.iter().copied())
}

fn outcome(word: &str) -> Result<Outcome, String> {
    one_of(Outcome::from_word(word), Outcome::ALL.iter().copied())
}
