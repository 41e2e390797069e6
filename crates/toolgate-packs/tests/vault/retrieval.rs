//! `rag.retrieve`: the best passages first, with scores and sources, in step with the folder.

use std::fs;

use serde_json::{Value, json};

use crate::{files, world::World};

async fn found(world: &World, query: &str) -> Vec<String> {
    let answer = world.good("rag.retrieve", json!({"query": query, "topK": 50})).await;
    let chunks = answer["chunks"].as_array().unwrap();
    chunks.iter().map(|chunk| chunk["meta"]["path"].as_str().unwrap().to_owned()).collect()
}

fn library(world: &World) {
    world.write(
        "contract.txt",
        "The notice period is three months. Notice must be given in writing; the notice period begins at once.",
    );
    world.write(
        "weather.txt",
        "A period of rain is followed by a period of sun, and nobody knows for how long it will last this year.",
    );
    world.write("notes/board.docx", files::docx(&["Minutes of the board", "The notice of the meeting was sent."]));
    world.write("report.pdf", files::pdf(&["Quarterly figures and revenue"]));
    world.write("水道.txt", "二月分の水道料金の請求書です");
}

on_both! {
    async fn passages_come_best_first_with_score_and_source(world: World) {
        library(&world);
        let answer = world.good("rag.retrieve", json!({"query": "notice period"})).await;
        let chunks = answer["chunks"].as_array().unwrap();
        assert_eq!(chunks[0]["meta"]["path"], "contract.txt");
        assert_eq!(chunks.len(), 3);
        let scores: Vec<f64> = chunks.iter().map(|chunk| chunk["score"].as_f64().unwrap()).collect();
        assert!(scores[0] == 1.0 && scores.is_sorted_by(|one, next| one >= next) && scores[2] > 0.0, "{scores:?}");
        let best = &chunks[0];
        let id = world.id("contract.txt").await;
        assert_eq!((&best["id"], &best["source"], &best["meta"]["itemId"]), (&json!(format!("{id}#0")), &json!("vault"), &json!(id)));
        assert!(best["text"].as_str().unwrap().contains("three months"));
        assert_eq!(found(&world, "What is the notice period of the contract?").await[0], "contract.txt");
        assert_eq!(found(&world, "revenue").await, ["report.pdf"]);
        assert_eq!(found(&world, "minutes board").await, ["notes/board.docx"]);
        assert_eq!(found(&world, "請求書").await, ["水道.txt"]);
        assert_eq!(found(&world, "水").await, ["水道.txt"]);
        assert_eq!(found(&world, "xylophone-zebra").await, [""; 0], "an empty list is no context");
        assert_eq!(found(&world, "' OR 1=1 -- \" * ( NEAR").await, [""; 0]);
    }

    async fn limits_and_scopes(world: World) {
        for n in 0..60 {
            world.write(&format!("{n}.txt"), "common words");
        }
        let count = async |arguments: Value| world.good("rag.retrieve", arguments).await["chunks"].as_array().unwrap().len();
        assert_eq!(count(json!({"query": "common"})).await, 5);
        assert_eq!(count(json!({"query": "common", "topK": 50})).await, 50);
        assert_eq!(count(json!({"query": "common", "topK": 1, "scope": "all"})).await, 1);
        for arguments in [
            json!({}), json!({"query": ""}), json!({"query": "  "}), json!({"query": "x", "topK": 0}), json!({"query": "x", "topK": 51}),
            json!({"query": "x", "scope": "web"}),
        ] {
            assert_eq!(world.bad("rag.retrieve", arguments.clone()).await, "INVALID_INPUT", "{arguments}");
        }
    }

    async fn the_index_follows_the_folder(world: World) {
        library(&world);
        assert_eq!(found(&world, "revenue").await, ["report.pdf"]);
        world.write("weather.txt", "Now about revenue.");
        let mut both = found(&world, "revenue").await;
        both.sort();
        assert_eq!(both, ["report.pdf", "weather.txt"], "changed");
        // as long as before, at once: only the content tells
        world.write("weather.txt", "Now about REVENGE.");
        assert_eq!(found(&world, "revenue").await, ["report.pdf"]);
        assert_eq!(found(&world, "revenge").await, ["weather.txt"]);
        fs::rename(world.root.join("report.pdf"), world.root.join("figures.pdf")).unwrap();
        assert_eq!(found(&world, "revenue").await, ["figures.pdf"], "renamed");
        fs::remove_file(world.root.join("figures.pdf")).unwrap();
        assert_eq!(found(&world, "revenue").await, [""; 0], "deleted");
        let id = world.id("contract.txt").await;
        world.good("vault.copy", json!({"id": id, "newName": "copy.txt"})).await;
        assert_eq!(found(&world, "three months").await.len(), 2, "copied");
        world.good("vault.move", json!({"id": id, "toFolderId": world.id("notes").await})).await;
        assert!(found(&world, "three months").await.contains(&"notes/contract.txt".to_owned()), "moved");
    }

    async fn what_was_not_indexed_in_time_is_said_and_done_later(world: World) {
        library(&world);
        let hurried = world.again(|config| config.indexing_time = std::time::Duration::ZERO).await;
        let answer = hurried.result("rag.retrieve", json!({"query": "revenue"}), false).await;
        assert_eq!((&answer["structuredContent"]["chunks"], &answer["_meta"]["toolgate/index"]["pending"]), (&json!([]), &json!(5)));
        hurried.store.close().await;
        assert_eq!(found(&world, "revenue").await, ["report.pdf"]);
    }

    async fn a_long_document_is_found_by_its_passages(world: World) {
        let filler = "Some words that fill a page without saying much about anything in particular.\n".repeat(200);
        world.write("long.txt", format!("{filler}\nThe walrus sings at dawn.\n{filler}"));
        let answer = world.good("rag.retrieve", json!({"query": "walrus"})).await;
        let chunks = answer["chunks"].as_array().unwrap();
        assert_eq!(chunks.len(), 1);
        let text = chunks[0]["text"].as_str().unwrap();
        assert!(text.contains("walrus sings") && text.chars().count() <= 1001, "{}", text.chars().count());
        assert!(chunks[0]["meta"]["index"].as_i64().unwrap() > 5);
    }
}
