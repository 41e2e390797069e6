//! From figures to a page: medians, the table, the targets.

mod growth;
mod statistics;
mod table;
mod targets;
mod tenants;
mod upstreams;

pub(crate) use statistics::{median, percentile};
pub(crate) use table::page;
pub(crate) use targets::{Verdict, verdicts};
