//! What reaches a client when no call of it is under way.

use std::fmt;

use serde_json::value::RawValue;

/// Where notes for one client are left until it comes for them.
pub trait Post: fmt::Debug + Send + Sync {
    /// The same for all calls of one client, and for no other client's.
    fn whose(&self) -> [u8; 16];

    /// Leaves the parameters of a message that an interaction outside the protocol has ended. Never waits.
    fn leave(&self, note: Box<RawValue>);
}
