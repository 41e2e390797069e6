//! Every address and every MCP method, asked by callers who may not; what has no row here fails.

use serde_json::json;
use toolgate_mcp::Protocols;
use toolgate_server::http::{ROUTES, matches};

use super::bed::{
    home::Home,
    http::{Answer, Request},
    message::{Era, Message},
    served::Served,
};

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
    // whoever sets up a team is the operator
    row("GET", "/api/v1/agents", "401", "403", "200"),
    row("POST", "/api/v1/agents", "401", "403", "400"),
    row("DELETE", "/api/v1/agents", "405", "405", "405"),
    row("OPTIONS", "/api/v1/agents", "204", "204", "204"),
    row("GET", "/api/v1/agents/a1", "401", "403", "404"),
    row("PATCH", "/api/v1/agents/a1", "401", "403", "404"),
    row("POST", "/api/v1/agents/a1/passkey", "401", "403", "404"),
    row("PUT", "/api/v1/agents/a1/projects/p1", "401", "403", "404"),
    row("DELETE", "/api/v1/agents/a1/projects/p1", "401", "403", "404"),
    row("GET", "/api/v1/projects", "401", "403", "200"),
    row("POST", "/api/v1/projects", "401", "403", "400"),
    row("GET", "/api/v1/projects/p1", "401", "403", "404"),
    row("PATCH", "/api/v1/projects/p1", "401", "403", "404"),
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
        ("POST" | "PATCH", path) => {
            Request { method: row.method.to_owned(), path: path.to_owned(), ..Request::json("{}") }
        }
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

#[test]
fn every_route_of_the_router_is_in_the_table() {
    for (method, address) in ROUTES {
        assert!(
            TABLE.iter().any(|row| row.method == *method && matches(address, row.path)),
            "{method} {address} has no row: say who may ask it what"
        );
    }
}

#[test]
fn what_no_row_of_the_router_names_leads_nowhere() {
    let home = Home::bare();
    let gate = home.serve();
    let operator = home.mint("--user ops --operator");
    for (method, path, status) in [
        ("POST", "/api/v1/approvals/appr_1/extend", 404),
        ("DELETE", "/api/v1/approvals/appr_1", 405),
        ("GET", "/api/v1/processes/proc_1/next/x", 404),
        ("PUT", "/api/v1/tasks/task_1/finish", 405),
        ("GET", "/api/v1/agents/a1/passkey", 405),
        ("GET", "/api/v2/agents", 404),
    ] {
        let answer = gate.send(
            &Request { method: method.to_owned(), path: path.to_owned(), ..Request::json("{}") }.bearer(&operator),
        );
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{method} {path}");
    }
}

/// Every MCP method with what a caller without a credential gets where everybody must sign in.
const METHODS: &[(&str, u16)] = &[
    ("tools/call", 401),
    ("tools/list", 401),
    ("prompts/get", 401),
    ("prompts/list", 401),
    ("resources/read", 401),
    ("resources/list", 401),
    ("resources/templates/list", 401),
    ("completion/complete", 401),
    ("logging/setLevel", 401),
    ("resources/subscribe", 401),
    ("resources/unsubscribe", 401),
    ("subscriptions/listen", 401),
    // what a client needs before it can sign in
    ("initialize", 200),
    ("ping", 200),
    ("server/discover", 200),
];

#[test]
fn every_method_refuses_a_caller_who_must_sign_in_and_has_not() {
    let home = Home::with("[packs.gate]\n[packs.todo]\n[identity]\nchallenge = \"always\"\n");
    let gate = home.serve();
    for (method, protocols) in toolgate_mcp::methods() {
        let row = METHODS.iter().find(|(name, _)| *name == method);
        let (_, expected) = row.unwrap_or_else(|| panic!("{method} has no row: say what nobody gets"));
        let eras: &[Era] = match protocols {
            Protocols::Both => &[Era::Modern, Era::Late, Era::Early],
            Protocols::Stateless => &[Era::Modern],
            Protocols::Legacy => &[Era::Late, Era::Early],
        };
        for era in eras {
            let message = match method {
                "initialize" => Message::initialize(*era),
                "resources/read" => Message::new(*era, method).param("uri", json!("x:y")).header("Mcp-Name", "x:y"),
                "tools/call" | "prompts/get" => Message::new(*era, method).param("name", json!("help")),
                _ => Message::new(*era, method),
            };
            for message in [message.clone(), message.bearer("nonsense")] {
                assert_eq!(gate.ask(&message).status, *expected, "{method} {era:?}");
            }
        }
    }
}
