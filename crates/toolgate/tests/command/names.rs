//! Names with dots, names with a prefix, and the language of what people read.

use serde_json::json;

use super::bed::{
    home::Home,
    message::{ERAS, Era, Message},
};

fn home(config: &str) -> Home {
    let home =
        Home::with(&format!("{config}\n[packs.gate]\n[packs.todo]\n[packs.echo]\ndefinitions = \"tools.json\"\n"));
    home.write(
        "tools.json",
        r#"[{"name": "vault.move", "x-own": {"kept": [1.50]}, "inputSchema": {"type": "object"}}]"#,
    );
    home
}

#[test]
fn a_dotted_name_is_listed_in_the_form_every_client_takes_and_called_by_either() {
    for (config, listed) in [("", "vault_move"), ("naming = \"dotted\"", "vault.move")] {
        let home = home(config);
        let gate = home.serve();
        let token = home.mint("--user alice");
        for era in ERAS {
            let names = gate.ask(&Message::list(era).bearer(&token)).tools();
            assert!(names.iter().any(|name| name == listed), "{names:?}");
            for name in ["vault.move", "vault_move"] {
                let called = gate.ask(&Message::call(era, name, json!({"text": "moved"})).bearer(&token));
                assert_eq!(called.words(), "moved", "{name}");
            }
        }
    }
}

#[test]
fn what_a_definition_holds_beside_what_we_know_reaches_the_client() {
    let home = home("");
    let gate = home.serve();
    let list = gate.ask(&Message::list(Era::Modern).bearer(&home.mint("--user alice")));
    assert!(list.text().contains(r#"{"kept": [1.50]}"#), "byte for byte: {}", list.text());
}

#[test]
fn a_prefix_stands_before_every_name_of_its_pack() {
    let home = Home::with("[packs.todo]\nprefix = \"my_\"\n[tools.my_add_task]\ngroup = \"mine\"\n");
    let gate = home.serve();
    let token = home.mint("--user alice");
    let names = gate.ask(&Message::list(Era::Late).bearer(&token)).tools();
    assert!(names.iter().all(|name| name.starts_with("my_")), "{names:?}");
    let add = |name: &str| gate.ask(&Message::call(Era::Late, name, json!({"title": "x"})).bearer(&token)).verdict();
    assert_eq!((add("my_add_task").as_str(), add("add_task").as_str()), ("ok", "-32602"));
}

#[test]
fn people_read_their_own_language_and_programs_the_same_codes() {
    for (config, language, start) in [
        ("", "ja,en;q=0.5", "ツール'add_task'"),
        ("", "en", "Tool 'add_task'"),
        ("lang = \"ja\"", "fr", "ツール'add_task'"),
        ("lang = \"ja\"", "en-GB", "Tool 'add_task'"),
    ] {
        let home = home(config);
        let gate = home.serve();
        let denied = gate.ask(&Message::call(Era::Modern, "add_task", json!({})).header("Accept-Language", language));
        assert_eq!(denied.verdict(), "authentication_required");
        assert!(denied.words().starts_with(start), "{language}: {}", denied.words());
    }
}
