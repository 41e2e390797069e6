//! `vault.suggest_name`: from hints and content, the same each time, and nothing is written.

use serde_json::{Value, json};

use crate::{files, world::World};

on_both! {
    async fn names_that_can_not_be_given_are_not_suggested(world: World) {
        world.write("a.txt", "");
        let id = world.id("a.txt").await;
        for original in ["../..", "/", ".", "..", "...", " ", "\\", "../x", ".hidden", "a/b.txt", "a.b/c", "\u{202e}txt"] {
            let arguments = json!({"originalName": original});
            let result = world.result("vault.suggest_name", arguments, false).await;
            if result["isError"] == true {
                continue;
            }
            let suggested = &result["structuredContent"]["suggestedName"];
            let renamed = world.preview("vault.rename", json!({"id": id, "newName": suggested})).await;
            assert_eq!(renamed["isError"], false, "{original:?} {suggested}: {renamed}");
        }
        let dots = world.good("vault.suggest_name", json!({"originalName": "../.."})).await;
        assert_eq!(dots["suggestedName"], "untitled");
    }

    async fn a_name_comes_from_hints_content_and_the_old_name(world: World) {
        world.write("scan_0001.pdf", files::pdf(&["Invoice of Acme Ltd, 14 March 2026"]));
        world.write("notes.md", "# Board meeting\n\nMinutes of 2026-02-03.\n");
        let suggest = async |arguments: Value| world.good("vault.suggest_name", arguments).await["suggestedName"].clone();
        assert_eq!(suggest(json!({"originalName": "scan_0001.pdf"})).await, "2026-03-14 Invoice of Acme Ltd.pdf");
        assert_eq!(suggest(json!({"originalName": "notes.md"})).await, "2026-02-03 Board meeting Minutes.md");
        assert_eq!(suggest(json!({"originalName": "x.DOCX", "context": {"kind": "doc", "source": "vault", "hints": ["Acme offer", "2026-01-31"]}})).await,
            "2026-01-31 Acme offer.DOCX");
        let id = world.id("notes.md").await;
        assert_eq!(suggest(json!({"originalName": "upload.md", "context": {"hints": [id]}})).await, "2026-02-03 Board meeting Minutes.md");
        assert_eq!(suggest(json!({"originalName": "Untitled.txt"})).await, "Untitled.txt");
    }

    async fn it_is_the_same_each_time_and_changes_nothing(world: World) {
        world.write("a.txt", "Letter to the editor\n2026-05-06");
        world.names(json!({})).await;
        let before = world.disk();
        let first = world.good("vault.suggest_name", json!({"originalName": "a.txt"})).await;
        for _ in 0..3 {
            assert_eq!(world.good("vault.suggest_name", json!({"originalName": "a.txt"})).await, first);
        }
        assert!(first["rationale"].as_str().unwrap().contains("2026-05-06"), "{first}");
        assert_eq!(world.disk(), before);
    }

    async fn what_is_suggested_can_be_given(world: World) {
        world.write("a.txt", "a");
        for hint in ["../../etc/passwd", "a/b\\c", "CON: <x>?*|", "..", "line\nbreak", "\u{202e}evil", "very ".repeat(300).as_str()] {
            let suggested = world.good("vault.suggest_name", json!({"originalName": "a.txt", "context": {"hints": [hint]}})).await;
            let name = suggested["suggestedName"].as_str().unwrap();
            assert!(name.ends_with(".txt"), "{name:?}");
            let id = world.id(&world.names(json!({})).await[0]).await;
            world.good("vault.rename", json!({"id": id, "newName": name})).await;
        }
        for arguments in [json!({}), json!({"originalName": ""}), json!({"originalName": " "}), json!({"originalName": "a", "context": {"hints": "x"}})] {
            assert_eq!(world.bad("vault.suggest_name", arguments.clone()).await, "INVALID_INPUT", "{arguments}");
        }
    }
}
