//! What the server holds for its clients: places for messages, memory for bodies, connections and streams.

use std::sync::Arc;

use toolgate_spine::CallPlaces;

use super::body_budget::BodyBudget;

/// The bounds of one server.
pub struct ServerLimits {
    /// Bytes of one message to the MCP address.
    pub body_bytes: usize,
    pub bodies: Arc<BodyBudget>,
    pub connections: usize,
    pub connections_per_address: usize,
    /// Messages that are being answered, and calls that wait.
    pub places: Arc<CallPlaces>,
}
