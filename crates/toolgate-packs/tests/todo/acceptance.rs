//! The acceptance criteria of the specification, each by its number.

use serde_json::{Value, json};

use crate::world::World;

const USE_CASES: &str = include_str!("../../src/todo/use_cases.rs");
const TOOLS: &str = include_str!("../../src/todo/mod.rs");
const FAILURES: &str = include_str!("../../src/todo/failure.rs");

/// AC-001: All tools delegate to use cases.
#[test]
fn ac_001_only_use_cases_reach_the_repository() {
    for operation in ["add", "list", "complete", "delete", "update"] {
        let reach = format!("repository.{operation}(");
        assert!(USE_CASES.replace("\n        ", "").contains(&reach), "the use case {operation} is there");
        for (file, text) in [("mod.rs", TOOLS), ("failure.rs", FAILURES)] {
            assert!(!text.contains(&reach), "{file} goes past the use case {operation}");
        }
    }
    for tool in ["add_task", "list_tasks", "complete_task", "delete_task", "update_task"] {
        assert!(TOOLS.contains(&format!("use_cases::{tool}(")), "{tool} delegates");
    }
}

on_both! {
    /// AC-001, as it shows: what a tool did is what the user's repository holds.
    async fn ac_001_what_a_tool_did_is_in_the_users_repository(world: World) {
        let (kept, done, gone) = (world.add("ann", "kept").await, world.add("ann", "done").await, world.add("ann", "gone").await);
        world.good("ann", "complete_task", json!({"task_id": done})).await;
        world.good("ann", "delete_task", json!({"task_id": gone})).await;
        world.good("ann", "update_task", json!({"task_id": kept, "description": "more"})).await;
        let stored = world.store.todo("ann").unwrap().list().await.unwrap();
        let stored: Vec<_> = stored.iter().map(|task| (task.id, task.title.as_str(), task.description.as_deref(), task.completed)).collect();
        assert_eq!(stored, [(done, "done", None, true), (kept, "kept", Some("more"), false)]);
    }

    /// AC-002: Tools are stateless. Repeated calls work independently, also through another pack on the same store.
    async fn ac_002_repeated_calls_work_independently(world: World) {
        let other = World::new(world.store.clone());
        let first = world.add("ann", "same").await;
        let second = other.add("ann", "same").await;
        assert_ne!(first, second);
        for (near, far) in [(&world, &other), (&other, &world)] {
            assert_eq!(near.titles("ann", json!({})).await, ["same", "same"]);
            let id = near.add("ann", "new").await;
            assert_eq!(far.good("ann", "complete_task", json!({"task_id": id})).await["title"], "new");
            assert_eq!(near.titles("ann", json!({"status": "completed"})).await, ["new"]);
            far.good("ann", "delete_task", json!({"task_id": id})).await;
            assert_eq!(near.error("ann", "complete_task", json!({"task_id": id})).await, "Task not found");
        }
        assert_eq!(world.error("ann", "add_task", json!({})).await, "Title is required");
        assert_eq!(world.titles("ann", json!({})).await, ["same", "same"], "a failure leaves nothing behind");
    }

    /// AC-003: User isolation enforced. User A cannot affect User B's tasks.
    async fn ac_003_a_user_cannot_affect_another_users_tasks(world: World) {
        let id = world.add("ann", "hers").await;
        world.add("bob", "his").await;
        assert_eq!(world.titles("bob", json!({})).await, ["his"]);
        let before = world.bytes("ann", "list_tasks", json!({})).await;
        let tries = [
            ("complete_task", json!({"task_id": id})),
            ("delete_task", json!({"task_id": id})),
            ("update_task", json!({"task_id": id, "title": "taken", "description": "taken"})),
        ];
        for (tool, arguments) in tries {
            let refused = world.bad("bob", tool, arguments).await;
            assert_eq!(refused, json!({"error": "Task not found", "code": "not_found", "task_id": id}), "{tool}");
        }
        assert_eq!(world.bytes("ann", "list_tasks", json!({})).await, before);
    }

    /// AC-004: Input validation works. Invalid inputs return appropriate errors and change nothing.
    async fn ac_004_invalid_input_is_refused_and_changes_nothing(world: World) {
        let id = world.add("ann", "task").await;
        let before = world.bytes("ann", "list_tasks", json!({})).await;
        let long = "x".repeat(201);
        let wrong = [
            ("add_task", json!({"title": ""}), "Title is required"),
            ("add_task", json!({"title": long}), "Title must be 200 characters or less"),
            ("add_task", json!({"title": "x", "description": "x".repeat(1001)}), "Description must be 1000 characters or less"),
            ("complete_task", json!({"task_id": 0}), "Invalid task ID"),
            ("delete_task", json!({"task_id": -1}), "Invalid task ID"),
            ("update_task", json!({"task_id": id}), "At least title or description required"),
            ("update_task", json!({"task_id": id, "title": long}), "Title must be 200 characters or less"),
            ("list_tasks", json!({"status": "open"}), "Status must be one of: all, pending, completed"),
        ];
        for (tool, arguments, error) in wrong {
            assert_eq!(world.bad("ann", tool, arguments).await, json!({"error": error, "code": "validation"}), "{tool}");
        }
        assert_eq!(world.bytes("ann", "list_tasks", json!({})).await, before);
    }

    /// AC-005: Error responses are consistent. `bad` checks the one shape; here every kind of failure has it.
    async fn ac_005_all_errors_follow_one_shape(world: World) {
        let mut codes = Vec::new();
        let failures = [
            ("add_task", json!({})),
            ("add_task", json!({"title": 5})),
            ("add_task", json!({"title": "x", "description": 5})),
            ("add_task", json!({"title": "x", "user_id": "bob"})),
            ("list_tasks", json!({"status": null})),
            ("complete_task", json!({"task_id": 999_999})),
            ("delete_task", json!({"task_id": "x"})),
            ("update_task", json!({"task_id": 999_999, "title": "x"})),
        ];
        for (tool, arguments) in failures {
            codes.push(world.bad("ann", tool, arguments).await["code"].clone());
        }
        world.store.close().await;
        codes.push(world.bad("ann", "list_tasks", json!({})).await["code"].clone());
        for code in ["validation", "not_found", "internal"] {
            assert!(codes.contains(&Value::from(code)), "{code} occurred: {codes:?}");
        }
    }
}
