//! Which records to read. An absent condition holds for all.

use super::Outcome;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// From this time on, Unix milliseconds.
    pub since: Option<i64>,
    /// Before this time.
    pub until: Option<i64>,
    pub tool: Option<String>,
    pub principal: Option<String>,
    pub outcome: Option<Outcome>,
    pub flow: Option<String>,
    pub tenant: Option<String>,
    pub call: Option<String>,
}
