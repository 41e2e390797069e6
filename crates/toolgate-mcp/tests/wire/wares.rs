//! What the house offers: a tool for each thing that can happen, and prompts and resources.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json, value::to_raw_value};
use toolgate_core::{
    Facts, Kind, Tool, ToolName,
    tool::{Approval, Binding, Effect, Permission, WhenDenied},
};

fn tool(name: &str, properties: Value, facts: Facts) -> Tool {
    let definition = json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
    let name = ToolName::new(name).unwrap();
    Tool {
        kind: Kind::Tool,
        wire_name: name.to_wire(),
        own_name: name.clone(),
        name,
        source: "fixture".into(),
        definition: to_raw_value(&definition).unwrap().into(),
        facts,
    }
}

pub fn tools() -> Vec<Tool> {
    let open = || Facts { permission: Permission::Unauthenticated, effect: Effect::Read, ..Facts::default() };
    let explained = || Facts { when_denied: WhenDenied::Explained, ..Facts::default() };
    let mirrored = || json!({"region": {"type": "string", "x-mcp-header": "Region"}});
    let scopes: BTreeSet<String> = ["files:write".to_owned()].into();
    let mut all = vec![
        tool("echo", json!({}), open()),
        tool("region", mirrored(), open()),
        tool("raw", json!({}), open()),
        tool("steps", json!({}), open()),
        tool("forever", json!({}), open()),
        tool("broken", json!({}), open()),
        tool("write", json!({}), Facts { effect: Effect::Write, ..open() }),
        tool("bound", json!({}), Facts { bind: BTreeMap::from([("user_id".to_owned(), Binding::User)]), ..open() }),
        tool("diary", json!({}), explained()),
        tool("hidden", mirrored(), Facts::default()),
        tool("scoped", json!({}), Facts { oauth_scopes: scopes, ..explained() }),
        tool("asking", json!({}), Facts { approval: Approval::Required, ..explained() }),
    ];
    let asking = [
        "ask_elicitation",
        "ask_sampling",
        "ask_roots",
        "ask_three",
        "ask_twice",
        "ask_anyway",
        "ask_slowly",
        "ask_soon",
        "ask_briefly",
    ];
    let wanting = ["wants", "wants_rounds", "wants_state", "wants_forever", "wants_nonsense", "wants_sampling"];
    let others = ["logs", "rejected_lacking", "rejected", "elsewhere", "elsewhere_first", "wants_address"];
    all.extend(asking.iter().chain(&wanting).chain(&others).map(|name| tool(name, json!({}), open())));
    all.push(tool("ask_writing", json!({}), Facts { effect: Effect::Write, ..open() }));
    all
}

/// What there is beside tools: of each kind one for everyone and one that strangers do not see.
pub fn things() -> Vec<Tool> {
    let facts = |permission| Facts { permission, effect: Effect::Read, ..Facts::default() };
    let (open, signed_in) = (Permission::Unauthenticated, Permission::SignedIn);
    let prompt = |name: &str, facts| thing(Kind::Prompt, name, &json!({"name": name, "arguments": []}), facts);
    let resource = |uri: &str, facts| thing(Kind::Resource, uri, &json!({"uri": uri, "name": "a file"}), facts);
    let template = |uri: &str, facts| thing(Kind::Template, uri, &json!({"uriTemplate": uri, "name": "notes"}), facts);
    let explained = Facts { when_denied: WhenDenied::Explained, ..facts(signed_in) };
    vec![
        prompt("greeting", facts(open)),
        prompt("wants", facts(open)),
        prompt("Secret plan", facts(signed_in)),
        prompt("minutes", explained),
        resource("file:///open", facts(open)),
        resource("file:///kept", facts(open)),
        resource("file:///secret", facts(signed_in)),
        template("note://{id}", facts(open)),
        template("secret://{id}", facts(signed_in)),
        thing(Kind::Address, "note://private*", &json!({}), facts(signed_in)),
    ]
}

/// All there is.
pub fn everything() -> Vec<Tool> {
    let mut all = tools();
    all.extend(things());
    all
}

fn thing(kind: Kind, name: &str, definition: &Value, facts: Facts) -> Tool {
    let name = ToolName::free(name).unwrap();
    Tool {
        kind,
        wire_name: name.clone(),
        own_name: name.clone(),
        name,
        source: "fixture".into(),
        definition: to_raw_value(definition).unwrap().into(),
        facts,
    }
}
