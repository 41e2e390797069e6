//! Upstreams behind a gate, good neighbours and bad ones, over both transports and in both eras.

mod changes;
mod children;
mod kinds;
mod lossless;
mod misbehaviour;
mod site;
mod web;
