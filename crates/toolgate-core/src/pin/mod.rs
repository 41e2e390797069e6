//! Pins: the definitions of an upstream's tools that someone has accepted, and what to show of one that changed.
//!
//! A [`Lock`] is the text of `toolgate.lock`. It judges what an upstream offers; [`diff`] says what changed and
//! [`warnings`] what looks meant for a model instead of a reader. Nothing here reads a file or knows a connection.

mod accept;
mod canonical;
mod diff;
mod invisible;
mod lock;
mod lock_text;
mod look_alike;
mod render;
mod visible;
mod warn;

pub use accept::{Acceptance, Choice, Refused};
pub use canonical::{Canonical, Digest, Unreadable};
pub use diff::{Change, Diff, diff};
pub use invisible::{Unseen, unseen};
pub use lock::{Judged, Lock, State};
pub use lock_text::BadLock;
pub use look_alike::look_alike;
pub use visible::visible;
pub use warn::{Warning, WarningKind, warnings};
