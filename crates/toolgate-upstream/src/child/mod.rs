//! An upstream that is a child process: one JSON message a line, over its standard streams.

mod lines;
mod link;
mod process;

pub(crate) use link::ChildLink;
