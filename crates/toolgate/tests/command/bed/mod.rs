//! What the tests stand on: a home, the binary at work in it, and clients that speak to it.

pub mod books;
pub mod database;
pub mod events;
pub mod home;
pub mod http;
pub mod issuer;
pub mod message;
pub mod pipe;
pub mod served;
pub mod terminal;
pub mod wait;
