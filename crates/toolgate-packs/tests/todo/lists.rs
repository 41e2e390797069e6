//! What a list shows: one's own tasks, newest first, all of them or by status.

use serde_json::{Value, json};

use crate::world::World;

on_both! {
    async fn a_list_that_does_not_fit_comes_in_pages(world: World) {
        let description = "\u{1}\"".repeat(500);
        for n in 0..30 {
            world.good("ann", "add_task", json!({"title": n.to_string(), "description": description})).await;
        }
        // each is in the result twice, with every character escaped, and once more within its text
        let world = World::with(world.store.clone(), 100_000);
        let (mut titles, mut before, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let arguments = if before.is_null() { json!({}) } else { json!({ "before": before }) };
            let whole: Value = serde_json::from_slice(&world.bytes("ann", "list_tasks", arguments.clone()).await).unwrap();
            assert_eq!(whole["isError"], false, "{arguments}");
            let page = world.good("ann", "list_tasks", arguments).await;
            titles.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().to_owned()));
            pages += 1;
            before = page["next_before"].clone();
            if before.is_null() {
                assert_eq!(whole["content"].as_array().unwrap().len(), 1, "nothing is said where nothing is missing");
                break;
            }
            let note = whole["content"][1]["text"].as_str().unwrap();
            assert!(note.contains(&format!("\"before\": {before}")), "{note}");
            let text: Value = serde_json::from_str(whole["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, page["tasks"], "the first text is the bare array");
        }
        assert!(pages > 3, "{pages}");
        assert_eq!(titles, (0..30).rev().map(|n| n.to_string()).collect::<Vec<_>>(), "each once, newest first");
        let two = world.good("ann", "list_tasks", json!({"limit": 2})).await;
        assert_eq!(two["tasks"].as_array().unwrap().len(), 2);
        let same = world.good("ann", "list_tasks", json!({"limit": 2.0})).await;
        assert_eq!(same, two, "an integer, however it is written");
        for arguments in [json!({"before": 0}), json!({"before": "x"}), json!({"limit": 0}), json!({"limit": -1})] {
            world.error("ann", "list_tasks", arguments).await;
        }
    }

    async fn newest_come_first_and_status_filters(world: World) {
        let first = world.add("ann", "first").await;
        let second = world.add("ann", "second").await;
        let third = world.add("ann", "third").await;
        world.good("ann", "complete_task", json!({"task_id": second})).await;
        let titles = async |arguments: Value| world.titles("ann", arguments).await;
        assert_eq!(titles(json!({})).await, ["third", "second", "first"]);
        assert_eq!(titles(json!({"status": "all"})).await, ["third", "second", "first"]);
        assert_eq!(titles(json!({"status": "pending"})).await, ["third", "first"]);
        assert_eq!(titles(json!({"status": "completed"})).await, ["second"]);
        // an older one that changes stays where it is
        world.good("ann", "update_task", json!({"task_id": first, "title": "first again"})).await;
        assert_eq!(titles(json!({})).await, ["third", "second", "first again"]);
        world.good("ann", "delete_task", json!({"task_id": third})).await;
        assert_eq!(titles(json!({})).await, ["second", "first again"]);
    }

    async fn the_text_is_a_bare_array_and_the_structure_an_object(world: World) {
        let empty: Value = serde_json::from_slice(&world.bytes("ann", "list_tasks", json!({})).await).unwrap();
        assert_eq!((&empty["content"][0]["text"], &empty["structuredContent"]), (&json!("[]"), &json!({"tasks": []})));
        let id = world.add("ann", "only").await;
        let listed: Value = serde_json::from_slice(&world.bytes("ann", "list_tasks", json!({})).await).unwrap();
        let task = json!({"id": id, "title": "only", "description": null, "completed": false});
        let text: Value = serde_json::from_str(listed["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, json!([task]));
        assert_eq!(listed["structuredContent"], json!({"tasks": [task]}));
    }

    async fn a_status_that_is_none_is_refused(world: World) {
        for status in [json!("done"), json!(""), json!("ALL"), json!(1), json!(null)] {
            let error = world.error("ann", "list_tasks", json!({"status": status})).await;
            assert_eq!(error, "Status must be one of: all, pending, completed", "{status}");
        }
    }

    async fn completing_twice_is_the_same_as_once(world: World) {
        let id = world.add("ann", "task").await;
        let once = world.bytes("ann", "complete_task", json!({"task_id": id})).await;
        let twice = world.bytes("ann", "complete_task", json!({"task_id": id})).await;
        assert_eq!(once, twice);
        assert_eq!(world.titles("ann", json!({"status": "completed"})).await, ["task"]);
    }

    async fn many_at_once_are_all_kept(world: World) {
        let adding = (0..40).map(|number| {
            let world = world.clone();
            tokio::spawn(async move { world.add("ann", &format!("task {number}")).await })
        });
        let mut ids = Vec::new();
        for added in adding.collect::<Vec<_>>() {
            ids.push(added.await.unwrap());
        }
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), world.titles("ann", json!({})).await.len()), (40, 40));
    }
}
