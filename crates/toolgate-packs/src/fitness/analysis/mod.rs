//! What can be said of activities: of one, of one among others, and of many over time. Nothing is guessed: where there is not
//! enough to say something, that is what is said.

pub(super) mod compare;
mod heart;
pub(super) mod intelligence;
pub(super) mod metrics;
pub(super) mod patterns;
mod regression;
pub(super) mod trends;
