//! Lists, searches and single documents.

use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_spine::Outcome;

use crate::world::{World, names, question, user_named};

on_both! {
    async fn a_folder_lists_what_is_in_it_by_name(world: World) {
        world.write("b.txt", "bb");
        world.write("a.pdf", "not really");
        world.write("Z.csv", "1,2");
        world.write("sub/deep/x.md", "# x");
        world.write("letter.eml", "");
        world.write("slides.pptx", "");
        world.write("odd.xyz", "");
        assert_eq!(world.names(json!({})).await, ["Z.csv", "a.pdf", "b.txt", "letter.eml", "odd.xyz", "slides.pptx", "sub"]);
        let listed = world.good("vault.list", json!({"folderId": "root"})).await;
        let kinds: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["kind"]).collect();
        assert_eq!(kinds, ["sheet", "pdf", "doc", "email", "unknown", "deck", "folder"]);
        let text = listed["items"][2].clone();
        assert_eq!((&text["source"], &text["path"], &text["sizeBytes"], &text["mimeType"]),
            (&json!("vault"), &json!("b.txt"), &json!(2), &json!("text/plain")));
        let at = text["modifiedAt"].as_str().unwrap();
        assert!(at.len() == 20 && at.starts_with("20") && at.ends_with('Z'), "{at}");
        let sub = listed["items"][6].clone();
        assert!(sub.get("sizeBytes").is_none() && sub.get("mimeType").is_none(), "{sub}");
        assert_eq!(world.names(json!({"folderId": sub["id"]})).await, ["deep"]);
        let deep = world.id("sub/deep").await;
        let inner = world.good("vault.list", json!({"folderId": deep})).await;
        assert_eq!(inner["items"][0]["path"], "sub/deep/x.md");
        assert!(inner.get("nextCursor").is_none());
    }

    async fn a_folder_that_is_none_is_not_found(world: World) {
        world.write("a.txt", "a");
        let document = world.id("a.txt").await;
        for id in ["nobody", "folder_0000", document.as_str(), "..", "/", "a.txt"] {
            assert_eq!(world.bad("vault.list", json!({"folderId": id})).await, "NOT_FOUND", "{id}");
        }
        for arguments in [json!({"limit": 0}), json!({"limit": 201}), json!({"limit": "x"}), json!({"folderId": 5}), json!({"folderId": ""})] {
            assert_eq!(world.bad("vault.list", arguments.clone()).await, "INVALID_INPUT", "{arguments}");
        }
    }

    async fn pages_go_on_where_they_ended_whatever_came_or_went(world: World) {
        for n in 0..7 {
            world.write(&format!("{n}.txt"), "x");
        }
        let first = world.good("vault.list", json!({"limit": 3})).await;
        assert_eq!(names(&first), ["0.txt", "1.txt", "2.txt"]);
        std::fs::remove_file(world.root.join("2.txt")).unwrap();
        std::fs::remove_file(world.root.join("0.txt")).unwrap();
        world.write("11.txt", "before the cursor");
        world.write("31.txt", "after it");
        let second = world.good("vault.list", json!({"limit": 3, "cursor": first["nextCursor"]})).await;
        assert_eq!(names(&second), ["3.txt", "31.txt", "4.txt"]);
        let third = world.good("vault.list", json!({"limit": 3, "cursor": second["nextCursor"]})).await;
        assert_eq!((names(&third), third.get("nextCursor")), (vec!["5.txt".to_owned(), "6.txt".to_owned()], None));
    }

    async fn a_cursor_is_good_for_its_own_question_alone(world: World) {
        for n in 0..3 {
            world.write(&format!("sub/{n}.txt"), "x");
            world.write(&format!("{n}.txt"), "x");
        }
        let cursor = world.good("vault.list", json!({"limit": 1})).await["nextCursor"].clone();
        let sub = world.id("sub").await;
        assert_eq!(world.bad("vault.list", json!({"folderId": sub, "cursor": cursor})).await, "INVALID_INPUT");
        assert_eq!(world.bad("vault.search", json!({"query": "txt", "cursor": cursor})).await, "INVALID_INPUT");
        for cursor in ["", "x", "%%%", "W10", "WyJhIiwiYiIsImMiXQ", "e30"] {
            assert_eq!(world.bad("vault.list", json!({"cursor": cursor})).await, "INVALID_INPUT", "{cursor}");
        }
    }

    async fn a_search_finds_names_paths_and_texts(world: World) {
        world.write("Invoices/2026/Acme.txt", "thirty days");
        world.write("Invoices/Beta.md", "# Beta\nnotice period of three months");
        world.write("other.csv", "name,city\nacme,Oslo");
        world.write("水道料金.txt", "二月分の請求書です");
        let found = async |arguments: Value| names(&world.good("vault.search", arguments).await);
        assert_eq!(found(json!({"query": "ACME"})).await, ["Acme.txt", "other.csv"]);
        assert_eq!(found(json!({"query": "invoices beta"})).await, ["Beta.md"]);
        assert_eq!(found(json!({"query": "invoices"})).await, ["2026", "Acme.txt", "Beta.md", "Invoices"]);
        assert_eq!(found(json!({"query": "invoices", "kinds": ["folder"]})).await, ["2026", "Invoices"]);
        assert_eq!(found(json!({"query": "notice months"})).await, ["Beta.md"]);
        assert_eq!(found(json!({"query": "notice oslo"})).await, [""; 0]);
        assert_eq!(found(json!({"query": "請求書"})).await, ["水道料金.txt"]);
        assert_eq!(found(json!({"query": "acme", "kinds": ["sheet"]})).await, ["other.csv"]);
        assert_eq!(found(json!({"query": "acme", "sources": ["vault", "drive"]})).await.len(), 2);
        assert_eq!(found(json!({"query": "acme", "sources": ["drive"]})).await, [""; 0]);
        assert_eq!(found(json!({"query": "\"'%_*"})).await, [""; 0]);
        let first = world.good("vault.search", json!({"query": "invoices", "limit": 3})).await;
        let rest = world.good("vault.search", json!({"query": "Invoices ", "limit": 3, "cursor": first["nextCursor"]})).await;
        assert_eq!((names(&first).len(), names(&rest)), (3, vec!["Invoices".to_owned()]));
        for query in [json!(""), json!("  "), json!(7), json!(null)] {
            assert_eq!(world.bad("vault.search", json!({"query": query})).await, "INVALID_INPUT", "{query}");
        }
        assert_eq!(world.bad("vault.search", json!({})).await, "INVALID_INPUT");
        assert_eq!(world.bad("vault.search", json!({"query": "x", "kinds": ["film"]})).await, "INVALID_INPUT");
    }

    async fn a_document_comes_with_its_text_if_asked(world: World) {
        world.write("a.md", "# Title\n\nText.");
        world.write("image.png", [0x89, b'P', b'N', b'G']);
        world.folder("sub");
        let id = world.id("a.md").await;
        let plain = world.good("vault.get", json!({"id": id})).await;
        assert_eq!((&plain["item"]["name"], plain.get("content")), (&json!("a.md"), None));
        let whole = world.good("vault.get", json!({"id": id, "includeContent": true})).await;
        assert_eq!(whole["content"], json!({"type": "text", "text": "# Title\n\nText."}));
        let image = world.result("vault.get", json!({"id": world.id("image.png").await, "includeContent": true}), false).await;
        assert!(image["structuredContent"].get("content").is_none(), "{image}");
        assert!(image["_meta"]["toolgate/content"]["absent"].is_string(), "{image}");
        let folder = world.id("sub").await;
        assert_eq!(world.good("vault.get", json!({"id": folder})).await["item"]["kind"], "folder");
        assert_eq!(world.bad("vault.get", json!({"id": folder, "includeContent": true})).await, "INVALID_INPUT");
        assert_eq!(world.good("vault.get", json!({"id": "root"})).await["item"]["kind"], "folder");
        for id in ["nobody", "../outside/secret.txt", "a.md", "/etc/passwd", "a\u{0}b"] {
            assert_eq!(world.bad("vault.get", json!({"id": id})).await, "NOT_FOUND", "{id}");
        }
        assert_eq!(world.bad("vault.get", json!({})).await, "INVALID_INPUT");
    }

    async fn a_stranger_is_told_to_sign_in_and_another_user_sees_the_same(world: World) {
        world.write("a.txt", "a");
        let id = world.id("a.txt").await;
        let calls = [
            ("vault.list", json!({})), ("vault.search", json!({"query": "a"})), ("vault.get", json!({"id": id})),
            ("vault.suggest_name", json!({"originalName": "a.txt"})), ("vault.move", json!({"id": id, "toFolderId": "root"})),
            ("vault.rename", json!({"id": id, "newName": "b.txt"})), ("vault.copy", json!({"id": id, "newName": "b.txt"})),
            ("rag.retrieve", json!({"query": "a"})), ("db.query", json!({"sql": question("one")})),
            ("events.log", json!({"name": "e"})), ("policy.evaluate", json!({"tool": "vault.list"})),
        ];
        for (tool, arguments) in calls {
            for dry_run in [false, true] {
                match world.call(&Caller::anonymous(), tool, arguments.clone(), dry_run).await {
                    Outcome::Denied { denial, needs_identity: true, .. } => assert_eq!(denial.code, "authentication_required"),
                    other => panic!("{tool}: {other:?}"),
                }
            }
        }
        let bytes = async |user: &str| match world.call(&user_named(user), "vault.list", json!({}), false).await {
            Outcome::Answered(bytes) => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes("ann").await, bytes("bob").await, "the vault is one for all who may use it");
        assert_eq!(world.names(json!({})).await, ["a.txt"]);
    }

    async fn ten_thousand_files_are_listed_page_by_page(world: World) {
        for n in 0..10_000 {
            world.write(&format!("many/{n:05}.dat"), "");
        }
        // looked at once, as a server does it within a second
        let world = world.again(|config| config.rescan = std::time::Duration::from_secs(3600)).await;
        let folder = world.id("many").await;
        let mut seen = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let mut arguments = json!({"folderId": folder, "limit": 200});
            if !cursor.is_null() {
                arguments["cursor"] = cursor;
            }
            let page = world.good("vault.list", arguments).await;
            seen.extend(names(&page));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen.len(), 10_000);
        assert!(seen.is_sorted_by(|one, next| one < next), "in order, each once");
        assert_eq!(names(&world.good("vault.search", json!({"query": "09999"})).await), ["09999.dat"]);
        world.store.close().await;
    }
}
