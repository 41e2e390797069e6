//! The protected-resource metadata of RFC 9728: where a client learns whom to ask for a token.

use bytes::Bytes;
use serde_json::json;

/// `resource` is the public address of the MCP endpoint.
pub fn protected_resource(resource: &str, issuers: &[&str], scopes: &[String]) -> Bytes {
    let metadata = json!({
        "resource": resource,
        "authorization_servers": issuers,
        "scopes_supported": scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": "Toolgate",
    });
    Bytes::from(metadata.to_string())
}

/// Where the metadata of `resource` is served: the well-known path before the resource's own.
pub fn metadata_url(resource: &str) -> String {
    match resource.strip_suffix("/mcp") {
        Some(base) => format!("{base}/.well-known/oauth-protected-resource/mcp"),
        None => format!("{}/.well-known/oauth-protected-resource", resource.trim_end_matches('/')),
    }
}
