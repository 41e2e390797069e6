//! What agents of a project say to each other.

use crate::{
    error::Fault,
    statement::{FromRow, Row},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub sender: String,
    /// Absent where it was said to nobody.
    pub receiver: Option<String>,
    /// Its place among what the receiver got.
    pub number: Option<i64>,
    pub content: String,
    pub task: Option<String>,
    pub conversation: Option<String>,
    /// Its place in the conversation, from one.
    pub turn: Option<i64>,
    pub at: i64,
}

macro_rules! message_columns {
    () => {
        "id, sender, receiver, number, content, task, conversation, turn, at"
    };
}
pub(super) use message_columns;

impl FromRow for Message {
    fn from_row(row: &mut Row) -> Result<Self, Fault> {
        let (id, sender, receiver, number) = (row.text()?, row.text()?, row.maybe_text()?, row.maybe_int()?);
        let (content, task, conversation) = (row.text()?, row.maybe_text()?, row.maybe_text()?);
        let (turn, at) = (row.maybe_int()?, row.int()?);
        Ok(Message { id, sender, receiver, number, content, task, conversation, turn, at })
    }
}
