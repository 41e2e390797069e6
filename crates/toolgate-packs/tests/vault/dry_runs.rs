//! A dry run says what would change, and changes nothing: the world is the same before and after.

use serde_json::{Value, json};

use crate::world::{World, question};

async fn shown(world: &World, tool: &str, arguments: Value) -> (Value, Value) {
    // the folder is known before, so that what is remembered of it can be compared too
    world.names(json!({})).await;
    let known = async || world.store.vault("vault").unwrap().items().await.unwrap();
    let before = (world.disk(), known().await);
    let result = world.preview(tool, arguments.clone()).await;
    assert_eq!((world.disk(), known().await), before, "{tool} {arguments}");
    assert_eq!(result["isError"], false, "{result}");
    (result["structuredContent"].clone(), result["_meta"]["toolgate/preview"].clone())
}

on_both! {
    async fn a_dry_run_says_in_words_what_would_be_and_what_is_in_the_way(world: World) {
        world.write("a.txt", "a");
        world.write("sub/b.txt", "b");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        let said = async |name: &str| {
            let shown = world.preview("vault.rename", json!({"id": a, "newName": name})).await;
            assert_eq!(shown["content"][0]["text"], shown["structuredContent"].to_string(), "the first text is as ever");
            shown["content"][1]["text"].as_str().unwrap().to_owned()
        };
        assert!(said("c.txt").await.contains("'a.txt' would go to 'c.txt'"));
        assert!(said("a.txt").await.contains("nothing would change"));
        world.write("c.txt", "c");
        assert!(said("c.txt").await.contains("'c.txt' is there already"));
        let moved = world.preview("vault.move", json!({"id": a, "toFolderId": sub})).await;
        assert!(moved["content"][1]["text"].as_str().unwrap().contains("'a.txt' would go to 'sub/a.txt'"), "{moved}");
    }

    async fn a_move_is_shown_with_where_from_and_where_to(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        let (content, details) = shown(&world, "vault.move", json!({"id": a, "toFolderId": sub})).await;
        assert_eq!(content, json!({"moved": false, "dryRun": true}));
        assert_eq!(details, json!({
            "id": a,
            "from": {"folderId": "root", "name": "a.txt", "path": "a.txt"},
            "to": {"folderId": sub, "name": "a.txt", "path": "sub/a.txt"},
            "conflicts": [], "changes": true,
        }));
        let (content, details) = shown(&world, "vault.move", json!({"id": a, "toFolderId": "root"})).await;
        assert_eq!((content, &details["changes"]), (json!({"moved": false, "dryRun": true}), &json!(false)));
        world.write("sub/a.txt", "in the way");
        let (content, details) = shown(&world, "vault.move", json!({"id": a, "toFolderId": sub})).await;
        assert_eq!(content, json!({"moved": false, "dryRun": true}));
        assert_eq!((details["conflicts"].as_array().unwrap().len(), &details["changes"]), (1, &json!(false)));
    }

    async fn a_rename_and_a_copy_are_shown(world: World) {
        world.write("a.txt", "a");
        let a = world.id("a.txt").await;
        let (content, details) = shown(&world, "vault.rename", json!({"id": a, "newName": "b.txt"})).await;
        assert_eq!(content, json!({"renamed": false, "dryRun": true, "previousName": "a.txt"}));
        assert_eq!((&details["to"]["path"], &details["changes"]), (&json!("b.txt"), &json!(true)));
        let (content, details) = shown(&world, "vault.copy", json!({"id": a, "newName": "b.txt"})).await;
        assert_eq!((content, &details["changes"]), (json!({"copied": false, "dryRun": true}), &json!(true)));
        let (content, details) = shown(&world, "vault.copy", json!({"id": a})).await;
        assert_eq!((content, &details["changes"]), (json!({"copied": false, "dryRun": true}), &json!(false)));
    }

    async fn what_would_be_refused_is_refused(world: World) {
        world.write("a.txt", "a");
        let a = world.id("a.txt").await;
        for (tool, arguments, code) in [
            ("vault.move", json!({"id": "nobody", "toFolderId": "root"}), "NOT_FOUND"),
            ("vault.move", json!({"id": a, "toFolderId": "nobody"}), "NOT_FOUND"),
            ("vault.rename", json!({"id": a, "newName": "../b"}), "INVALID_INPUT"),
            ("vault.copy", json!({"id": "nobody"}), "NOT_FOUND"),
        ] {
            let result = world.preview(tool, arguments.clone()).await;
            assert_eq!((&result["isError"], &result["structuredContent"]["code"]), (&json!(true), &json!(code)), "{arguments}");
        }
    }

    async fn an_argument_that_says_dry_run_is_believed_even_behind_the_gate(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        let before = world.disk();
        assert_eq!(world.good("vault.move", json!({"id": a, "toFolderId": sub, "dryRun": true})).await, json!({"moved": false, "dryRun": true}));
        world.good("vault.rename", json!({"id": a, "newName": "b", "dryRun": true})).await;
        world.good("vault.copy", json!({"id": a, "newName": "b", "dryRun": true})).await;
        assert_eq!(world.disk(), before);
    }

    async fn a_dry_run_of_a_read_or_a_note_does_neither(world: World) {
        world.write("a.txt", "the secret word");
        for (tool, arguments) in [
            ("vault.get", json!({"id": world.id("a.txt").await, "includeContent": true})),
            ("db.query", json!({"sql": question("one")})),
            ("events.log", json!({"name": "e"})),
        ] {
            let result = world.preview(tool, arguments).await;
            assert_eq!(result["_meta"]["toolgate/dryRun"], "static", "{result}");
        }
        assert_eq!(world.store.events("user:ann").newest(5).await.unwrap(), []);
    }
}
