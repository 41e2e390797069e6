//! HTTP, stdio and identity.
