//! Several at once: one wins, nothing is lost, nothing is overwritten.

use std::fs;

use serde_json::{Value, json};

use crate::world::{World, user_named};

async fn run(world: &World, tool: &str, arguments: Value) -> Value {
    match world.call(&user_named("ann"), tool, arguments, false).await {
        toolgate_spine::Outcome::Answered(bytes) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn contents(world: &World) -> Vec<String> {
    let mut found: Vec<String> = world
        .disk()
        .into_iter()
        .filter(|(path, _)| path.starts_with(&world.root) && path.is_file())
        .map(|(_, (content, _))| String::from_utf8(content).unwrap())
        .collect();
    found.sort();
    found
}

on_both! {
    async fn two_documents_that_want_one_place(world: World) {
        // two processes, so that nothing but the disk stands between them
        let other = world.again(|_| {}).await;
        world.folder("target");
        for round in 0..20 {
            let name = format!("{round}.txt");
            world.write(&format!("left/{name}"), format!("left {round}"));
            world.write(&format!("right/{name}"), format!("right {round}"));
            let target = world.id("target").await;
            let (left, right) = (world.id(&format!("left/{name}")).await, world.id(&format!("right/{name}")).await);
            let (one, two) = tokio::join!(
                run(&world, "vault.move", json!({"id": left, "toFolderId": target})),
                run(&other, "vault.move", json!({"id": right, "toFolderId": target})),
            );
            let won = [&one, &two].iter().filter(|result| result["isError"] == false).count();
            assert_eq!(won, 1, "{one} {two}");
            let lost = if one["isError"] == true { one } else { two };
            assert_eq!(lost["structuredContent"]["code"], "CONFLICT", "{lost}");
        }
        assert_eq!(contents(&world).len(), 40, "nothing was overwritten");
        other.store.close().await;
    }

    async fn one_document_that_is_moved_to_two_places(world: World) {
        let other = world.again(|_| {}).await;
        world.folder("left");
        world.folder("right");
        let (left, right) = (world.id("left").await, world.id("right").await);
        for round in 0..20 {
            let name = format!("{round}.txt");
            world.write(&name, format!("{round}"));
            let id = world.id(&name).await;
            let (one, two) = tokio::join!(
                run(&world, "vault.move", json!({"id": id, "toFolderId": left})),
                run(&other, "vault.move", json!({"id": id, "toFolderId": right})),
            );
            // one after the other is fine too: then it went both ways
            assert!(one["isError"] == false || two["isError"] == false, "{one} {two}");
            let places = ["left", "right"].map(|place| world.root.join(place).join(&name).exists());
            assert_eq!(places.iter().filter(|there| **there).count(), 1, "it is in one place");
            assert_eq!(world.good("vault.get", json!({"id": id})).await["item"]["name"], name.as_str());
        }
        assert_eq!(contents(&world).len(), 20);
        other.store.close().await;
    }

    async fn many_renames_to_one_name_and_many_copies(world: World) {
        for n in 0..8 {
            world.write(&format!("{n}.txt"), n.to_string());
        }
        let mut calls = Vec::new();
        for n in 0..8 {
            let (world, id) = (world.clone(), world.id(&format!("{n}.txt")).await);
            calls.push(tokio::spawn(async move { run(&world, "vault.rename", json!({"id": id, "newName": "one.txt"})).await }));
        }
        let mut won = 0;
        for call in calls {
            won += usize::from(call.await.unwrap()["isError"] == false);
        }
        assert_eq!((won, contents(&world).len()), (1, 8));
        let id = world.id("one.txt").await;
        let calls: Vec<_> = (0..8).map(|_| {
            let (world, id) = (world.clone(), id.clone());
            tokio::spawn(async move { run(&world, "vault.copy", json!({"id": id, "newName": "copy.txt"})).await })
        }).collect();
        let mut won = 0;
        for call in calls {
            won += usize::from(call.await.unwrap()["isError"] == false);
        }
        assert_eq!((won, contents(&world).len()), (1, 9));
    }

    async fn undo_of_one_copy_by_many_removes_one_file(world: World) {
        world.write("a.txt", "a");
        let id = world.id("a.txt").await;
        world.good("vault.copy", json!({"id": id, "newName": "b.txt"})).await;
        let undo = world.undo();
        world.take_back("vault.copy", &undo).await.unwrap();
        for _ in 0..3 {
            world.take_back("vault.copy", &undo).await.unwrap_err();
        }
        assert_eq!(fs::read_dir(&world.root).unwrap().count(), 1);
    }

    async fn lists_stay_whole_while_others_work_in_the_folder(world: World) {
        for n in 0..50 {
            world.write(&format!("steady-{n:02}.txt"), "x");
        }
        let root = world.root.clone();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let busy = std::thread::spawn(move || {
            let mut n = 0;
            while stopped.try_recv().is_err() {
                let folder = root.join(format!("busy-{}", n % 5));
                let _ = fs::create_dir(&folder);
                let _ = fs::write(folder.join("x.txt"), "x");
                let _ = fs::rename(&folder, root.join(format!("moved-{}", n % 5)));
                let _ = fs::remove_dir_all(root.join(format!("moved-{}", n % 5)));
                n += 1;
            }
        });
        for _ in 0..30 {
            let steady = world.good("vault.list", json!({"limit": 200})).await;
            let count = steady["items"].as_array().unwrap().iter().filter(|item| item["name"].as_str().unwrap().starts_with("steady")).count();
            assert_eq!(count, 50);
        }
        stop.send(()).unwrap();
        busy.join().unwrap();
    }
}
