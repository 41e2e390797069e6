//! The one path every request takes.
