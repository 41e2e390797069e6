//! MCP on the wire, both eras.
