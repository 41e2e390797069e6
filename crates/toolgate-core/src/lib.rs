//! Callers, tools, decisions and the rulebook's engine; no I/O, no async.

mod approve;
pub mod calendar;
pub mod caller;
mod catalog;
mod class;
pub mod decision;
pub mod explain;
mod gate;
pub mod help;
mod hex;
mod listing;
mod pattern;
pub mod pin;
mod plain;
pub mod redact;
pub mod rulebook;
pub mod suggest;
pub mod tool;
mod view;

pub use caller::Caller;
pub use catalog::{Catalog, CatalogProblem};
pub use decision::{Decision, Denial, Lang, Verdict};
pub use gate::{Blueprint, Found, Gate, GateProblem};
pub use hex::hex;
pub use listing::{BadDefinition, Parameter};
pub use pattern::Pattern;
pub use plain::plain_bytes;
pub use rulebook::{AskedFacts, RuleFile, RuleProblem, Rulebook};
pub use tool::{Facts, Kind, Tool, ToolName};
pub use view::{Listing, Page, View};
