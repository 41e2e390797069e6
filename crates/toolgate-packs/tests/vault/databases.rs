//! `db.query` through the pack: which database, how much, and what a refusal looks like.

use serde_json::{Value, json};
use toolgate_packs::vault::DatabaseConfig;

use crate::world::{World, question};

/// The world's own database stands in for an operator's: it has a table of tasks.
async fn asking(world: &World, names: &[&str]) -> World {
    let todo = world.store.todo("ann").unwrap();
    if todo.list().await.unwrap().is_empty() {
        for title in ["milk", "bread", "salt"] {
            todo.add(title, None).await.unwrap();
        }
    }
    let location = world.location.clone();
    let database = |name: &&str| ((*name).to_owned(), DatabaseConfig { location: location.clone() });
    let databases = names.iter().map(database).collect();
    world
        .again(|config| {
            config.databases = databases;
            config.max_rows = 2;
        })
        .await
}

on_both! {
    async fn rows_come_by_name_and_within_limits(world: World) {
        let world = asking(&world, &["shop"]).await;
        let sql = question("of_a_task");
        let answer = world.good("db.query", json!({"sql": sql, "params": ["ann", "milk"]})).await;
        assert_eq!(answer["rows"][0]["title"], "milk");
        let all = json!({"sql": question("titles"), "database": "shop"});
        let answer = world.result("db.query", all.clone(), false).await;
        assert_eq!(answer["structuredContent"]["rows"], json!([{"title": "bread"}, {"title": "milk"}]));
        assert_eq!(answer["_meta"]["toolgate/rows"], json!({"truncated": true}));
        assert_eq!(answer["structuredContent"]["truncated"], true, "also where a model sees it");
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("There are more rows than these 2"), "{text}");
        let whole = world.good("db.query", json!({"sql": question("count")})).await;
        assert_eq!(whole, json!({"rows": [{"n": 3}]}), "nothing is said where nothing is missing");
        let one = world.good("db.query", json!({"sql": all["sql"], "limit": 1})).await;
        assert_eq!(one["rows"].as_array().unwrap().len(), 1);
        world.store.close().await;
    }

    async fn what_is_not_one_read_is_not_allowed(world: World) {
        let world = asking(&world, &["shop"]).await;
        for sql in ["delete", "drop", "two", "update"].map(question) {
            assert_eq!(world.bad("db.query", json!({"sql": sql})).await, "NOT_ALLOWED", "{sql}");
        }
        assert_eq!(world.bad("db.query", json!({"sql": question("nowhere")})).await, "INVALID_INPUT");
        assert_eq!(world.bad("db.query", json!({"sql": question("parameter"), "params": []})).await, "INVALID_INPUT");
        let bad: [Value; 5] = [
            json!({}), json!({"sql": ""}), json!({"sql": question("one"), "params": [[1]]}), json!({"sql": question("one"), "limit": 0}), json!({"sql": 1}),
        ];
        for arguments in bad {
            assert_eq!(world.bad("db.query", arguments.clone()).await, "INVALID_INPUT", "{arguments}");
        }
        let count = world.good("db.query", json!({"sql": question("count")})).await;
        assert_eq!(count["rows"], json!([{"n": 3}]));
        world.store.close().await;
    }

    async fn a_row_that_does_not_fit_is_no_empty_answer(world: World) {
        let world = asking(&world, &["shop"]).await;
        let world = world.again(|config| {
            config.databases.insert("shop".into(), DatabaseConfig { location: world.location.clone() });
            config.max_row_bytes = 5;
        }).await;
        assert_eq!(world.bad("db.query", json!({"sql": question("titles")})).await, "INVALID_INPUT");
        world.store.close().await;
    }

    async fn which_database_must_be_clear(world: World) {
        assert_eq!(world.bad("db.query", json!({"sql": question("one")})).await, "NOT_FOUND", "none is configured");
        let world = asking(&world, &["one", "two"]).await;
        assert_eq!(world.bad("db.query", json!({"sql": question("one")})).await, "INVALID_INPUT");
        assert_eq!(world.bad("db.query", json!({"sql": question("one"), "database": "three"})).await, "NOT_FOUND");
        assert_eq!(world.good("db.query", json!({"sql": question("named"), "database": "two"})).await, json!({"rows": [{"a": 1}]}));
        world.store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_gone_says_nothing_of_where_it_was() {
    World::on_sqlite(|world| async move {
        let gone: toolgate_store::Location = "postgres://nobody:hunter2@127.0.0.1:1/none".parse().unwrap();
        let world = world
            .again(|config| {
                config.databases.insert("gone".into(), DatabaseConfig { location: gone });
            })
            .await;
        let result = world.result("db.query", json!({"sql": question("one")}), false).await;
        assert_eq!(result["structuredContent"]["code"], "INTERNAL");
        assert!(!result.to_string().contains("hunter2") && !result.to_string().contains("127.0.0.1"), "{result}");
        world.store.close().await;
    })
    .await;
}
