//! A record as it is read back.

use std::fmt::Write;

use super::Hash;
use crate::{
    error::Fault,
    statement::{FromRow, Row},
};

/// One stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The order of arrival.
    pub position: i64,
    pub writer: String,
    pub seq: i64,
    pub time: i64,
    pub kind: String,
    pub call: String,
    pub tool: String,
    pub principal: String,
    pub tenant: Option<String>,
    pub flow: Option<String>,
    pub outcome: String,
    pub previous: Hash,
    pub hash: Hash,
    /// The whole record as JSON: the bytes that are hashed.
    pub text: String,
}

/// The columns of a [`Record`], in its order. A macro, since a statement is a static text.
macro_rules! columns {
    () => {
        "position, writer, seq, time, kind, call, tool, principal, tenant, flow, outcome, previous, hash, record"
    };
}
pub(crate) use columns;

impl Record {
    /// The record on one line with what is needed to check it elsewhere: `hash` is SHA-256 of `previous` as 32 bytes
    /// and `record` as it stands here.
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(self.text.len() + 192);
        let _ = write!(
            line,
            "{{\"position\":{},\"previous\":\"{}\",\"hash\":\"{}\",\"record\":{}}}",
            self.position, self.previous, self.hash, self.text
        );
        line
    }
}

impl FromRow for Record {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        Ok(Self {
            position: row.int()?,
            writer: row.text()?,
            seq: row.int()?,
            time: row.int()?,
            kind: row.text()?,
            call: row.text()?,
            tool: row.text()?,
            principal: row.text()?,
            tenant: row.maybe_text()?,
            flow: row.maybe_text()?,
            outcome: row.text()?,
            previous: hash(row)?,
            hash: hash(row)?,
            text: row.text()?,
        })
    }
}

fn hash(row: &mut Row) -> Result<Hash, Fault> {
    let odd = || Fault::Other("a hash in the ledger is not 32 bytes long; verify the ledger".into());
    Hash::from_slice(&row.bytes()?).ok_or_else(odd)
}
