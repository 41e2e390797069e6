//! Built-in tools, a folder per pack: definitions as data, facts, and what runs them.

mod definitions;
pub mod echo;
pub mod gate;
pub mod spine;
pub mod team;
pub mod todo;
pub mod vault;

pub use definitions::{BadPack, offers};
