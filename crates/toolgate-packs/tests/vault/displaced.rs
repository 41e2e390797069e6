//! A vault whose own folder is moved, replaced or removed: an error of every call, until the folder is back.

use std::fs;

use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_folder_that_was_replaced_or_removed_is_an_error(world: World) {
        world.write("a.txt", "a");
        let a = world.id("a.txt").await;
        let (kept, root) = (world.outside.join("kept"), world.root.clone());
        let refused = async || {
            for (tool, arguments) in [
                ("vault.list", json!({})),
                ("vault.search", json!({"query": "a"})),
                ("vault.get", json!({"id": a})),
                ("vault.rename", json!({"id": a, "newName": "c.txt"})),
            ] {
                let result = world.result(tool, arguments, false).await;
                assert_eq!((&result["isError"], &result["structuredContent"]["code"]), (&json!(true), &json!("INTERNAL")));
                assert!(result["structuredContent"]["error"].as_str().unwrap().contains("moved, replaced or removed"));
            }
        };
        world.good("vault.rename", json!({"id": a, "newName": "b.txt"})).await;
        let undo = world.undo();
        fs::rename(&root, &kept).unwrap();
        refused().await;
        let stays = world.take_back("vault.rename", &undo).await.unwrap_err();
        assert!(stays.contains("moved, replaced or removed"), "nothing was undone, and that is certain: {stays}");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("fresh.txt"), "fresh").unwrap();
        refused().await;
        assert!(kept.join("b.txt").exists(), "nothing was renamed in the folder that went");
        fs::remove_dir_all(&root).unwrap();
        fs::write(&root, "a file").unwrap();
        refused().await;
        fs::remove_file(&root).unwrap();
        fs::rename(&kept, &root).unwrap();
        assert_eq!(world.id("b.txt").await, a, "it is back, with its ids");
        fs::remove_dir_all(&root).unwrap();
        refused().await;
    }
}
