//! An upstream that is a child process: one JSON message a line, over its standard streams.

mod descriptor_limit;
mod identity;
mod lines;
mod link;
mod process;
mod reaper;
mod sandbox;

pub use descriptor_limit::raise_descriptor_limit;
pub use identity::{ChildUser, conceal_process};
pub(crate) use link::ChildLink;
pub use reaper::{Reaper, reap_groups};
pub use sandbox::{ChildSandbox, run_confined, sandbox_support};
