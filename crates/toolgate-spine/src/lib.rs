//! The one path every request takes: decide, guard, record, run, record.
//!
//! INVARIANT: a tool runs only from a [`Recorded`], which is made only by recording a [`Guarded`], which is made only by
//! guarding a [`Decided`], which is made only by the rulebook's yes. Skipping a step does not compile.

mod answer;
mod answer_record;
mod answering;
mod approving;
mod asking;
mod beside;
mod books;
mod bounds;
mod carried;
mod client;
mod conclude;
mod counterpart;
mod cutting;
mod decided;
mod door;
mod evaluating;
mod flowing;
mod guarded;
mod house;
mod limits;
mod noting;
mod outcome;
mod planning;
mod post;
mod receipts;
mod recorded;
mod results;
mod said;
mod source;
mod spine;
mod undoing;
mod who;

pub use answer::{ToolAnswer, Undo};
pub use answer_record::Approver;
pub use answering::{AnswerProblem, Say};
pub use asking::{approval_json, what_is_approved};
pub use books::{BookSettings, Books};
pub use bounds::{SchemaTooLarge, check_schema};
pub use client::{Client, Line};
pub use counterpart::check_expression;
pub use decided::{Breadth, Call, Decided};
pub use door::SpineDoor;
pub use evaluating::Evaluated;
pub use flowing::{FlowProblem, Opened};
pub use guarded::{ArgumentFault, Guarded, Previewed};
pub use house::{House, HouseProblem, LimitDefaults, NamedFlow, check_tool};
pub use outcome::Outcome;
pub use planning::{
    Execution, OnFailure, PlanPreview, PlanProblem, PlanShown, ProposedCall, Reason, TakenBack, plan_for_operator,
};
pub use post::Post;
pub use recorded::{Counters, Recorded, Recorder};
pub use results::ResultsSource;
pub use said::{Asking, ClientFault, LogLevel, ProgressNote, Question, Said};
pub use source::{InputRequired, Resumed, SourceFault, ToolOffer, ToolSource, Watch};
pub use spine::Spine;
pub use undoing::UndoProblem;
