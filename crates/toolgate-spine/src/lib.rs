//! The one path every request takes: decide, guard, record, run, record.
//!
//! INVARIANT: a tool runs only from a [`Recorded`], which is made only by recording a [`Guarded`], which is made only by
//! guarding a [`Decided`], which is made only by the rulebook's yes. Skipping a step does not compile.

mod answer;
mod answer_record;
mod answering;
mod approval_text;
mod approving;
mod argument_fault;
mod asking;
mod beside;
mod book_limits;
mod books;
mod bounds;
mod caller_identity;
mod carried;
mod client;
mod conclude;
mod counterpart;
mod cutting;
mod decided;
mod door;
mod dry_check;
mod evaluating;
mod exact_numbers;
mod flowing;
#[cfg(test)]
mod growth_tests;
mod guarded;
mod house;
mod limits;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
mod name_variant;
mod noting;
mod offload;
mod outcome;
mod places;
mod planning;
mod post;
mod receipt_note;
mod receipts;
mod recheck;
mod record_budget;
mod recorded;
mod results;
mod said;
mod schema_check;
mod schema_graph;
mod schema_weight;
mod source;
mod spine;
mod undo_execution;
mod undoing;
mod who;

pub use answer::{OUTCOME_UNKNOWN, ToolAnswer, Undo};
pub use answer_record::Approver;
pub use answering::{AnswerProblem, Say};
pub use approval_text::{approval_question, argument_name_text, arguments_summary, value_text};
pub use argument_fault::ArgumentFault;
pub use asking::{approval_json, what_is_approved};
pub use book_limits::BookLimits;
pub use books::{BookSettings, Books};
pub use caller_identity::{CallerIdentity, IdentityLoss};
pub use client::{Client, Line};
pub use counterpart::check_expression;
pub use decided::{Breadth, Call, Decided};
pub use door::SpineDoor;
pub use evaluating::Evaluated;
pub use flowing::{FlowProblem, Opened};
pub use guarded::{Guarded, Previewed};
pub use house::{House, HouseProblem, LimitDefaults, NamedFlow, check_tool};
pub use limits::Limit as RateLimit;
pub use outcome::Outcome;
pub use places::{CallPlace, CallPlaces};
pub use planning::{
    Execution, OnFailure, PlanPreview, PlanProblem, PlanShown, ProposedCall, Reason, TakenBack, plan_for_operator,
};
pub use post::Post;
pub use recorded::{Counters, Recorded, Recorder};
pub use results::ResultsSource;
pub use said::{Asking, ClientFault, LogLevel, ProgressNote, Question, Said};
pub use source::{InputRequired, Resumed, SourceFault, ToolOffer, ToolSource, Watch};
pub use spine::Spine;
pub use undoing::{UndoAnswer, UndoProblem};
