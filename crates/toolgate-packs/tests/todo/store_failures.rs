//! A store that does not answer: the tool's own words, and none of the store's.

use serde_json::json;

use crate::world::World;

on_both! {
    async fn each_tool_says_what_it_could_not_do_and_nothing_of_why(world: World) {
        let id = world.add("ann", "task").await;
        world.store.close().await;
        let failures = [
            ("add_task", json!({"title": "x"}), "Failed to create task"),
            ("list_tasks", json!({}), "Failed to list tasks"),
            ("complete_task", json!({"task_id": id}), "Failed to complete task"),
            ("delete_task", json!({"task_id": id}), "Failed to delete task"),
            ("update_task", json!({"task_id": id, "title": "x"}), "Failed to update task"),
        ];
        for (tool, arguments, error) in failures {
            assert_eq!(world.bad("ann", tool, arguments).await, json!({"error": error, "code": "internal"}));
        }
    }

    async fn what_is_wrong_with_the_input_is_said_all_the_same(world: World) {
        world.store.close().await;
        assert_eq!(world.error("ann", "add_task", json!({"title": " "})).await, "Title is required");
        assert_eq!(world.error("ann", "delete_task", json!({"task_id": 0})).await, "Invalid task ID");
    }
}
