//! Move, rename and copy: what they do, and every way they refuse.

use std::fs;

use serde_json::json;

use crate::world::World;

on_both! {
    async fn a_document_moves_and_nothing_else_does(world: World) {
        world.write("a.txt", "content");
        world.write("sub/other.txt", "other");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        assert_eq!(world.good("vault.move", json!({"id": a, "toFolderId": sub})).await, json!({"moved": true, "dryRun": false}));
        assert_eq!(fs::read_to_string(world.root.join("sub/a.txt")).unwrap(), "content");
        assert!(!world.root.join("a.txt").exists());
        assert_eq!(world.names(json!({"folderId": sub})).await, ["a.txt", "other.txt"]);
        assert_eq!(world.good("vault.move", json!({"id": a, "toFolderId": sub})).await, json!({"moved": false, "dryRun": false}),
            "it is there already");
        assert!(world.last_is_final());
        world.good("vault.move", json!({"id": a, "toFolderId": "root", "dryRun": false})).await;
        assert_eq!(world.names(json!({})).await, ["a.txt", "sub"]);
        // a folder takes what is in it along
        world.folder("target");
        world.good("vault.move", json!({"id": sub, "toFolderId": world.id("target").await})).await;
        assert_eq!(fs::read_to_string(world.root.join("target/sub/other.txt")).unwrap(), "other");
    }

    async fn a_move_that_can_not_be_is_refused_and_changes_nothing(world: World) {
        world.write("a.txt", "a");
        world.write("x/a.txt", "another a");
        world.folder("x/y/z");
        let (a, x, z) = (world.id("a.txt").await, world.id("x").await, world.id("x/y/z").await);
        let before = world.disk();
        for (arguments, code) in [
            (json!({"id": "nobody", "toFolderId": x}), "NOT_FOUND"),
            (json!({"id": a, "toFolderId": "nobody"}), "NOT_FOUND"),
            (json!({"id": a, "toFolderId": a}), "INVALID_INPUT"),
            (json!({"id": x, "toFolderId": x}), "INVALID_INPUT"),
            (json!({"id": x, "toFolderId": z}), "INVALID_INPUT"),
            (json!({"id": "root", "toFolderId": x}), "INVALID_INPUT"),
            (json!({"id": a, "toFolderId": x}), "CONFLICT"),
            (json!({"id": a}), "INVALID_INPUT"),
            (json!({"toFolderId": x}), "INVALID_INPUT"),
            (json!({"id": a, "toFolderId": x, "dryRun": "yes"}), "INVALID_INPUT"),
        ] {
            assert_eq!(world.bad("vault.move", arguments.clone()).await, code, "{arguments}");
        }
        assert_eq!(world.disk(), before);
    }

    async fn a_rename_keeps_the_place_and_says_the_old_name(world: World) {
        world.write("sub/a.txt", "content");
        let (id, sub) = (world.id("sub/a.txt").await, world.id("sub").await);
        let renamed = world.good("vault.rename", json!({"id": id, "newName": "b.md"})).await;
        assert_eq!(renamed, json!({"renamed": true, "dryRun": false, "previousName": "a.txt"}));
        assert_eq!(fs::read_to_string(world.root.join("sub/b.md")).unwrap(), "content");
        let same = world.good("vault.rename", json!({"id": id, "newName": "b.md"})).await;
        assert_eq!(same, json!({"renamed": false, "dryRun": false, "previousName": "b.md"}));
        world.good("vault.rename", json!({"id": sub, "newName": "Ordner ü"})).await;
        assert_eq!(world.id("Ordner ü/b.md").await, id);
    }

    async fn a_name_that_is_none_or_taken_is_refused(world: World) {
        world.write("a.txt", "a");
        world.write("b.txt", "b");
        world.write("\u{e9}.txt", "composed");
        let a = world.id("a.txt").await;
        let before = world.disk();
        let long = "x".repeat(256);
        for name in ["", " ", ".", "..", "../b", "sub/c", "/etc/x", "a\\b", "a\u{0}b", "a\nb", ".hidden", " a", "a ", long.as_str(), "a\u{202e}txt.exe"] {
            assert_eq!(world.bad("vault.rename", json!({"id": a, "newName": name})).await, "INVALID_INPUT", "{name:?}");
            assert_eq!(world.bad("vault.copy", json!({"id": a, "newName": name})).await, "INVALID_INPUT", "{name:?}");
        }
        for name in ["b.txt", "\u{e9}.txt", "e\u{301}.txt"] {
            assert_eq!(world.bad("vault.rename", json!({"id": a, "newName": name})).await, "CONFLICT", "{name:?}");
            assert_eq!(world.bad("vault.copy", json!({"id": a, "newName": name})).await, "CONFLICT", "{name:?}");
        }
        let wide = "水".repeat(100);
        assert_eq!(world.bad("vault.rename", json!({"id": a, "newName": wide})).await, "INVALID_INPUT", "255 bytes are all a disk holds");
        assert_eq!(world.bad("vault.rename", json!({"id": "nobody", "newName": "c"})).await, "NOT_FOUND");
        assert_eq!(world.bad("vault.rename", json!({"id": "root", "newName": "c"})).await, "INVALID_INPUT");
        assert_eq!(world.disk(), before);
    }

    async fn a_copy_is_another_document_with_the_same_content(world: World) {
        world.write("a.txt", "content");
        world.folder("sub");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        let copied = world.good("vault.copy", json!({"id": a, "toFolderId": sub})).await;
        let copy = copied["newId"].as_str().unwrap();
        assert_eq!(copied, json!({"copied": true, "dryRun": false, "newId": copy}));
        assert_ne!(copy, a);
        assert_eq!((world.id("sub/a.txt").await.as_str(), world.id("a.txt").await), (copy, a.clone()));
        assert_eq!(fs::read_to_string(world.root.join("sub/a.txt")).unwrap(), "content");
        world.good("vault.copy", json!({"id": a, "newName": "b.txt"})).await;
        assert_eq!(world.names(json!({})).await, ["a.txt", "b.txt", "sub"]);
        let before = world.disk();
        for (arguments, code) in [
            (json!({"id": a}), "CONFLICT"),
            (json!({"id": a, "toFolderId": sub}), "CONFLICT"),
            (json!({"id": a, "toFolderId": "nobody"}), "NOT_FOUND"),
            (json!({"id": a, "toFolderId": copy}), "INVALID_INPUT"),
            (json!({"id": "nobody"}), "NOT_FOUND"),
            (json!({"id": sub, "newName": "sub2"}), "INVALID_INPUT"),
            (json!({"id": "root", "newName": "all"}), "INVALID_INPUT"),
        ] {
            assert_eq!(world.bad("vault.copy", arguments.clone()).await, code, "{arguments}");
        }
        assert_eq!(world.disk(), before, "and no half copy is left behind");
    }
}
