//! Taking back: restores what was, or says why not and changes nothing. Twice is harmless.

use std::fs;

use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_move_goes_back_and_forth_again(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        world.good("vault.move", json!({"id": a, "toFolderId": sub})).await;
        let undo = world.undo();
        assert_eq!(world.take_back("vault.move", &undo).await, Ok(json!({"moved": true, "dryRun": false})));
        let redo = world.undo();
        assert_eq!(world.id("a.txt").await, a);
        let before = world.disk();
        let twice = world.take_back("vault.move", &undo).await.unwrap_err();
        assert!(twice.contains("back already"), "{twice}");
        assert_eq!(world.disk(), before);
        world.take_back("vault.move", &redo).await.unwrap();
        assert_eq!(world.id("sub/a.txt").await, a, "to take back the taking back is to do it again");
    }

    async fn a_rename_goes_back_even_if_its_folder_moved_and_its_content_changed(world: World) {
        world.write("sub/a.txt", "a");
        world.folder("other");
        let (a, sub, other) = (world.id("sub/a.txt").await, world.id("sub").await, world.id("other").await);
        world.good("vault.rename", json!({"id": a, "newName": "b.txt"})).await;
        let undo = world.undo();
        world.good("vault.move", json!({"id": sub, "toFolderId": other})).await;
        fs::write(world.root.join("other/sub/b.txt"), "edited since").unwrap();
        let back = world.take_back("vault.rename", &undo).await;
        assert_eq!(back, Ok(json!({"renamed": true, "dryRun": false, "previousName": "b.txt"})));
        assert_eq!(fs::read_to_string(world.root.join("other/sub/a.txt")).unwrap(), "edited since");
    }

    async fn a_world_that_moved_on_is_a_conflict_and_stays_as_it_is(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        world.folder("other");
        let (a, sub, other) = (world.id("a.txt").await, world.id("sub").await, world.id("other").await);
        world.good("vault.move", json!({"id": a, "toFolderId": sub})).await;
        let undo = world.undo();

        let refused = async |why: &str| {
            let before = world.disk();
            let said = world.take_back("vault.move", &undo).await.unwrap_err();
            assert!(said.contains(why), "{said}");
            assert_eq!(world.disk(), before);
        };
        world.write("a.txt", "a new one");
        refused("taken its old place").await;
        fs::remove_file(world.root.join("a.txt")).unwrap();

        world.good("vault.move", json!({"id": a, "toFolderId": other})).await;
        refused("other/a.txt").await;
        fs::remove_file(world.root.join("other/a.txt")).unwrap();
        refused("no longer in the vault").await;
    }

    async fn a_folder_that_is_gone_or_turned_inside_out_is_a_conflict(world: World) {
        world.folder("from/x");
        world.folder("to");
        let (from, x, to) = (world.id("from").await, world.id("from/x").await, world.id("to").await);
        world.good("vault.move", json!({"id": x, "toFolderId": to})).await;
        let undo = world.undo();
        world.good("vault.move", json!({"id": from, "toFolderId": x})).await;
        assert!(world.take_back("vault.move", &undo).await.unwrap_err().contains("within it"));
        fs::remove_dir(world.root.join("to/x/from")).unwrap();
        assert!(world.take_back("vault.move", &undo).await.unwrap_err().contains("no longer there"));
    }

    async fn a_copy_goes_if_nobody_changed_it(world: World) {
        world.write("a.txt", "content");
        let a = world.id("a.txt").await;
        let copy = async |name: &str| {
            world.good("vault.copy", json!({"id": a, "newName": name})).await;
            world.undo()
        };
        let undo = copy("b.txt").await;
        assert_eq!(world.take_back("vault.copy", &undo).await, Ok(json!({"copied": false, "dryRun": false})));
        let redo = world.undo();
        assert_eq!(world.names(json!({})).await, ["a.txt"]);
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("gone already"));

        let copied = world.take_back("vault.copy", &redo).await.unwrap();
        let undo = world.undo();
        assert_eq!((&copied["copied"], &copied["newId"]), (&json!(true), &json!(world.id("b.txt").await)), "made again");
        assert!(world.take_back("vault.copy", &redo).await.unwrap_err().contains("there already"));
        world.take_back("vault.copy", &undo).await.unwrap();
        fs::write(world.root.join("a.txt"), "Content").unwrap();
        assert!(world.take_back("vault.copy", &redo).await.unwrap_err().contains("changed since"));
        assert_eq!(fs::read_dir(&world.root).unwrap().count(), 1, "no half copy is left");
        fs::write(world.root.join("a.txt"), "content").unwrap();

        let undo = copy("c.txt").await;
        // as long as before, so that only the content tells
        fs::write(world.root.join("c.txt"), "CONTENT").unwrap();
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("was changed"));
        assert_eq!(fs::read_to_string(world.root.join("c.txt")).unwrap(), "CONTENT");

        let undo = copy("d.txt").await;
        let d = world.id("d.txt").await;
        world.good("vault.rename", json!({"id": d, "newName": "mine.txt"})).await;
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("mine.txt"));

        let undo = copy("e.txt").await;
        // deleted, and something else under its name
        fs::remove_file(world.root.join("e.txt")).unwrap();
        for _ in 0..2 {
            world.names(json!({})).await;
        }
        fs::write(world.root.join("e.txt"), "content").unwrap();
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("gone already"));
        assert_eq!(world.names(json!({})).await, ["a.txt", "c.txt", "e.txt", "mine.txt"]);
    }

    async fn a_copy_whose_id_was_not_learned_is_known_by_its_place_and_content(world: World) {
        world.write("a.txt", "content");
        let a = world.id("a.txt").await;
        world.good("vault.copy", json!({"id": a, "newName": "b.txt"})).await;
        let mut undo: serde_json::Value = serde_json::from_str(world.undo().get()).unwrap();
        undo["id"] = serde_json::Value::Null;
        let undo = serde_json::value::to_raw_value(&undo).unwrap();
        world.take_back("vault.copy", &undo).await.unwrap();
        assert_eq!(world.names(json!({})).await, ["a.txt"]);
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("gone already"));
        world.write("b.txt", "somebody else's");
        assert!(world.take_back("vault.copy", &undo).await.unwrap_err().contains("was changed"));
        assert_eq!(world.names(json!({})).await, ["a.txt", "b.txt"]);
    }
}
