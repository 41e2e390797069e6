//! A tool as its upstream defines it.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::mirror::Mirror;

#[derive(Debug, Clone)]
pub struct Definition {
    /// The name its upstream knows it by.
    pub name: String,
    /// Byte for byte as it came.
    pub raw: Arc<RawValue>,
    /// `sha256:…` of what it means: white space and the order of members do not count.
    pub digest: String,
    pub(crate) mirrors: Arc<[Mirror]>,
}
