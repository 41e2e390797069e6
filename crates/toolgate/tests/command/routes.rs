//! Every address, asked by each kind of caller; an address without a row here fails.

use std::collections::BTreeSet;

use serde_json::json;

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
};

/// Read as text: what it names must be in the table.
const ROUTES: &str = concat!(
    include_str!("../../../toolgate-server/src/http/route.rs"),
    include_str!("../../../toolgate-server/src/http/approvals.rs"),
    include_str!("../../../toolgate-server/src/http/processes.rs")
);

/// What each caller gets: the status, and for a call what it came to.
struct Row {
    method: &'static str,
    path: &'static str,
    anonymous: &'static str,
    user: &'static str,
    operator: &'static str,
}

const fn row(
    method: &'static str,
    path: &'static str,
    anonymous: &'static str,
    user: &'static str,
    operator: &'static str,
) -> Row {
    Row { method, path, anonymous, user, operator }
}

const METADATA: &str = "/.well-known/oauth-protected-resource";

const TABLE: &[Row] = &[
    // one's own tasks: nobody has none
    row("POST", "/mcp", "200 authentication_required", "200 ok", "200 ok"),
    // the stream and the end of the user's own session: nobody else's
    row("GET", "/mcp", "404", "200", "404"),
    row("DELETE", "/mcp", "404", "204", "404"),
    row("OPTIONS", "/mcp", "204", "204", "204"),
    row("PUT", "/mcp", "405", "405", "405"),
    row("GET", "/healthz", "200", "200", "200"),
    row("GET", "/readyz", "200", "200", "200"),
    row("GET", "/metrics", "401", "403", "200"),
    // no issuer is configured, so there is nothing to say
    row("GET", METADATA, "404", "404", "404"),
    row("GET", "/.well-known/oauth-protected-resource/mcp", "404", "404", "404"),
    row("GET", "/api/v1/openapi.json", "200", "200", "200"),
    // an approval that is not there is nobody's
    row("GET", "/api/v1/approvals", "401", "200", "200"),
    row("POST", "/api/v1/approvals", "405", "405", "405"),
    row("OPTIONS", "/api/v1/approvals", "204", "204", "204"),
    row("GET", "/api/v1/approvals/appr_1", "401", "404", "404"),
    row("POST", "/api/v1/approvals/appr_1/approve", "401", "404", "404"),
    row("POST", "/api/v1/approvals/appr_1/deny", "401", "404", "404"),
    // whoever runs processes is the operator; a process without a definition is none
    row("GET", "/api/v1/processes", "401", "403", "200"),
    row("POST", "/api/v1/processes", "401", "403", "400"),
    row("PUT", "/api/v1/processes", "405", "405", "405"),
    row("OPTIONS", "/api/v1/processes", "204", "204", "204"),
    row("GET", "/api/v1/processes/proc_1", "401", "403", "404"),
    row("GET", "/api/v1/processes/proc_1/next", "401", "403", "404"),
    row("POST", "/api/v1/tasks", "401", "403", "200"),
    row("GET", "/api/v1/tasks/task_1", "401", "403", "404"),
    row("POST", "/api/v1/tasks/task_1/finish", "401", "403", "404"),
    row("POST", "/api/v1/tasks/task_1/commits", "401", "403", "400"),
];

struct Callers {
    user: String,
    operator: String,
    /// The user's, opened anew for each look.
    session: String,
}

fn ask(gate: &Served, row: &Row, callers: &Callers, token: Option<&str>) -> String {
    let mut request = match (row.method, row.path) {
        ("POST", "/mcp") => Message::call(Era::Late, "add_task", json!({"title": "x"})).request(),
        ("OPTIONS", _) => Request::new("OPTIONS", row.path).header("Origin", "http://localhost:1"),
        (method, "/mcp") => Request::new(method, "/mcp").header("Mcp-Session-Id", &callers.session),
        ("POST", path) => Request { path: path.to_owned(), ..Request::json("{}") },
        (method, path) => Request::new(method, path),
    };
    if let Some(token) = token {
        request = request.bearer(token);
    }
    if (row.method, row.path) == ("GET", "/mcp") {
        return gate.open(&request.header("Accept", "text/event-stream")).status.to_string();
    }
    let answer: Answer = gate.send(&request);
    match (row.method, row.path) {
        ("POST", "/mcp") => format!("{} {}", answer.status, answer.verdict()),
        _ => answer.status.to_string(),
    }
}

#[test]
fn each_caller_gets_what_the_table_says() {
    let home = Home::bare();
    let gate = home.serve();
    let (user, operator) = (home.mint("--user alice"), home.mint("--user ops --operator"));
    let opened = gate.ask(&Message::initialize(Era::Late).bearer(&user));
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let callers = Callers { user, operator, session };
    for row in TABLE {
        let of = |token| ask(&gate, row, &callers, token);
        // the owner last: deleting ends the session
        let got = [of(None), of(Some(&callers.operator)), of(Some(&callers.user))];
        assert_eq!(got, [row.anonymous, row.operator, row.user], "{} {}", row.method, row.path);
    }
}

#[test]
fn what_is_at_no_address_is_not_found() {
    let home = Home::bare();
    let gate = home.serve();
    for (method, path) in [("GET", "/"), ("POST", "/"), ("POST", "/healthz"), ("GET", "/mcp/"), ("GET", "/metricsx")] {
        assert_eq!(gate.send(&Request::new(method, path)).status, 404, "{method} {path}");
    }
}

/// String literals of a piece of source.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

#[test]
fn every_route_of_the_source_is_in_the_table() {
    let paths: BTreeSet<&str> = TABLE.iter().map(|row| row.path).collect();
    let named: BTreeSet<&str> = ROUTES
        .lines()
        .flat_map(literals)
        .filter(|literal| literal.starts_with('/') && !literal.contains(' '))
        .collect();
    assert!(named.len() >= 5, "the source is not read as it should be: {named:?}");
    for path in named {
        assert!(paths.contains(path), "{path} has no row: say who may ask it what");
    }
    let mut arms = 0;
    for line in ROUTES.lines().filter(|line| line.contains("&Method::")) {
        let path = literals(line).find(|literal| literal.starts_with('/')).filter(|_| !line.contains("METADATA"));
        let path = path.unwrap_or(METADATA);
        for arm in line.split("&Method::").skip(1) {
            let method: String = arm.chars().take_while(char::is_ascii_uppercase).collect();
            assert!(
                TABLE.iter().any(|row| row.path == path && row.method == method),
                "{method} {path} has no row: say who may ask it what"
            );
            arms += 1;
        }
    }
    assert!(arms >= 8, "the source is not read as it should be: {arms} arms");
}
