//! A long list comes in pages, and a page's cursor is good for its caller and its list only.

use serde_json::{Value, json};

use super::bed::{
    home::Home,
    http::Answer,
    message::{ERAS, Era, Message},
    served::Served,
    wait::until,
};

const CONFIG: &str = "[packs.gate]\n[packs.todo]\n[server]\npage_size = 4\n";

fn page(gate: &Served, era: Era, token: &str, cursor: Option<&str>) -> Answer {
    let list = Message::list(era).bearer(token);
    gate.ask(&cursor.iter().fold(list, |list, cursor| list.param("cursor", json!(cursor))))
}

fn next(answer: &Answer) -> Option<String> {
    answer.result()["nextCursor"].as_str().map(str::to_owned)
}

#[test]
fn pages_together_are_the_whole_list_in_one_order() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let token = home.mint("--user alice");
    for era in ERAS {
        let first = page(&gate, era, &token, None);
        let second = page(&gate, era, &token, next(&first).as_deref());
        assert_eq!(next(&second), None);
        let names = [first.tools(), second.tools()].concat();
        assert_eq!(names, ["add_task", "complete_task", "delete_task", "help", "list_tasks", "update_task"]);
        assert_eq!(page(&gate, era, &token, None).body, first.body, "the same bytes again");
        if era == Era::Modern {
            for result in [first.result(), second.result()] {
                assert_eq!((&result["cacheScope"], &result["resultType"]), (&json!("private"), &json!("complete")));
                assert!(result["ttlMs"].is_u64());
            }
        }
    }
}

#[test]
fn a_cursor_is_good_for_its_caller_and_its_list_only() {
    let home = Home::with(CONFIG);
    let gate = home.serve();
    let (alice, bob) = (home.mint("--user alice"), home.mint("--user bob"));
    let cursor = next(&page(&gate, Era::Modern, &alice, None)).unwrap();
    let refused = |token: &str, cursor: &str| page(&gate, Era::Modern, token, Some(cursor)).verdict();
    assert_eq!(refused(&alice, &cursor), "ok");
    for (token, cursor) in [(&bob, cursor.as_str()), (&alice, "1"), (&alice, ""), (&alice, &cursor[1..])] {
        assert_eq!(refused(token, cursor), "-32602", "{cursor}");
    }
    let number = gate.ask(&Message::list(Era::Modern).bearer(&alice).param("cursor", json!(1)));
    assert_eq!(number.verdict(), "-32602");
    home.write("toolgate.toml", &format!("disabled_tools = [\"help\"]\n{CONFIG}"));
    until("the cursor of the old list is refused", || (refused(&alice, &cursor) == "-32602").then_some(()));
}

#[test]
fn a_caller_without_any_tool_has_an_empty_list() {
    let home = Home::with("[packs.todo]\n");
    let gate = home.serve();
    for era in ERAS {
        let answer = gate.ask(&Message::list(era));
        assert_eq!(answer.result()["tools"], Value::Array(vec![]), "{era:?}");
        assert!(answer.result().get("nextCursor").is_none());
    }
}
