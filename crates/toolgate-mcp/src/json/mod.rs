//! JSON text, read once and borrowed from.

pub(crate) mod fault;
pub(crate) mod limits;
pub(crate) mod scan;
pub(crate) mod text;
