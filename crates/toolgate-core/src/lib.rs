//! Callers, tools, decisions and the rulebook's engine; no I/O, no async.

pub mod caller;
pub mod tool;

pub use caller::Caller;
pub use tool::{Facts, Tool, ToolName};
