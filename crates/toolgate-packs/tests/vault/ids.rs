//! Ids stay with their documents: through our moves, through others' moves, and through a restart.

use std::{collections::BTreeSet, fs};

use serde_json::json;

use crate::world::World;

on_both! {
    async fn an_id_survives_moves_and_renames_by_the_vault(world: World) {
        world.write("a.txt", "a");
        world.folder("x/y");
        let (id, x, y) = (world.id("a.txt").await, world.id("x").await, world.id("x/y").await);
        world.good("vault.move", json!({"id": id, "toFolderId": y})).await;
        assert_eq!(world.id("x/y/a.txt").await, id);
        world.good("vault.rename", json!({"id": x, "newName": "z"})).await;
        assert_eq!(world.id("z/y/a.txt").await, id, "also where a folder above it changes");
        assert_eq!(world.id("z").await, x);
        let again = world.again(|_| {}).await;
        assert_eq!(again.id("z/y/a.txt").await, id, "also after a restart");
        again.store.close().await;
    }

    async fn an_id_survives_what_others_do_behind_our_back(world: World) {
        world.write("a.txt", "content of a");
        world.write("folder/b.txt", "content of b");
        let (a, folder, b) = (world.id("a.txt").await, world.id("folder").await, world.id("folder/b.txt").await);
        fs::rename(world.root.join("a.txt"), world.root.join("folder/renamed.txt")).unwrap();
        assert_eq!(world.id("folder/renamed.txt").await, a, "moved");
        fs::rename(world.root.join("folder"), world.root.join("elsewhere")).unwrap();
        assert_eq!(world.id("elsewhere").await, folder, "a folder moved");
        assert_eq!(world.id("elsewhere/b.txt").await, b, "and what is in it");
        fs::write(world.root.join("elsewhere/b.txt"), "other content").unwrap();
        assert_eq!(world.id("elsewhere/b.txt").await, b, "changed");
        // as many editors save: a new file takes the place of the old
        fs::write(world.root.join("elsewhere/.b.tmp"), "new").unwrap();
        fs::rename(world.root.join("elsewhere/.b.tmp"), world.root.join("elsewhere/b.txt")).unwrap();
        assert_eq!(world.id("elsewhere/b.txt").await, b, "replaced");
    }

    async fn a_file_that_was_copied_away_and_deleted_is_known_by_its_content(world: World) {
        world.write("a.txt", "a content that only one document has");
        let a = world.id("a.txt").await;
        // the content is known once it was indexed
        world.good("vault.search", json!({"query": "content"})).await;
        world.folder("other");
        fs::copy(world.root.join("a.txt"), world.root.join("other/copied.txt")).unwrap();
        fs::remove_file(world.root.join("a.txt")).unwrap();
        assert_eq!(world.id("other/copied.txt").await, a);
        // two of the same content: nobody can tell which it was
        world.write("one.txt", "twins");
        world.write("two.txt", "twins");
        let twins: BTreeSet<String> = [world.id("one.txt").await, world.id("two.txt").await].into();
        world.good("vault.search", json!({"query": "twins"})).await;
        fs::copy(world.root.join("one.txt"), world.root.join("three.txt")).unwrap();
        fs::remove_file(world.root.join("one.txt")).unwrap();
        fs::remove_file(world.root.join("two.txt")).unwrap();
        assert!(!twins.contains(&world.id("three.txt").await));
    }

    async fn what_is_gone_is_not_found_and_its_id_never_comes_back(world: World) {
        world.write("a.txt", "a");
        world.write("folder/b.txt", "b");
        let (a, folder, b) = (world.id("a.txt").await, world.id("folder").await, world.id("folder/b.txt").await);
        fs::remove_file(world.root.join("a.txt")).unwrap();
        fs::remove_dir_all(world.root.join("folder")).unwrap();
        for id in [&a, &folder, &b] {
            assert_eq!(world.bad("vault.get", json!({"id": id})).await, "NOT_FOUND");
        }
        world.write("a.txt", "a");
        assert_ne!(world.id("a.txt").await, a, "the same name is another document");
    }

    async fn a_file_that_becomes_a_folder_is_another_thing(world: World) {
        world.write("x", "file");
        let file = world.id("x").await;
        fs::remove_file(world.root.join("x")).unwrap();
        world.folder("x");
        let folder = world.id("x").await;
        assert_ne!(file, folder);
        assert_eq!(world.good("vault.get", json!({"id": folder})).await["item"]["kind"], "folder");
    }

    async fn two_processes_on_one_folder_agree(world: World) {
        let other = world.again(|_| {}).await;
        for n in 0..50 {
            world.write(&format!("{n}.txt"), n.to_string());
        }
        let (here, there) = tokio::join!(world.good("vault.list", json!({})), other.good("vault.list", json!({})));
        assert_eq!(here, there);
        let id = world.id("7.txt").await;
        world.good("vault.rename", json!({"id": id, "newName": "seven.txt"})).await;
        assert_eq!(other.id("seven.txt").await, id);
        other.store.close().await;
    }

    async fn a_document_keeps_its_id_at_the_place_of_one_that_was_just_deleted(world: World) {
        world.write("inbox/report.txt", "a");
        world.write("archive/report.txt", "b");
        let archive = world.id("archive").await;
        let (a, b) = (world.id("inbox/report.txt").await, world.id("archive/report.txt").await);
        fs::remove_file(world.root.join("archive/report.txt")).unwrap();
        world.good("vault.move", json!({"id": a, "toFolderId": archive})).await;
        let undo = world.undo();
        assert_eq!(world.good("vault.get", json!({"id": a})).await["item"]["path"], "archive/report.txt");
        assert_eq!(world.bad("vault.rename", json!({"id": b, "newName": "b-renamed.txt"})).await, "NOT_FOUND");
        world.take_back("vault.move", &undo).await.unwrap();
        assert_eq!(world.id("inbox/report.txt").await, a);

        world.write("inbox/other.txt", "c");
        let c = world.id("inbox/other.txt").await;
        fs::remove_file(world.root.join("inbox/other.txt")).unwrap();
        world.good("vault.rename", json!({"id": a, "newName": "other.txt"})).await;
        assert_eq!(world.id("inbox/other.txt").await, a, "renamed");
        assert_eq!(world.bad("vault.get", json!({"id": c})).await, "NOT_FOUND");
    }

    async fn undo_to_a_place_that_was_taken_and_freed_keeps_the_id(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        world.good("vault.move", json!({"id": a, "toFolderId": sub})).await;
        let undo = world.undo();
        world.write("a.txt", "squatter");
        let squatter = world.id("a.txt").await;
        assert!(world.take_back("vault.move", &undo).await.unwrap_err().contains("taken its old place"));
        fs::remove_file(world.root.join("a.txt")).unwrap();
        world.take_back("vault.move", &undo).await.unwrap();
        assert_eq!(world.id("a.txt").await, a);
        assert_eq!(world.bad("vault.get", json!({"id": squatter})).await, "NOT_FOUND");
    }

    async fn a_folder_and_a_copy_take_no_dead_id_either(world: World) {
        world.write("x/sub/a.txt", "a");
        world.write("y/sub/b.txt", "b");
        let (y, dead_sub, dead) = (world.id("y").await, world.id("y/sub").await, world.id("y/sub/b.txt").await);
        let (sub, a) = (world.id("x/sub").await, world.id("x/sub/a.txt").await);
        fs::remove_dir_all(world.root.join("y/sub")).unwrap();
        world.good("vault.move", json!({"id": sub, "toFolderId": y})).await;
        assert_eq!((world.id("y/sub").await, world.id("y/sub/a.txt").await), (sub.clone(), a.clone()));

        world.write("y/sub/copy.txt", "another");
        let copied = world.id("y/sub/copy.txt").await;
        fs::remove_file(world.root.join("y/sub/copy.txt")).unwrap();
        let made = world.good("vault.copy", json!({"id": a, "newName": "copy.txt"})).await;
        assert_ne!(made["newId"], json!(copied));
        for id in [&dead_sub, &dead, &copied] {
            assert_eq!(world.bad("vault.get", json!({"id": id})).await, "NOT_FOUND");
        }
        let again = world.again(|_| {}).await;
        assert_eq!((again.id("y/sub").await, again.id("y/sub/a.txt").await), (sub, a), "also after a restart");
        again.store.close().await;
    }

    async fn an_id_follows_its_file_over_another_by_anybody(world: World) {
        world.write("a.txt", "a");
        world.write("b.txt", "b");
        let (a, b) = (world.id("a.txt").await, world.id("b.txt").await);
        fs::rename(world.root.join("a.txt"), world.root.join("b.txt")).unwrap();
        assert_eq!(world.id("b.txt").await, a);
        assert_eq!(world.bad("vault.get", json!({"id": b})).await, "NOT_FOUND");
    }
}
