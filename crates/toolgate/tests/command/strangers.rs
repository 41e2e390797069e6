//! A caller that nobody knows can neither stop the gateway nor fill it.

use std::{
    io::{BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use super::bed::{
    home::Home,
    http::{Request, read_answer},
    message::{Era, Message},
    served::Served,
    wait::until,
};

/// The head of a large message and the first half of its body; the rest never comes.
fn half_sent(gate: &Served, request: &Request, bytes: usize) -> TcpStream {
    let mut stream = gate.connect();
    let request = Request { body: vec![b' '; bytes], ..request.clone() };
    stream.write_all(request.head(gate.address).as_bytes()).unwrap();
    // the server may refuse in the middle of it
    let _ = stream.write_all(request.body.get(..bytes / 2).unwrap());
    stream
}

fn status_of(stream: TcpStream) -> (u16, Option<String>) {
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    (answer.status, answer.header("retry-after").map(str::to_owned))
}

/// Bytes that the server read and holds: a whole message of them is refused once no room is left.
#[test]
fn unfinished_bodies_take_no_more_than_their_share_and_leave_signed_in_callers_room() {
    let home = Home::with("[packs.todo]\n[limits]\nbody_bytes = 1000000\n[server]\nbody_budget_bytes = 4000000\n");
    let gate = home.serve();
    let token = home.mint("--user alice");
    let json = Request::json("");
    // a quarter of the budget is one address's: six bodies of which 200 kB came are more than that
    let mut held = Vec::new();
    until("the address has its share", || {
        let mut body = half_sent(&gate, &json, 400_000);
        body.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let mut first = [0; 12];
        let refused = body.read_exact(&mut first).is_ok();
        assert!(!refused || first.ends_with(b"503"), "{}", String::from_utf8_lossy(&first));
        held.push(body);
        assert!(held.len() < 20, "nothing bounds them");
        refused.then_some(())
    });
    let refused = status_of(half_sent(&gate, &json, 400_000));
    assert_eq!(refused, (503, Some("1".to_owned())), "said at once, not after the body's time");
    assert_eq!(gate.ask(&Message::list(Era::Late)).status, 200, "small messages are answered");
    let note = "x".repeat(200_000);
    let large = Message::list(Era::Late).meta("note", json!(note));
    assert_eq!(gate.ask(&large).status, 503, "without a credential there is no room");
    assert_eq!(gate.ask(&large.clone().bearer(&token)).status, 200, "a signed-in caller has room of its own");
    assert_eq!(gate.ask(&large.clone().bearer("nonsense")).status, 503, "and nobody else who says so");
    drop(held);
    until("room comes back", || (gate.ask(&large).status == 200).then_some(()));
}

#[test]
fn an_admin_address_refuses_before_it_reads() {
    let home = Home::with("[packs.admin]\n");
    let gate = home.serve();
    let (alice, operator) = (home.mint("--user alice"), home.mint("--user olga --operator"));
    let import = |token: &str| {
        Request::new("POST", "/api/v1/admin/import").header("Content-Type", "application/json").bearer(token)
    };
    let address = [import(&alice)].map(|request| status_of(half_sent(&gate, &request, 1_000_000)).0);
    assert_eq!(address, [403], "nothing of the body is waited for");
    let mut waits = half_sent(&gate, &import(&operator), 100_000);
    waits.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(waits.read(&mut [0; 1]).is_err(), "whoever may do it is listened to");
}

#[test]
fn one_address_has_its_share_of_the_connections() {
    let home = Home::with("[packs.todo]\n[server]\nconnections = 40\n");
    let gate = home.serve();
    let idle: Vec<TcpStream> = (0..10).map(|_| gate.connect()).collect();
    until("the address has its quarter", || {
        let mut one_more = gate.connect();
        one_more.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        matches!(one_more.read(&mut [0; 1]), Ok(0)).then_some(())
    });
    assert!(gate.logs("too many connections of one address").contains("trusted_proxies"));
    drop(idle);
    until("places come back", || {
        super::bed::http::exchange(gate.address, &Request::new("GET", "/healthz")).ok().filter(|ok| ok.status == 200)
    });

    let home = Home::with("[packs.todo]\n[server]\nconnections = 40\ntrusted_proxies = [\"127.0.0.1\"]\n");
    let gate = home.serve();
    let _idle: Vec<TcpStream> = (0..30).map(|_| gate.connect()).collect();
    assert_eq!(gate.send(&Request::new("GET", "/healthz")).status, 200, "a proxy has all its clients' connections");
}

#[test]
fn connections_are_held_against_the_limit_on_open_files() {
    let home = Home::with("[packs.todo]\n[log]\nlevel = \"info\"\n");
    let mut limited = std::process::Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_toolgate");
    limited
        .env_clear()
        .current_dir(home.path(""))
        .args(["-c", &format!("ulimit -n 256 && exec {binary} serve --listen 127.0.0.1:0")]);
    let gate = Served::start(limited);
    assert!(gate.logs("fewer connections").contains("taken=128"), "{}", gate.log());
    let _idle: Vec<TcpStream> = (0..300).map(|_| gate.connect()).collect();
    let token = home.mint("--user alice");
    assert!(!gate.log().contains("Too many open files"), "{}", gate.log());
    drop(_idle);
    let add = Message::call(Era::Late, "add_task", json!({"title": "one"})).bearer(&token).request();
    let added = until("it is answered", || super::bed::http::exchange(gate.address, &add).ok());
    assert_eq!(added.verdict(), "ok");
}

#[test]
fn streams_of_anonymous_callers_are_bounded_and_those_of_others_are_not_touched() {
    let home = Home::with("[packs.todo]\n[server]\nanonymous_streams = 16\nstreams_per_caller = 3\n");
    let gate = home.serve();
    let token = home.mint("--user alice");
    let stream_of = |token: Option<&str>| {
        let mut begin = Message::initialize(Era::Late);
        begin = if let Some(token) = token { begin.bearer(token) } else { begin };
        let session = gate.ask(&begin).header("mcp-session-id").unwrap().to_owned();
        let stream =
            Request::new("GET", "/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", &session);
        let stream = if let Some(token) = token { stream.bearer(token) } else { stream };
        let mut connection = gate.connect();
        connection.write_all(stream.head(gate.address).as_bytes()).unwrap();
        let mut line = [0; 12];
        connection.read_exact(&mut line).unwrap();
        (String::from_utf8_lossy(&line).into_owned(), connection)
    };
    let anonymous: Vec<_> = (0..3).map(|_| stream_of(None)).collect();
    let statuses: Vec<&str> = anonymous.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 429"], "an eighth of them is one address's");
    let own: Vec<_> = (0..4).map(|_| stream_of(Some(&token))).collect();
    let statuses: Vec<&str> = own.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 429"]);
    drop(anonymous);
    until("a stream that ended makes room", || (stream_of(None).0 == "HTTP/1.1 200").then_some(()));
}

#[test]
fn calls_without_signing_in_come_at_a_rate_and_only_so_many_are_on_record() {
    let home = Home::with("[packs.todo]\n[limits]\nanonymous_per_minute = 20\n");
    let gate = home.serve();
    let token = home.mint("--user alice");
    let unknown = Message::call(Era::Late, "nothing", json!({"text": "x".repeat(5000)}));
    let statuses: Vec<u16> = (0..60).map(|_| gate.ask(&unknown).status).collect();
    let taken = statuses.iter().filter(|status| **status == 200).count();
    assert!((20..=25).contains(&taken), "{taken}: {statuses:?}");
    let refused = gate.ask(&unknown);
    assert_eq!((refused.status, refused.verdict()), (429, "-31429".to_owned()));
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3).contains(&seconds), "{seconds}");
    assert!(refused.words().contains("sign in, or try again in"), "{}", refused.words());
    assert_eq!(gate.ask(&Message::list(Era::Late)).status, 200, "lists leave no record");
    let add = Message::call(Era::Late, "add_task", json!({"title": "one"})).bearer(&token);
    assert_eq!(gate.ask(&add).verdict(), "ok", "whoever is signed in is not concerned");
    gate.logs("too many calls of anonymous callers");
    let operator = home.mint("--user olga --operator");
    let metrics = gate.send(&Request::new("GET", "/metrics").bearer(&operator)).text();
    assert!(metrics.contains("toolgate_anonymous_calls_throttled_total"), "{metrics}");
    drop(gate);
    let records = home.run(&["ledger", "tail", "--limit", "1000", "--json"]).out;
    let unknown: Vec<&str> = records.lines().filter(|line| line.contains("unknown_tool")).collect();
    assert_eq!(unknown.len(), taken, "one record for each that was taken");
    assert!(unknown.iter().all(|line| line.len() < 1500 && line.contains("\"cut\":true")), "{}", unknown[0]);
}

#[test]
fn anonymous_callers_leave_room_in_the_ledger_for_everybody_else() {
    let home = Home::with(
        "[packs.todo]\n[ledger]\nmax_bytes = 60000\n[limits]\nanonymous_per_minute = 0\nanonymous_total_per_minute = 0\n",
    );
    let gate = home.serve();
    let token = home.mint("--user alice");
    let unknown = Message::call(Era::Late, "nothing", json!({"text": "x".repeat(5000)}));
    let full = (0..1000).find_map(|_| Some(gate.ask(&unknown)).filter(|answer| answer.status != 200)).unwrap();
    assert_eq!(full.status, 503);
    assert!(full.words().contains("sign in"), "{}", full.words());
    let add = |n: u32| gate.ask(&Message::call(Era::Late, "add_task", json!({"title": n.to_string()})).bearer(&token));
    assert!((0..3).all(|n| add(n).verdict() == "ok"), "a fifth of it is left");
}

#[test]
fn sessions_that_nobody_signed_in_to_end_without_a_durable_write() {
    let home = Home::with("[packs.todo]\n");
    let gate = home.serve();
    let begin = |token: Option<&str>| {
        let begin = Message::initialize(Era::Late);
        let begin = if let Some(token) = token { begin.bearer(token) } else { begin };
        gate.ask(&begin).header("mcp-session-id").unwrap().to_owned()
    };
    let with = |method: &str, session: &str| Request::new(method, "/mcp").header("Mcp-Session-Id", session);
    let token = home.mint("--user alice");
    let (nobodys, alices) = (begin(None), begin(Some(&token)));
    assert_eq!(gate.send(&with("DELETE", &nobodys)).status, 204);
    assert_eq!(gate.send(&with("DELETE", &alices).bearer(&token)).status, 204);
    let list = |session: &str| Message::list(Era::Late).header("Mcp-Session-Id", session);
    assert_eq!(gate.ask(&list(&nobodys)).status, 404);
    assert_eq!(gate.ask(&list(&alices).bearer(&token)).status, 404);
    drop(gate);
    // what the store knows is still known after a new start
    let gate = home.serve();
    assert_eq!(gate.ask(&list(&alices).bearer(&token)).status, 404);
    assert_eq!(gate.ask(&list(&nobodys)).status, 200, "nobody's session was nowhere written down");
}

#[test]
fn two_authorization_headers_are_refused_at_every_address() {
    let home = Home::with("[packs.todo]\n[packs.admin]\n");
    let gate = home.serve();
    let token = home.mint("--user olga --operator");
    for path in ["/api/v1/approvals", "/api/v1/agents", "/api/v1/processes", "/api/v1/admin/tenants", "/metrics"] {
        let request = Request::new("GET", path).bearer(&token);
        assert_eq!(gate.send(&request).status, 200, "{path}");
        assert_eq!(gate.send(&request.bearer("other")).status, 400, "{path}");
    }
}

#[test]
fn the_description_names_tools_of_admins_to_who_may_know_of_them() {
    let home = Home::with("[packs.admin]\n");
    let gate = home.serve();
    let get = Request::new("GET", "/api/v1/openapi.json");
    let as_user = |facts: &str| gate.send(&get.clone().bearer(&home.mint(facts)));
    let (anonymous, user, operator) = (gate.send(&get), as_user("--user alice"), as_user("--user alice --operator"));
    assert_eq!((anonymous.status, user.status, operator.status), (200, 200, 200));
    assert!(!anonymous.text().contains("admin_"), "{}", anonymous.text());
    assert!(!user.text().contains("admin_list_overrides"), "hidden over MCP, too");
    assert!(operator.text().contains("admin_list_overrides"));
    assert!(anonymous.text().contains("/approvals"));
}
