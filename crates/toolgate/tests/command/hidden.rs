//! A tool that is hidden from a caller answers byte for byte as one that does not exist, on every path.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::{Answer, Request},
    issuer::{self, Signer},
    message::{ERAS, Era, Message},
    served::Served,
};

/// Hidden tools, each for another reason, and a name of the same length that no tool has.
const PAIRS: [(&str, &str); 5] = [
    ("hidden_tool", "absent_tool"),
    ("hidden_off", "absent_off"),
    ("hidden.dots", "absent.dots"),
    ("hidden_dots", "absent_dots"),
    ("hidden_rule", "absent_rule"),
];

const CONFIG: &str = r#"
rules = ["own.cedar"]
disabled_tools = ["hidden_off"]
[packs.gate]
[packs.todo]
[packs.echo]
definitions = "tools.json"
[tools.open_tool]
permission = "unauthenticated"
[tools.hidden_tool]
permission = "admin_only"
when_denied = "hidden"
runtimes = ["server"]
min_plan = "enterprise"
approval = "required"
limits = { argument_bytes = 64 }
[tools.hidden_off]
permission = "admin_only"
when_denied = "hidden"
[tools."hidden.dots"]
permission = "admin_only"
when_denied = "hidden"
bind = { region = "caller.tenant" }
[tools.hidden_rule]
permission = "admin_only"
when_denied = "hidden"
"#;

const RULE: &str = r#"
@id("no_big_regions")
@code("region_refused")
@message("Tool '{tool}' does not take that region.")
forbid (principal, action == Action::"call:hidden_rule", resource)
when { context.arguments has region && context.arguments.region == "secret" };
"#;

fn home(more: &str) -> Home {
    let home = Home::with(&format!("{CONFIG}{more}"));
    let tool = |name: &str| {
        json!({"name": name, "description": "Answers.", "inputSchema": {"type": "object", "required": ["region"],
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "text": {"type": "string"}}}})
    };
    let names = ["open_tool", "hidden_tool", "hidden_off", "hidden.dots", "hidden_rule"];
    home.write("tools.json", &json!(names.map(tool)).to_string());
    home.write("own.cedar", RULE);
    home
}

/// All of an answer but the time it was made at, with the tool's name taken out.
fn without(answer: &Answer, name: &str) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| name != "date").cloned().collect();
    (answer.status, headers, answer.text().replace(name, "NAME"))
}

/// A message about a tool of this name.
type Ask = Box<dyn Fn(Era, &str) -> Message>;

/// Every way to ask about one tool.
fn ways() -> Vec<(&'static str, Ask)> {
    fn call(arguments: Value) -> impl Fn(Era, &str) -> Message {
        move |era, name| Message::call(era, name, arguments.clone())
    }
    let good = || call(json!({"region": "us"}));
    let with = |change: fn(Message) -> Message| -> Ask { Box::new(move |era, name| change(good()(era, name))) };
    vec![
        ("good arguments", with(|message| message.header("Mcp-Param-Region", "us"))),
        ("no mirrored header", with(|message| message)),
        ("a wrong mirrored header", with(|message| message.header("Mcp-Param-Region", "eu"))),
        ("a mirrored header twice", {
            with(|message| message.header("Mcp-Param-Region", "us").header("Mcp-Param-Region", "eu"))
        }),
        ("a mirrored header in base64", with(|message| message.header("Mcp-Param-Region", "=?base64?!?="))),
        ("no arguments", Box::new(|era, name| Message::new(era, "tools/call").param("name", json!(name)))),
        ("arguments that do not fit", Box::new(call(json!({"region": 4, "more": [null]})))),
        ("arguments that are too large", Box::new(call(json!({"region": "x".repeat(500)})))),
        ("arguments that a rule refuses", Box::new(call(json!({"region": "secret"})))),
        ("credentials among the arguments", Box::new(call(json!({"session_token": "s", "coordinator_token": "c"})))),
        ("a dry run", with(|message| message.meta("toolgate/dryRun", json!(true)))),
        ("a dry run that is no flag", with(|message| message.meta("toolgate/dryRun", json!("yes")))),
        ("a progress token", with(|message| message.meta("progressToken", json!("p")))),
        ("a token in params", with(|message| message.param("token", json!("nonsense")))),
        ("a token in _meta", with(|message| message.meta("toolgate/token", json!("nonsense")))),
        ("a garbage bearer", with(|message| message.bearer("nonsense"))),
        ("a browser", with(|message| message.header("Origin", "http://localhost:3000"))),
        ("another language", with(|message| message.header("Accept-Language", "ja"))),
        ("help", Box::new(|era, name| Message::call(era, "help", json!({"tool_name": name})))),
        ("help in Japanese", {
            Box::new(|era, name| Message::call(era, "help", json!({"tool_name": name})).header("Accept-Language", "ja"))
        }),
    ]
}

fn callers(home: &Home) -> Vec<(&'static str, Option<String>)> {
    vec![
        ("a stranger", None),
        ("a user", Some(home.mint("--user alice"))),
        ("a member", Some(home.mint("--user alice --tenant acme --role member"))),
        ("a worker", Some(home.mint("--agent w --kind worker --project p --purpose task"))),
        ("a flow", Some(home.mint("--user alice --flow f --allow add_task"))),
        ("a browser's user", Some(home.mint("--user alice --runtime client"))),
    ]
}

fn compare_all(home: &Home, gate: &Served) {
    let mut compared = 0;
    for (who, token) in callers(home) {
        for (way, ask) in ways() {
            for era in ERAS {
                for (hidden, absent) in PAIRS {
                    let answer = |name: &str| {
                        let mut message = ask(era, name);
                        if let Some(token) = token.as_ref().filter(|_| way != "a garbage bearer") {
                            message = message.bearer(token);
                        }
                        without(&gate.ask(&message), name)
                    };
                    assert_eq!(answer(hidden), answer(absent), "{who}, {way}, {era:?}, {hidden}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "only {compared} pairs were compared");
}

#[test]
fn over_http_in_every_era_to_every_caller_who_may_not() {
    let home = home("");
    let gate = home.serve();
    // the comparison would hold for tools that are simply not there
    let admin = home.mint("--user root --tenant acme --role admin --plan enterprise");
    let listed = gate.ask(&Message::list(Era::Modern).bearer(&admin)).tools();
    assert!(["hidden_tool", "hidden_dots", "hidden_rule"].iter().all(|name| listed.iter().any(|tool| tool == name)));
    compare_all(&home, &gate);
    let unknown = gate.ask(&Message::call(Era::Late, "hidden_tool", json!({"region": "us"})));
    assert_eq!((unknown.status, unknown.words()), (200, "Unknown tool: hidden_tool".to_owned()));
}

#[test]
fn over_http_where_an_issuer_makes_strangers_sign_in() {
    let home = home(issuer::CONFIG);
    let signer = Signer::eddsa("k1");
    issuer::publish(&home, &[&signer]);
    let gate = home.serve();
    // a visible tool is answered with a challenge, so that the difference would show
    let add = Message::call(Era::Modern, "add_task", json!({"title": "x"}));
    assert_eq!(gate.ask(&add).status, 401);
    compare_all(&home, &gate);
    let token = signer.token(&issuer::claims("alice", json!({"scope": "tools"})));
    for (hidden, absent) in PAIRS {
        let answer = |name: &str| {
            without(&gate.ask(&Message::call(Era::Modern, name, json!({"region": "us"})).bearer(&token)), name)
        };
        assert_eq!(answer(hidden), answer(absent));
    }
}

#[test]
fn over_stdio() {
    let home = home("");
    for token in [None, Some(home.mint("--user alice"))] {
        let mut pipe = home.stdio(token.as_deref());
        for (way, ask) in ways() {
            for era in ERAS {
                for (hidden, absent) in PAIRS {
                    let mut answer = |name: &str| pipe.ask(&ask(era, name)).to_string().replace(name, "NAME");
                    assert_eq!(answer(hidden), answer(absent), "{way}, {era:?}, {hidden}");
                }
            }
        }
    }
}

#[test]
fn a_list_of_a_caller_who_may_not_names_none_of_them() {
    let home = home("");
    let gate = home.serve();
    for (who, token) in callers(&home) {
        for ask in [Message::list(Era::Modern), Message::call(Era::Modern, "help", json!({}))] {
            let message = token.iter().fold(ask, |ask, token| ask.bearer(token));
            let answer = gate.ask(&message);
            assert!(!answer.text().contains("hidden"), "{who}: {}", answer.text());
        }
    }
}

#[test]
fn a_metric_of_an_unknown_name_does_not_repeat_it() {
    let home = home("");
    let gate = home.serve();
    gate.ask(&Message::call(Era::Late, "hidden_tool", json!({})));
    gate.ask(&Message::call(Era::Late, "absent_tool", json!({})));
    let operator = home.mint("--user ops --operator");
    let metrics = gate.send(&Request::new("GET", "/metrics").bearer(&operator)).text();
    assert!(metrics.contains("toolgate_unknown_tool_calls_total 2\n"), "{metrics}");
    assert!(!metrics.contains("absent_tool"), "{metrics}");
}
