//! Every limit at its edge, and the words on either side of it.

use serde_json::{Value, json};

use crate::world::World;

const NO_ID: &str = "Invalid task ID";
const TOO_LONG: &str = "Title must be 200 characters or less";

on_both! {
    async fn changes_answer_with_id_status_and_title(world: World) {
        let created = world.good("ann", "add_task", json!({"title": "Buy milk", "description": "Two litres"})).await;
        let id = created["task_id"].as_i64().unwrap();
        assert!(id > 0);
        assert_eq!(created, json!({"task_id": id, "status": "created", "title": "Buy milk"}));
        let updated = world.good("ann", "update_task", json!({"task_id": id, "title": "Buy oat milk"})).await;
        assert_eq!(updated, json!({"task_id": id, "status": "updated", "title": "Buy oat milk"}));
        let completed = world.good("ann", "complete_task", json!({"task_id": id})).await;
        assert_eq!(completed, json!({"task_id": id, "status": "completed", "title": "Buy oat milk"}));
        let deleted = world.good("ann", "delete_task", json!({"task_id": id})).await;
        assert_eq!(deleted, json!({"task_id": id, "status": "deleted", "title": "Buy oat milk"}));
        let gone = world.bad("ann", "delete_task", json!({"task_id": id})).await;
        assert_eq!(gone, json!({"error": "Task not found", "code": "not_found", "task_id": id}));
    }

    async fn a_title_has_up_to_200_characters_however_many_bytes(world: World) {
        let id = world.add("ann", "first").await;
        for letter in ["a", "é", "字", "😀"] {
            let (fits, over) = (letter.repeat(200), letter.repeat(201));
            world.add("ann", &fits).await;
            assert_eq!(world.titles("ann", json!({})).await[0], fits);
            world.good("ann", "update_task", json!({"task_id": id, "title": fits})).await;
            assert_eq!(world.error("ann", "add_task", json!({"title": over})).await, TOO_LONG);
            assert_eq!(world.error("ann", "update_task", json!({"task_id": id, "title": over})).await, TOO_LONG);
        }
        // a letter and its accent are two characters
        world.add("ann", &"e\u{301}".repeat(100)).await;
        assert_eq!(world.error("ann", "add_task", json!({"title": "e\u{301}".repeat(101)})).await, TOO_LONG);
    }

    async fn a_description_has_up_to_1000_characters_and_may_be_empty(world: World) {
        let id = world.add("ann", "first").await;
        for letter in ["a", "字", "😀"] {
            let (fits, over) = (letter.repeat(1000), letter.repeat(1001));
            world.good("ann", "add_task", json!({"title": "x", "description": fits})).await;
            world.good("ann", "update_task", json!({"task_id": id, "description": fits})).await;
            let error = "Description must be 1000 characters or less";
            assert_eq!(world.error("ann", "add_task", json!({"title": "x", "description": over})).await, error);
            assert_eq!(world.error("ann", "update_task", json!({"task_id": id, "description": over})).await, error);
        }
        world.good("ann", "update_task", json!({"task_id": id, "description": ""})).await;
        world.good("ann", "add_task", json!({"title": "x", "description": ""})).await;
    }

    async fn a_blank_title_is_none(world: World) {
        let id = world.add("ann", "first").await;
        for blank in ["", " ", "\t\r\n", "\u{a0}", "\u{3000}\u{2003}"] {
            assert_eq!(world.error("ann", "add_task", json!({"title": blank})).await, "Title is required", "{blank:?}");
            let update = json!({"task_id": id, "title": blank});
            assert_eq!(world.error("ann", "update_task", update).await, "Title is required", "{blank:?}");
        }
        assert_eq!(world.error("ann", "add_task", json!({})).await, "Title is required");
        assert_eq!(world.error("ann", "add_task", json!({"description": "x"})).await, "Title is required");
        assert_eq!(world.titles("ann", json!({})).await, ["first"]);
    }

    async fn an_id_is_a_positive_integer(world: World) {
        world.add("ann", "first").await;
        let wrong = [
            json!(0), json!(-1), json!("x"), json!("1"), json!(1.5), json!(null), json!(true), json!([1]), json!({}),
            json!(i64::MIN), json!(u64::MAX), json!(1e30),
        ];
        for tool in ["complete_task", "delete_task", "update_task"] {
            for id in &wrong {
                let arguments = json!({"task_id": id, "title": "x"});
                assert_eq!(world.error("ann", tool, arguments).await, NO_ID, "{tool} {id}");
            }
            assert_eq!(world.error("ann", tool, json!({"title": "x"})).await, NO_ID, "{tool} without one");
            let largest = world.bad("ann", tool, json!({"task_id": i64::MAX, "title": "x"})).await;
            assert_eq!(largest, json!({"error": "Task not found", "code": "not_found", "task_id": i64::MAX}));
        }
        assert_eq!(world.titles("ann", json!({"status": "pending"})).await, ["first"]);
    }

    async fn an_update_changes_what_it_names_and_needs_something_to_change(world: World) {
        let id = world.add("ann", "title").await;
        let row = async || world.good("ann", "list_tasks", json!({})).await["tasks"][0].clone();
        let as_row = |title: &str, description: Value| json!({"id": id, "title": title, "description": description, "completed": false});
        world.good("ann", "update_task", json!({"task_id": id, "description": "more"})).await;
        assert_eq!(row().await, as_row("title", json!("more")));
        world.good("ann", "update_task", json!({"task_id": id, "title": "other"})).await;
        assert_eq!(row().await, as_row("other", json!("more")));
        world.good("ann", "update_task", json!({"task_id": id, "title": "both", "description": "changed"})).await;
        assert_eq!(row().await, as_row("both", json!("changed")));
        let error = "At least title or description required";
        assert_eq!(world.error("ann", "update_task", json!({"task_id": id})).await, error);
        assert_eq!(world.error("ann", "update_task", json!({"task_id": 999_999})).await, error, "said before looking");
        assert_eq!(row().await, as_row("both", json!("changed")));
    }

    async fn values_of_another_type_are_refused_in_words(world: World) {
        let id = world.add("ann", "first").await;
        for wrong in [json!(5), json!(null), json!(["x"]), json!({"x": 1}), json!(true)] {
            for (tool, title, description) in [
                ("add_task", json!({"title": wrong}), json!({"title": "x", "description": wrong})),
                ("update_task", json!({"task_id": id, "title": wrong}), json!({"task_id": id, "description": wrong})),
            ] {
                assert_eq!(world.error("ann", tool, title).await, "Title must be text", "{tool} {wrong}");
                assert_eq!(world.error("ann", tool, description).await, "Description must be text", "{tool} {wrong}");
            }
        }
    }

    async fn any_text_comes_back_as_it_was(world: World) {
        let texts = ["'; DROP TABLE task; --", "\"quoted\" \\ back", "<b>&amp;</b>", "line\nbreak\ttab", " spaced ", "%s {} $1 ?1",
            "\u{202e}reversed", "👩‍👩‍👧‍👦", "\u{7f}\u{1b}[31m", "null"];
        for text in texts {
            let added = world.good("ann", "add_task", json!({"title": text, "description": text})).await;
            assert_eq!(added["title"], text);
            let row = world.good("ann", "list_tasks", json!({})).await["tasks"][0].clone();
            assert_eq!((&row["title"], &row["description"]), (&json!(text), &json!(text)));
        }
    }

    async fn a_zero_byte_is_the_callers_fault_and_not_the_stores(world: World) {
        let id = world.add("ann", "first").await;
        for (tool, arguments) in [
            ("add_task", json!({"title": "a\u{0}b"})),
            ("add_task", json!({"title": "x", "description": "a\u{0}b"})),
            ("update_task", json!({"task_id": id, "title": "a\u{0}b"})),
        ] {
            assert_eq!(world.bad("ann", tool, arguments).await["code"], "validation", "{tool}");
        }
    }
}
