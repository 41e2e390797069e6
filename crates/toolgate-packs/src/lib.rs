//! Built-in tools, a folder per pack: definitions as data, facts, and what runs them.

pub mod admin;
mod child;
mod definitions;
pub mod echo;
mod failure;
pub mod fitness;
pub mod gate;
#[cfg(test)]
#[path = "../../toolgate-core/tests/linear.rs"]
mod linear;
pub mod process;
pub mod spine;
pub mod team;
mod terms;
mod times;
pub mod todo;
pub mod vault;
mod whole_numbers;
pub mod workspace;

pub use definitions::{BadPack, offers};
