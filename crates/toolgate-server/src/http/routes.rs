//! Every address and method outside `/api/v1/admin` (which has a table of its own), as data.
//!
//! INVARIANT: what no row names is refused before any code behind it runs, so that a new address needs a row, and a test asks
//! each row as each kind of caller.

use http::{Method, StatusCode, header, request::Parts};

use super::{
    json::Problem,
    route::{Answer, text},
};

/// Methods and addresses. A word in braces stands for one step of the path.
pub const ROUTES: &[(&str, &str)] = &[
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("DELETE", "/mcp"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/mcp"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/api/v1/approvals"),
    ("GET", "/api/v1/approvals/{id}"),
    ("POST", "/api/v1/approvals/{id}/approve"),
    ("POST", "/api/v1/approvals/{id}/deny"),
    ("GET", "/api/v1/processes"),
    ("POST", "/api/v1/processes"),
    ("GET", "/api/v1/processes/{id}"),
    ("GET", "/api/v1/processes/{id}/next"),
    ("POST", "/api/v1/tasks"),
    ("GET", "/api/v1/tasks/{id}"),
    ("POST", "/api/v1/tasks/{id}/finish"),
    ("POST", "/api/v1/tasks/{id}/commits"),
    ("GET", "/api/v1/agents"),
    ("POST", "/api/v1/agents"),
    ("GET", "/api/v1/agents/{id}"),
    ("PATCH", "/api/v1/agents/{id}"),
    ("POST", "/api/v1/agents/{id}/passkey"),
    ("PUT", "/api/v1/agents/{id}/projects/{project}"),
    ("DELETE", "/api/v1/agents/{id}/projects/{project}"),
    ("GET", "/api/v1/projects"),
    ("POST", "/api/v1/projects"),
    ("GET", "/api/v1/projects/{id}"),
    ("PATCH", "/api/v1/projects/{id}"),
];

/// Whether a path is one of this address.
pub fn matches(address: &str, path: &str) -> bool {
    let (mut own, mut given) = (address.split('/'), path.split('/'));
    loop {
        match (own.next(), given.next()) {
            (None, None) => return true,
            (Some(own), Some(given)) if own == given || (own.starts_with('{') && !given.is_empty()) => {}
            _ => return false,
        }
    }
}

/// The answer to a request that no row names. `OPTIONS` asks what a browser may send, at any address there is.
pub(super) fn refusal(head: &Parts) -> Option<Answer> {
    let path = head.uri.path();
    let mut methods = ROUTES.iter().filter(|(_, address)| matches(address, path)).map(|(method, _)| *method).peekable();
    let is_there = methods.peek().is_some();
    if is_there && (head.method == Method::OPTIONS || methods.clone().any(|method| head.method.as_str() == method)) {
        return None;
    }
    let is_api = path.starts_with("/api/");
    if is_there && (is_api || path == "/mcp") {
        return Some(wrong_method(path));
    }
    Some(if is_api {
        Problem::new(StatusCode::NOT_FOUND, "unknown", "nothing is at this address", "look for a slip in the path")
            .answer()
    } else {
        text(StatusCode::NOT_FOUND, "nothing is at this address; MCP is at /mcp\n")
    })
}

/// The answer to a method that the address does not take.
pub(super) fn wrong_method(path: &str) -> Answer {
    let methods: Vec<&str> =
        ROUTES.iter().filter(|(_, address)| matches(address, path)).map(|(method, _)| *method).collect();
    let mut answer = if path.starts_with("/api/") {
        let message = format!("this address takes {}", methods.join(", "));
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use one of those").answer()
    } else {
        text(StatusCode::METHOD_NOT_ALLOWED, "this address takes POST, GET and DELETE\n")
    };
    if let Ok(allowed) = methods.join(", ").try_into() {
        answer.headers_mut().insert(header::ALLOW, allowed);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_braces_stands_for_one_step_that_is_not_empty() {
        let agent = "/api/v1/agents/{id}/projects/{project}";
        assert!(matches(agent, "/api/v1/agents/a/projects/b") && matches("/mcp", "/mcp"));
        for other in
            ["/api/v1/agents/a/projects/", "/api/v1/agents//projects/b", "/api/v1/agents/a/projects/b/c", "/mcp"]
        {
            assert!(!matches(agent, other), "{other}");
        }
        assert!(!matches("/mcp", "/mcp/") && !matches("/mcp", "mcp"));
    }

    #[test]
    fn no_row_is_there_twice() {
        for (at, row) in ROUTES.iter().enumerate() {
            assert!(!ROUTES.iter().skip(at + 1).any(|other| other == row), "{row:?}");
        }
    }
}
