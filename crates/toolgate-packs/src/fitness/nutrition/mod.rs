//! Food: what a day takes, what is in foods, and what a meal adds up to.

pub(super) mod foods;
pub(super) mod meal;
pub(super) mod needs;
