//! The wire in front of a real spine: both eras, over HTTP and on stdio.

mod calls;
mod credentials;
mod eras;
mod house;
mod lists;
mod requests;
mod sessions;
mod stdio;
mod streams;
