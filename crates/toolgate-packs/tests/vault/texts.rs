//! The text of documents of every format, and of files that mean harm.

use serde_json::{Value, json};

use crate::{files, world::World};

async fn text(world: &World, path: &str) -> Value {
    let id = world.id(path).await;
    world.good("vault.get", json!({"id": id, "includeContent": true})).await["content"]["text"].clone()
}

async fn absent(world: &World, path: &str) -> String {
    let id = world.id(path).await;
    let got = world.result("vault.get", json!({"id": id, "includeContent": true}), false).await;
    assert_eq!(got["isError"], false, "{got}");
    assert!(got["structuredContent"].get("content").is_none(), "{path}: {got}");
    got["_meta"]["toolgate/content"]["absent"].as_str().unwrap().to_owned()
}

on_both! {
    async fn every_format_has_its_text(world: World) {
        world.write("a.txt", "plain");
        world.write("a.md", "# markdown");
        world.write("a.csv", "a,b\r\n1,2");
        world.write("a.json", r#"{"a": "json"}"#);
        world.write("a.html", "<title>T</title><p>html &amp; more<script>no()</script>");
        world.write("a.docx", files::docx(&["First &amp; last", "水曜日"]));
        world.write("a.pdf", files::pdf(&["Hello from page one", "And from page two"]));
        world.write("wide.txt", b"\xff\xfew\0i\0d\0e\0");
        world.write("UPPER.TXT", "upper");
        for (path, expected) in [
            ("a.txt", "plain"), ("a.md", "# markdown"), ("a.csv", "a,b\n1,2"), ("a.json", r#"{"a": "json"}"#),
            ("a.html", "T\nhtml & more"), ("a.docx", "First & last\n水曜日"), ("wide.txt", "wide"), ("UPPER.TXT", "upper"),
        ] {
            assert_eq!(text(&world, path).await, expected, "{path}");
        }
        let pdf = text(&world, "a.pdf").await;
        let pdf = pdf.as_str().unwrap();
        assert!(pdf.contains("Hello from page one") && pdf.contains("And from page two"), "{pdf}");
    }

    async fn hostile_files_are_refused_and_the_rest_goes_on(world: World) {
        world.write("bomb.docx", files::docx_bomb());
        world.write("broken.docx", "PK\u{3}\u{4} broken");
        world.write("empty.docx", "");
        world.write("truncated.docx", &files::docx(&["text"])[..60]);
        world.write("broken.pdf", "%PDF-1.7 and then nothing of the kind");
        world.write("empty.pdf", "");
        let whole = files::pdf(&["text"]);
        world.write("truncated.pdf", &whole[..whole.len() / 3]);
        world.write("nested.pdf", format!("%PDF-1.7\n1 0 obj\n{}\nendobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF", "[".repeat(300_000)));
        world.write("circle.pdf", "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 1>>endobj\n\
            trailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF");
        world.write("nested.html", "<div>".repeat(100_000));
        world.write("nested.json", "[".repeat(100_000));
        world.write("good.txt", "needle");
        assert!(absent(&world, "bomb.docx").await.contains("unpacks to more"));
        for path in ["broken.docx", "empty.docx", "truncated.docx", "broken.pdf", "empty.pdf"] {
            assert!(absent(&world, path).await.contains("damaged"), "{path}");
        }
        for path in ["truncated.pdf", "nested.pdf", "circle.pdf", "nested.html", "nested.json"] {
            let id = world.id(path).await;
            world.good("vault.get", json!({"id": id, "includeContent": true})).await;
        }
        let found = world.good("rag.retrieve", json!({"query": "needle"})).await;
        assert_eq!(found["chunks"][0]["meta"]["path"], "good.txt", "one bad file hides no other");
    }

    async fn what_is_too_large_is_cut_or_left_out(world: World) {
        let world = world.again(|config| { config.max_text_bytes = 100; config.max_file_bytes = 1000; }).await;
        world.write("long.txt", "水".repeat(200));
        world.write("larger.txt", "x".repeat(1001));
        let id = world.id("long.txt").await;
        let cut = world.result("vault.get", json!({"id": id, "includeContent": true}), false).await;
        assert_eq!(cut["structuredContent"]["content"]["text"], "水".repeat(33));
        assert_eq!(cut["_meta"]["toolgate/content"], json!({"truncated": true}));
        assert!(absent(&world, "larger.txt").await.contains("larger than 1000"));
        world.store.close().await;
    }
}
