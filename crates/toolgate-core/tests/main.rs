//! The decision core seen from outside: what callers get, what operators' rules do, and what never happens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod absence;
mod approving;
mod classes;
mod fixtures;
mod growth;
mod help;
mod kinds;
mod linear;
mod lists;
mod never_widens;
mod pin;
mod properties;
mod redact;
mod redact_notation;
mod redact_text;
mod reference;
mod rule_arguments;
mod rule_files;
mod seeds;
