//! There is no way out of the folder: not by a name, a link, an odd file, or one that appears in between.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::world::World;

on_both! {
    async fn links_are_neither_listed_nor_followed(world: World) {
        world.write("a.txt", "a");
        symlink(&world.outside, world.root.join("way-out")).unwrap();
        symlink(world.outside.join("secret.txt"), world.root.join("secret.txt")).unwrap();
        symlink("../outside/secret.txt", world.root.join("relative.txt")).unwrap();
        symlink("a.txt", world.root.join("inside.txt")).unwrap();
        symlink(".", world.root.join("circle")).unwrap();
        symlink("nowhere", world.root.join("broken")).unwrap();
        assert_eq!(world.names(json!({})).await, ["a.txt"]);
        for query in ["secret", "outside", "way"] {
            assert_eq!(world.good("vault.search", json!({"query": query})).await["items"], json!([]), "{query}");
        }
        assert_eq!(world.good("rag.retrieve", json!({"query": "outside"})).await["chunks"], json!([]));
    }

    async fn a_document_that_becomes_a_link_is_not_read_through_it(world: World) {
        // what was seen a moment ago is relied on, so that the link appears between check and use
        let world = world.again(|config| config.rescan = std::time::Duration::from_secs(3600)).await;
        world.write("a.txt", "inside");
        world.write("sub/b.txt", "inside");
        world.folder("target");
        let (a, b, target) = (world.id("a.txt").await, world.id("sub/b.txt").await, world.id("target").await);
        fs::remove_file(world.root.join("a.txt")).unwrap();
        symlink(world.outside.join("secret.txt"), world.root.join("a.txt")).unwrap();
        fs::rename(world.root.join("sub"), world.root.join(".sub")).unwrap();
        symlink(&world.outside, world.root.join("sub")).unwrap();
        fs::write(world.outside.join("b.txt"), "outside too").unwrap();
        for id in [&a, &b] {
            let got = world.result("vault.get", json!({"id": id, "includeContent": true}), false).await;
            assert!(!got.to_string().contains("outside"), "{got}");
            assert!(got["structuredContent"].get("content").is_none(), "{got}");
        }
        let before = fs::read_dir(&world.outside).unwrap().count();
        for (tool, arguments) in [
            ("vault.move", json!({"id": a, "toFolderId": target})),
            ("vault.copy", json!({"id": a, "newName": "c.txt"})),
            ("vault.move", json!({"id": b, "toFolderId": target})),
        ] {
            assert_eq!(world.bad(tool, arguments).await, "NOT_FOUND");
        }
        assert_eq!(fs::read_dir(&world.outside).unwrap().count(), before);
        assert!(fs::symlink_metadata(world.root.join("a.txt")).unwrap().is_symlink());
        world.store.close().await;
    }

    async fn a_folder_that_becomes_a_link_takes_nothing_out(world: World) {
        world.write("a.txt", "a");
        world.folder("target");
        let (a, target) = (world.id("a.txt").await, world.id("target").await);
        fs::remove_dir(world.root.join("target")).unwrap();
        symlink(&world.outside, world.root.join("target")).unwrap();
        for (tool, arguments) in [
            ("vault.move", json!({"id": a, "toFolderId": target})),
            ("vault.copy", json!({"id": a, "toFolderId": target})),
        ] {
            assert_eq!(world.bad(tool, arguments).await, "NOT_FOUND");
        }
        assert_eq!(fs::read_dir(&world.outside).unwrap().count(), 1);
    }

    async fn what_is_not_shown_is_not_overwritten(world: World) {
        world.write("a.txt", "a");
        world.folder("sub");
        symlink(world.outside.join("secret.txt"), world.root.join("sub/a.txt")).unwrap();
        symlink("nowhere", world.root.join("taken.txt")).unwrap();
        let (a, sub) = (world.id("a.txt").await, world.id("sub").await);
        let before = world.disk();
        for (tool, arguments) in [
            ("vault.move", json!({"id": a, "toFolderId": sub})),
            ("vault.copy", json!({"id": a, "toFolderId": sub})),
            ("vault.rename", json!({"id": a, "newName": "taken.txt"})),
        ] {
            assert_eq!(world.bad(tool, arguments).await, "CONFLICT", "{tool}");
        }
        // a copy that did not come to be leaves a trace in its folder's time alone
        let contents = |disk: std::collections::BTreeMap<_, (Vec<u8>, _)>| disk.into_iter().map(|(path, (content, _))| (path, content)).collect::<Vec<_>>();
        assert_eq!(contents(world.disk()), contents(before));
    }

    async fn odd_files_are_left_alone(world: World) {
        world.write("a.txt", "a");
        world.write(".hidden", "h");
        world.write(".git/config", "c");
        world.write(".toolgate-unfinished", "u");
        let fifo = std::process::Command::new("mkfifo").arg(world.root.join("pipe.txt")).status().unwrap();
        assert!(fifo.success());
        let _socket = std::os::unix::net::UnixListener::bind(world.root.join("socket.txt")).unwrap();
        fs::write(world.root.join(std::ffi::OsStr::new("new\nline.txt")), "n").unwrap();
        let invalid: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"not-\xff-unicode.txt");
        fs::write(world.root.join(invalid), "i").unwrap();
        assert_eq!(world.names(json!({})).await, ["a.txt", "new\nline.txt"]);
        assert_eq!(world.good("vault.search", json!({"query": "txt"})).await["items"].as_array().unwrap().len(), 2);
        // whatever its name, it can be given a better one
        let id = world.id("new\nline.txt").await;
        world.good("vault.rename", json!({"id": id, "newName": "new line.txt"})).await;
        assert_eq!(world.id("new line.txt").await, id);
    }

    async fn a_document_that_becomes_a_pipe_is_not_waited_for(world: World) {
        let world = world.again(|config| config.rescan = std::time::Duration::from_secs(3600)).await;
        world.write("a.txt", "a");
        let a = world.id("a.txt").await;
        fs::remove_file(world.root.join("a.txt")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(world.root.join("a.txt")).status().unwrap().success());
        let got = world.good("vault.get", json!({"id": a, "includeContent": true})).await;
        assert!(got.get("content").is_none(), "{got}");
        world.store.close().await;
    }

    async fn folders_deeper_than_anyone_needs_do_no_harm(world: World) {
        let deep = vec!["d"; 100].join("/");
        world.write(&format!("{deep}/x.txt"), "x");
        world.write("a.txt", "a");
        assert_eq!(world.names(json!({})).await, ["a.txt", "d"]);
        let long = "n".repeat(255);
        world.write(&long, "x");
        assert_eq!(world.id(&long).await, world.id(&long).await);
    }

    async fn a_vault_with_more_than_it_may_have_says_so(world: World) {
        let world = world.again(|config| config.max_items = 3).await;
        for n in 0..4 {
            world.write(&format!("{n}.txt"), "x");
        }
        assert_eq!(world.bad("vault.list", json!({})).await, "INTERNAL");
        fs::remove_file(world.root.join("0.txt")).unwrap();
        assert_eq!(world.names(json!({})).await.len(), 3, "and recovers by itself");
        world.store.close().await;
    }
}

#[tokio::test]
async fn a_vault_without_a_folder_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let location = toolgate_store::Location::Sqlite(folder.path().join("t.db"));
    let store = toolgate_store::Store::open(&location).await.unwrap();
    let config = toolgate_packs::vault::VaultConfig::new(folder.path().join("none"));
    let refused = toolgate_packs::vault::VaultPack::new(store.clone(), &config).err().unwrap().to_string();
    assert!(refused.contains("none") && refused.contains("[packs.vault]"), "{refused}");
    store.close().await;
}
