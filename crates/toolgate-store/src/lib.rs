//! What Toolgate remembers: one contract, kept on SQLite (one machine) and PostgreSQL (many
//! replicas).
//!
//! INVARIANT: every statement is written once and means the same on both engines; an engine only
//! runs statements. Ranking text is the one exception (`fulltext.rs`, and the statements that use it). What one engine can't hold (a NUL in text, an id too long to index) is refused
//! on both, so that moving from one to the other changes nothing a caller can see.
//!
//! Times are Unix milliseconds given by the caller: the store has no clock of its own.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

#[macro_use]
mod words;
#[macro_use]
mod scope;

mod approvals;
mod backoff;
mod change;
mod cut_results;
mod engine;
mod error;
mod events;
pub mod fitness;
mod flows;
mod fresh;
mod fulltext;
mod id_prefix;
mod ids;
mod keys;
pub mod ledger;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
mod location;
mod migration;
mod page;
mod plans;
mod postgres;
mod processes;
mod query;
mod receipts;
mod restored;
mod retention;
mod revoked_tokens;
mod rights;
mod secrets;
mod sessions;
mod sqlite;
mod statement;
mod store;
mod tasks;
pub mod team;
pub mod tenants;
mod todo;
mod usage;
mod vault;
mod workspace;

pub use approvals::{
    Answer, AnswerFault, Approval, ApprovalFilter, ApprovalState, Approvals, AskFault, Binding, NewApproval, Notice,
    NoticeEvent, Notices, Taken, Wide,
};
pub use change::{Change, Changes};
pub use cut_results::{CutResultRoom, CutResults, NewCutResult};
pub use error::StoreError;
pub use events::{Event, Events};
pub use fitness::FitnessRepository;
pub use flows::{Flow, FlowFault, Flows, NewFlow};
pub use id_prefix::IdKind;
pub use keys::{Key, Keys, NewKey};
pub use location::Location;
pub use page::{Mark, Page, Paging};
pub use plans::{NewPlan, Plan, PlanEnd, PlanFault, PlanFilter, PlanState, Plans, Step, StepEnd, StepState};
pub use processes::{
    Begun, Decided, Decision, DecisionKind, DefinitionProblem, Effect, EndedTask, Injected, InjectedStep, LabelledTask,
    NewDecision, NewProcess, NewRun, Next, OrchestratorDefinition, Process, ProcessDefinition, ProcessFault,
    ProcessState, ProcessStep, Processes, Progress, RunEnd, RunTask, Standing, StepDefinition, TaskDefinition,
};
pub use query::{QueryFault, QueryLimits, QueryRows, ReadOnlyDatabase, RowCut};
pub use receipts::{
    NewReceipt, Receipt, ReceiptFilter, ReceiptState, Receipts, Undo, UndoFault, UndoKind, UndoRecord, Undoing,
};
pub use restored::RestoredDatabase;
pub use retention::Retention;
pub use revoked_tokens::{EVERYONE, RevocationKind, RevokedTokens, TokenRevocations};
pub use rights::{Follow, Rights};
pub use scope::Scope;
pub use secrets::Secrets;
pub use sessions::{Session, Sessions};
pub use store::Store;
pub use tasks::{NewTask, Phase, Task, TaskEnd, TaskRecord, TaskSetting, Tasks};
pub use todo::{TodoChange, TodoRepository, TodoTask};
pub use usage::{Usage, UsageOf};
pub use vault::{Hit, Passage, ReadDocument, VaultItem, VaultRepository, VaultUpdate};
pub use workspace::{
    Artifact, ArtifactFormat, ArtifactRepository, Found, FoundPage, Knowledge, KnowledgeRepository, KnowledgeVersion,
    NewArtifact, NewResult, ResultRepository, Source, TaskResult, Which,
};
