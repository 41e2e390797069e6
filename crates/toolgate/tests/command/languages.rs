//! One language at a time: `help` and `tools/list` describe a tool in the same words, in the language asked for.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
};

const PACKS: &str = "[packs.gate]\n[packs.team]\nadvertise = true\n[packs.todo]\n[packs.workspace]\n";

fn in_language(message: Message, lang: Option<&str>) -> Message {
    lang.iter().fold(message, |message, lang| message.header("Accept-Language", lang))
}

/// A word behind `@@` is what people type, in any language.
fn is_japanese(text: &str) -> bool {
    let text = text.split("@@").next().unwrap_or_default();
    text.chars().any(|character| ('\u{3040}'..='\u{30ff}').contains(&character))
}

#[test]
fn help_and_list_describe_a_tool_in_one_language() {
    let home = Home::with(&format!("{PACKS}[server]\npage_size = 7\n"));
    let gate = home.serve();
    let token = home.mint("--agent ann --kind worker --project site --purpose task");
    for era in ERAS {
        for lang in [None, Some("ja"), Some("en"), Some("fr, ja;q=0.5")] {
            let japanese = lang.is_some_and(|lang| lang.contains("ja"));
            let mut listed: BTreeMap<String, Value> = BTreeMap::new();
            let mut cursor = Value::Null;
            loop {
                let list = in_language(Message::list(era).bearer(&token), lang).param("cursor", cursor);
                let page = gate.ask(&list).result();
                for tool in page["tools"].as_array().unwrap() {
                    listed.insert(tool["name"].as_str().unwrap().to_owned(), tool.clone());
                }
                cursor = page["nextCursor"].clone();
                if cursor.is_null() {
                    break;
                }
            }
            assert!(listed.len() > 14, "{era:?}: more than two pages: {}", listed.len());
            for (name, tool) in &listed {
                let described = tool["description"].as_str().unwrap();
                assert_eq!(is_japanese(described), japanese, "{era:?} {lang:?} {name}: {described}");
                let help = Message::call(era, "help", json!({ "tool_name": name })).bearer(&token);
                let help = gate.ask(&in_language(help, lang)).result()["structuredContent"].take();
                assert_eq!(help["description"], described, "{era:?} {lang:?} {name}");
                match help["available"] == json!(true) {
                    true => {
                        for parameter in help["parameters"].as_array().unwrap() {
                            let of_list = &tool["inputSchema"]["properties"][parameter["name"].as_str().unwrap()];
                            assert_eq!(parameter.get("description"), of_list.get("description"), "{name} {parameter}");
                        }
                    }
                    false => assert_eq!(help["reason"], tool["_meta"]["toolgate/reason"], "{name}"),
                }
            }
        }
    }
    let list = |lang| gate.ask(&in_language(Message::list(Era::Modern).bearer(&token), lang));
    let (english, japanese) = (list(None).result(), list(Some("ja")).result());
    let next = Message::list(Era::Modern).bearer(&token).param("cursor", english["nextCursor"].clone());
    assert_eq!(gate.ask(&in_language(next, Some("ja"))).tools().len(), 7, "a cursor is good in every language");
    assert_ne!(english["tools"], japanese["tools"]);
    assert_eq!(english["tools"], list(Some("en")).result()["tools"]);
}

#[test]
fn a_gateway_that_speaks_japanese_lists_in_japanese_and_in_english_where_asked() {
    let home = Home::with(&format!("lang = \"ja\"\n{PACKS}"));
    let gate = home.serve();
    let help = |lang| {
        let list = gate.ask(&in_language(Message::list(Era::Late), lang)).result();
        let tools = list["tools"].as_array().unwrap().clone();
        tools.into_iter().find(|tool| tool["name"] == "help").unwrap()
    };
    let listed = help(None);
    assert_eq!(
        listed["description"],
        "利用可能なMCPツールの一覧と詳細を表示します。呼び出し元の認証状態とセッションのpurposeに応じて、実際に利用可能なツールのみが表示されます。"
    );
    assert!(is_japanese(listed["inputSchema"]["properties"]["tool_name"]["description"].as_str().unwrap()));
    assert!(!is_japanese(help(Some("en"))["description"].as_str().unwrap()));
    let mut pipe = home.stdio(None);
    let answer = pipe.ask(&Message::list(Era::Modern));
    let listed = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert!(listed.iter().all(|tool| is_japanese(tool["description"].as_str().unwrap())), "{answer}");
}
