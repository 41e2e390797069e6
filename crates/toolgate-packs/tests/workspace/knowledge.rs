use serde_json::{Value, json};
use toolgate_core::{Caller, caller::Tenant};
use toolgate_store::{NewProcess, NewRun, ProcessDefinition, TaskSetting};

use crate::world::{World, calling};

fn of_tenant(caller: Caller, tenant: &str) -> Caller {
    let tenant: Tenant = serde_json::from_value(json!({"id": tenant})).unwrap();
    Caller { tenant: Some(tenant), ..caller }
}

fn sources(found: &Value) -> Vec<String> {
    let results = found["results"].as_array().unwrap();
    results
        .iter()
        .map(|hit| format!("{} {}", hit["source"].as_str().unwrap(), hit["title"].as_str().unwrap()))
        .collect()
}

on_both! {
    async fn knowledge_is_versioned_and_spans_processes(world: World) {
        let (one, other) = (world.task(Some("p"), None, TaskSetting::default()).await, world.task(Some("q"), None, TaskSetting::default()).await);
        let write = |content: &str| json!({"key": "build", "content": content, "reason": "because"});
        let first = world.good(&one, "write_knowledge", write("make")).await;
        assert_eq!((&first["status"], &first["key"], &first["version"]), (&json!("ok"), &json!("build"), &json!(1)));
        assert_eq!(world.good(&other, "write_knowledge", write(&"n".repeat(300))).await["version"], 2);
        let latest = world.good(&one, "get_knowledge", json!({"key": "build"})).await;
        assert_eq!((&latest["version"], &latest["reason"]), (&json!(2), &json!("because")));
        assert_eq!(world.good(&one, "get_knowledge", json!({"key": "build", "version": 1})).await["content"], "make");
        let history = world.good(&one, "view_knowledge_history", json!({"key": "build"})).await;
        assert_eq!((&history["versions"][0]["version"], &history["versions"][1]["content_preview"]), (&json!(1), &json!("n".repeat(200))));
        assert_eq!(world.good(&one, "view_knowledge_history", json!({"key": "other"})).await, json!({"key": "other", "versions": []}));
        assert_eq!(world.bad(&one, "get_knowledge", json!({"key": "other"})).await, ("Knowledge entry 'other' not found.".into(), "not_found".into()));
        assert_eq!(world.error(&one, "get_knowledge", json!({"key": "build", "version": 3})).await, "Knowledge entry 'build v3' not found.");
        assert_eq!(world.error(&one, "write_knowledge", json!({"key": "k", "content": "c"})).await, "Argument 'reason' is required.");
        assert_eq!(world.bad(&one, "write_knowledge", json!({"key": "", "content": "c", "reason": "r"})).await.1, "validation");
    }

    async fn a_search_ranks_knowledge_results_and_artifacts_of_all_processes(world: World) {
        let (one, other) = (world.task(Some("p"), Some("analyse"), TaskSetting::default()).await, world.task(Some("q"), None, TaskSetting::default()).await);
        world.good(&one, "write_result", json!({"result": "The parser is slow, the parser copies, the parser."})).await;
        world.good(&one, "write_artifact", json!({"title": "Notes", "content": "A word on the parser among many other words that say nothing of it.", "format": "text"})).await;
        world.good(&one, "write_knowledge", json!({"key": "unrelated", "content": "weather", "reason": "r"})).await;
        world.good(&one, "write_knowledge", json!({"key": "parser", "content": "It is in src/scan.rs.", "reason": "r"})).await;
        let found = world.good(&other, "search_knowledge", json!({"query": "What is the parser?"})).await;
        assert_eq!((&found["query"], &found["page"], &found["has_more"]), (&json!("What is the parser?"), &json!(1), &json!(false)));
        let mut sources = sources(&found);
        assert_eq!(sources.len(), 3, "{found}");
        assert_eq!(sources.last().map(String::as_str), Some("artifact Notes"), "it says least of it");
        sources.sort();
        assert_eq!(sources, ["artifact Notes", "knowledge parser", "result analyse"]);
        let distances: Vec<f64> = found["results"].as_array().unwrap().iter().map(|hit| hit["distance"].as_f64().unwrap()).collect();
        assert!(distances.is_sorted() && distances.iter().all(|distance| (0.0..=1.0).contains(distance)), "{distances:?}");
        assert_eq!(world.good(&other, "search_knowledge", json!({"query": "nowhere"})).await["results"], json!([]));
        assert_eq!(world.good(&other, "search_knowledge", json!({"query": "\" OR *"})).await["has_more"], false);
        assert_eq!(world.bad(&other, "search_knowledge", json!({"query": "x", "page": 0})).await.1, "validation");
        assert_eq!(world.error(&other, "search_knowledge", json!({})).await, "Argument 'query' is required.");
    }

    async fn pages_hold_ten_and_say_truly_whether_there_are_more(world: World) {
        let task = world.task(Some("p"), None, TaskSetting::default()).await;
        for number in 0..20 {
            world.good(&task, "write_knowledge", json!({"key": format!("k{number:02}"), "content": "common", "reason": "r"})).await;
        }
        let page = async |number: u32| world.good(&task, "search_knowledge", json!({"query": "common", "page": number})).await;
        let (first, second, third) = (page(1).await, page(2).await, page(3).await);
        assert_eq!((first["has_more"].as_bool(), second["has_more"].as_bool(), third["has_more"].as_bool()), (Some(true), Some(false), Some(false)));
        let mut all = [sources(&first), sources(&second)].concat();
        assert_eq!((all.len(), sources(&third).len()), (20, 0));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 20, "no page repeats another");
    }

    async fn a_tenant_knows_and_finds_its_own_alone(world: World) {
        let definition: ProcessDefinition = serde_json::from_value(json!({"name": "n", "steps": [{"task": "a", "skip_orchestrator": true}]})).unwrap();
        let new = |tenant: Option<&str>| NewProcess {
            definition: definition.clone(), owner: None, tenant: tenant.map(str::to_owned), branch: None, worktree: None, main_repo: None, created_at: 1,
        };
        let mut callers = Vec::new();
        for (number, tenant) in [Some("acme"), Some("rival"), None].into_iter().enumerate() {
            let process = world.store.processes().start(new(tenant)).await.unwrap().id;
            let task_id = format!("run_{number}");
            let key_hash = [u8::try_from(number).unwrap(); 32];
            world.store.processes().begin(&process, NewRun { task_id: task_id.clone(), key_hash, ..NewRun::default() }).await.unwrap();
            callers.push(calling(&task_id, Some(&process), false));
        }
        for (number, caller) in callers.iter().enumerate() {
            world.good(caller, "write_knowledge", json!({"key": "k", "content": format!("common of {number}"), "reason": "r"})).await;
            world.good(caller, "write_result", json!({"result": format!("common result of {number}")})).await;
        }
        for (number, caller) in callers.iter().enumerate() {
            // the process says whose it is, not whoever comes along
            for caller in [caller.clone(), of_tenant(caller.clone(), "rival")] {
                let known = world.good(&caller, "get_knowledge", json!({"key": "k"})).await;
                assert_eq!((&known["version"], &known["content"]), (&json!(1), &json!(format!("common of {number}"))));
                let found = world.good(&caller, "search_knowledge", json!({"query": "common"})).await;
                let ids: Vec<_> = found["results"].as_array().unwrap().iter().map(|hit| hit["source_id"].as_str().unwrap().to_owned()).collect();
                assert!(ids.len() == 2 && ids.contains(&format!("run_{number}")), "{ids:?}");
            }
        }
    }
}
