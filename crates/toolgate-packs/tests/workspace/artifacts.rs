use std::fs;

use serde_json::{Value, json};
use toolgate_packs::workspace::{WorkspaceConfig, WorkspacePack};
use toolgate_store::TaskSetting;

use crate::world::{World, calling};

on_both! {
    async fn artifacts_are_written_listed_and_loaded_within_their_process(world: World) {
        let one = world.task(Some("p"), None, TaskSetting::default()).await;
        let two = world.task(Some("p"), None, TaskSetting::default()).await;
        let outside = world.task(Some("q"), None, TaskSetting::default()).await;
        let mut ids = Vec::new();
        for (task, title) in [(&one, "first"), (&two, "second"), (&one, "third")] {
            let given = json!({"title": title, "content": "# Text", "format": "markdown", "template_name": "prd", "tags": ["t"]});
            let written = world.good(task, "write_artifact", given).await;
            assert_eq!((&written["status"], &written["title"]), (&json!("ok"), &json!(title)));
            ids.push(written["artifact_id"].as_str().unwrap().to_owned());
        }
        let titles = |listed: &Value| -> Vec<String> {
            listed["artifacts"].as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
        };
        let listed = world.good(&two, "list_artifacts", json!({})).await;
        assert_eq!(titles(&listed), ["first", "second", "third"]);
        assert!(listed["artifacts"][0].get("content").is_none());
        assert_eq!(titles(&world.good(&two, "list_artifacts", json!({"task_id": "task_1"})).await), ["second"]);
        assert_eq!(world.good(&outside, "list_artifacts", json!({})).await, json!({"artifacts": []}));
        assert_eq!(world.good(&outside, "list_artifacts", json!({"task_id": "task_0"})).await, json!({"artifacts": []}));
        let loaded = world.good(&two, "load_artifact", json!({"artifact_id": ids[0]})).await;
        assert_eq!((&loaded["content"], &loaded["format"], &loaded["template_name"], &loaded["task_id"]),
            (&json!("# Text"), &json!("markdown"), &json!("prd"), &json!("task_0")));
        for (caller, id) in [(&outside, ids[0].as_str()), (&one, "art_0")] {
            let missing = world.bad(caller, "load_artifact", json!({"artifact_id": id})).await;
            assert_eq!(missing, (format!("Artifact '{id}' not found."), "not_found".into()));
        }
    }

    async fn an_artifact_has_one_of_four_formats_and_a_task(world: World) {
        let task = world.task(Some("p"), None, TaskSetting::default()).await;
        let with = |format: &str| json!({"title": "t", "content": "c", "format": format});
        for format in ["json", "markdown", "text", "xml"] {
            world.good(&task, "write_artifact", with(format)).await;
        }
        let wrong = world.bad(&task, "write_artifact", with("pdf")).await;
        assert_eq!(wrong, ("Invalid format 'pdf'. Must be one of: json, markdown, text, xml".into(), "validation".into()));
        assert_eq!(world.error(&task, "write_artifact", json!({"title": "t", "content": "c"})).await, "Argument 'format' is required.");
        let unknown = world.error(&calling("task_77", Some("p"), false), "write_artifact", with("text")).await;
        assert_eq!(unknown, "Task 'task_77' not found in task_log. The task may not have been registered before execution.");
    }

    async fn templates_come_from_the_operators_folder_first(world: World) {
        let task = world.task(Some("p"), None, TaskSetting::default()).await;
        let names = |listed: &Value| -> Vec<String> {
            listed["templates"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
        };
        let built_in = world.good(&task, "list_artifact_templates", json!({})).await;
        assert_eq!(names(&built_in), ["documentation", "pr_description", "prd"]);
        assert!(built_in["templates"].as_array().unwrap().iter().all(|one| one["format"] == "markdown" && one["description"] != ""));
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        put("prd.md", "---\ndescription: Ours.\ntags: a, b\n---\n\n# Ours\n");
        put("data.json", "{}");
        put("ignored.bin", "x");
        put("large.txt", &"x".repeat(300 << 10));
        let ours = world.with(&WorkspaceConfig { templates: Some(folder.path().to_owned()), ..WorkspaceConfig::default() });
        assert_eq!(names(&ours.good(&task, "list_artifact_templates", json!({})).await), ["data", "documentation", "pr_description", "prd"]);
        let loaded = ours.good(&task, "load_artifact_template", json!({"template_name": "prd"})).await;
        assert_eq!(loaded, json!({"name": "prd", "description": "Ours.", "format": "markdown", "tags": ["a", "b"], "content": "# Ours\n"}));
        for name in ["nothing", "../prd", "prd.md", "large"] {
            let missing = ours.bad(&task, "load_artifact_template", json!({"template_name": name})).await;
            assert_eq!(missing, (format!("Template '{name}' not found."), "not_found".into()));
        }
        put("late.txt", "new");
        ours.good(&task, "load_artifact_template", json!({"template_name": "late"})).await;
        let absent = WorkspaceConfig { templates: Some(folder.path().join("none")), ..WorkspaceConfig::default() };
        let refused = WorkspacePack::new(world.store.clone(), &absent).err().unwrap().to_string();
        assert!(refused.contains("is not there; create it"), "{refused}");
    }
}
