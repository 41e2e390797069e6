use serde_json::json;
use toolgate_packs::workspace::WorkspaceConfig;
use toolgate_store::TaskSetting;

use crate::world::{World, calling};

on_both! {
    async fn a_result_is_written_loaded_and_summarised(world: World) {
        let task = world.task(Some("p"), Some("analyse"), TaskSetting::default()).await;
        let text = "The parser copies. That is slow.\n\n- scan allocates, see src/scan.rs:42\n";
        let written = world.good(&task, "write_result", json!({"result": text, "key_files": ["src/scan.rs"], "tags": ["perf"]})).await;
        assert_eq!((written["status"].as_str(), written["task_id"].as_str()), (Some("ok"), Some("task_0")));
        assert!(written["summary_preview"].as_str().unwrap().starts_with("The parser copies. That is slow."));
        let other = world.task(Some("p"), None, TaskSetting::default()).await;
        for wanted in [json!({"task_name": "analyse"}), json!({"task_id": "task_0"}), json!({"task_id": "task_0", "task_name": "nobody"})] {
            let loaded = world.good(&other, "load_result", wanted.clone()).await;
            assert_eq!((&loaded["result_text"], &loaded["key_files"], &loaded["tags"]), (&json!(text), &json!(["src/scan.rs"]), &json!(["perf"])));
            assert!(loaded["created_at"].as_str().unwrap().ends_with('Z'));
            let summary = world.good(&other, "read_result_summary", wanted).await;
            assert!(summary["summary_text"].as_str().unwrap().ends_with("References: src/scan.rs:42"), "{summary}");
            assert_eq!(summary["key_files"], json!(["src/scan.rs"]));
        }
    }

    async fn writing_again_replaces_the_result_and_its_summary(world: World) {
        let task = world.task(Some("p"), Some("analyse"), TaskSetting::default()).await;
        world.good(&task, "write_result", json!({"result": "First. Text."})).await;
        let written = world.good(&task, "write_result", json!({"result": "```\ncode alone\n```"})).await;
        assert_eq!(written["summary_preview"], "Compression skipped");
        assert_eq!(world.good(&task, "load_result", json!({"task_name": "analyse"})).await["result_text"], "```\ncode alone\n```");
        let none = world.bad(&task, "read_result_summary", json!({"task_name": "analyse"})).await;
        assert_eq!(none, ("No summary available for task 'analyse'. The task may not have called write_result, or \
            compression failed. Use load_result to access the raw output.".to_owned(), "not_found".to_owned()));
    }

    async fn what_is_missing_or_elsewhere_is_said_in_the_same_words(world: World) {
        let here = world.task(Some("p"), Some("analyse"), TaskSetting::default()).await;
        let there = world.task(Some("q"), Some("secret"), TaskSetting::default()).await;
        world.good(&there, "write_result", json!({"result": "Another process's."})).await;
        for tool in ["load_result", "read_result_summary"] {
            assert_eq!(world.bad(&here, tool, json!({})).await,
                ("At least one of task_name or task_id must be provided.".into(), "validation".into()));
            for (argument, name) in [("task_name", "secret"), ("task_name", "nobody"), ("task_id", "task_1"), ("task_id", "task_9")] {
                let error = world.bad(&here, tool, json!({argument: name})).await;
                assert_eq!(error, (format!("No result found for task '{name}' in the current process."), "not_found".into()));
            }
        }
        assert_eq!(world.error(&here, "write_result", json!({})).await, "Argument 'result' is required.");
        assert!(world.error(&here, "write_result", json!({"result": 5})).await.starts_with("Argument 'result' is not valid: "));
        assert!(world.error(&here, "write_result", json!({"result": "a\u{0}b"})).await.contains("NUL"));
        let unknown = world.bad(&calling("task_77", Some("p"), false), "write_result", json!({"result": "x"})).await;
        assert_eq!(unknown, ("Task 'task_77' not found in task_log. The task may not have been registered before \
            execution.".to_owned(), "not_found".to_owned()));
    }

    async fn a_task_of_no_process_has_its_own_results_alone(world: World) {
        let (one, other) = (world.task(None, Some("a"), TaskSetting::default()).await, world.task(None, Some("a"), TaskSetting::default()).await);
        world.good(&one, "write_result", json!({"result": "mine"})).await;
        assert_eq!(world.good(&one, "load_result", json!({"task_name": "a"})).await["result_text"], "mine");
        world.bad(&other, "load_result", json!({"task_name": "a"})).await;
    }

    async fn an_operators_program_makes_summaries_and_its_failure_is_nobodys_error(world: World) {
        let task = world.task(Some("p"), Some("a"), TaskSetting::default()).await;
        let with = |command: &[&str]| {
            let summarizer = command.iter().map(|word| (*word).to_owned()).collect();
            world.with(&WorkspaceConfig { summarizer, ..WorkspaceConfig::default() })
        };
        let written = with(&["tr", "a-z", "A-Z"]).good(&task, "write_result", json!({"result": "loud"})).await;
        assert_eq!(written["summary_preview"], "LOUD");
        assert_eq!(world.good(&task, "read_result_summary", json!({"task_name": "a"})).await["summary_text"], "LOUD");
        for broken in [&["false"][..], &["/no/such/program"], &["true"]] {
            let written = with(broken).good(&task, "write_result", json!({"result": "text"})).await;
            assert_eq!(written["summary_preview"], "Compression skipped", "{broken:?}");
        }
    }
}
