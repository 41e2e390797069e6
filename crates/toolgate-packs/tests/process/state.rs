use serde_json::{Value, json};
use toolgate_core::Caller;
use toolgate_store::{NewProcess, NewRun, NewTask, ProcessDefinition, TaskEnd, TaskSetting};

use crate::world::{World, calling};

pub const EXCLUSIVE: [&str; 5] =
    ["get_commit_log", "get_git_diff", "get_process_state", "inject_steps", "set_process_decision"];

/// A process, driven by hand.
pub struct Driven {
    pub world: World,
    pub id: String,
    count: u8,
}

impl Driven {
    pub async fn start(world: &World, steps: &[&str], worktree: Option<&str>) -> Self {
        let steps: Vec<Value> = steps.iter().map(|task| json!({"task": task})).collect();
        let definition =
            json!({"name": "feature", "orchestrator": {"max_injections": 1}, "tasks": {"repair": {}}, "steps": steps});
        let definition: ProcessDefinition = serde_json::from_value(definition).unwrap();
        let worktree = worktree.map(str::to_owned);
        let new = NewProcess {
            definition,
            owner: None,
            tenant: None,
            branch: None,
            worktree,
            main_repo: None,
            created_at: 1,
        };
        let id = world.store.processes().start(new).await.unwrap().id;
        Self { world: world.clone(), id, count: 0 }
    }

    pub fn task(&self) -> String {
        format!("run_{}", self.count)
    }

    /// Begins what is next, as its caller.
    pub async fn begin(&mut self) -> Caller {
        self.count += 1;
        let run = NewRun { task_id: self.task(), key_hash: [self.count; 32], ..NewRun::default() };
        self.world.store.processes().begin(&self.id, run).await.unwrap();
        let row = self.world.store.tasks().find(&self.task()).await.unwrap().unwrap();
        calling(&self.task(), Some(&self.id), row.is_orchestrator)
    }

    pub async fn end(&self, success: bool) {
        let end = TaskEnd { success, exit_code: Some(0), duration_ms: Some(12), ..TaskEnd::default() };
        self.world.store.processes().end(&self.task(), &end, 5).await.unwrap();
    }

    pub async fn pass(&mut self) {
        self.begin().await;
        self.end(true).await;
    }
}

on_both! {
    async fn the_state_has_real_steps_done_and_to_come_and_every_decision(world: World) {
        let mut driven = Driven::start(&world, &["analyse", "implement", "review"], None).await;
        let pre = driven.begin().await;
        let state = world.good(&pre, "get_process_state", json!({})).await;
        assert_eq!(state, json!({
            "process_id": driven.id, "process_name": "feature", "state": "running", "completed_steps": [],
            "pending_steps": [{"index": 0, "task_name": "analyse"}, {"index": 1, "task_name": "implement"}, {"index": 2, "task_name": "review"}],
            "current_index": 0, "injections_left": 1, "orchestrator_decisions": [],
        }));
        world.good(&pre, "inject_steps", json!({"steps": [{"task_name": "repair", "prompt": "mend"}]})).await;
        driven.end(true).await;
        driven.pass().await;
        driven.pass().await;
        let post = driven.begin().await;
        let state = world.good(&post, "get_process_state", json!({})).await;
        assert_eq!(state["completed_steps"], json!([{"index": 0, "task_name": "repair", "task_id": "run_3", "success": true, "exit_code": 0, "duration_ms": 12}]));
        assert_eq!(state["pending_steps"][0], json!({"index": 1, "task_name": "analyse"}));
        assert_eq!((&state["current_index"], &state["injections_left"]), (&json!(0), &json!(0)), "the look after the step is still to come to its end");
        let decision = &state["orchestrator_decisions"][0];
        assert_eq!((&decision["phase"], &decision["step_index"], &decision["decision"], &decision["effect"], &decision["task_id"]),
            (&json!("pre_step"), &json!(0), &json!("inject"), &json!("inject"), &json!("run_1")));
        assert_eq!(decision["injected_steps"], json!([{"task_name": "repair", "prompt": "mend"}]));
    }

    async fn a_label_shows_its_tasks_and_leaves_nothing_to_decide(world: World) {
        let task = world.task(Some("label"), None, TaskSetting::default()).await;
        let id = &task.task.as_ref().unwrap().id;
        let orchestrator = calling(id, Some("label"), true);
        for (number, task_id, name) in [(1, "t-done", Some("analyse")), (2, "t-runs", None)] {
            let (task_id, name) = (task_id.to_owned(), name.map(str::to_owned));
            let process = Some("label".to_owned());
            let new = NewTask { task_id, key_hash: [number; 32], process, name, created_at: number.into(), ..NewTask::default() };
            world.store.tasks().start(new).await.unwrap();
        }
        let end = TaskEnd { success: true, exit_code: Some(0), duration_ms: Some(3), ..TaskEnd::default() };
        world.store.processes().end("t-done", &end, 5).await.unwrap();
        let state = world.good(&orchestrator, "get_process_state", json!({})).await;
        let done = json!([{"index": 0, "task_name": "analyse", "task_id": "t-done", "success": true, "exit_code": 0, "duration_ms": 3}]);
        assert_eq!((&state["completed_steps"], &state["pending_steps"]), (&done, &json!([{"index": 1, "task_name": "t-runs"}])));
        assert!(state["note"].as_str().unwrap().contains("toolgate process start"), "{state}");
        let decided = world.bad(&orchestrator, "set_process_decision", json!({"decision": "abort", "reasoning": "r"})).await;
        assert_eq!(decided.1, "conflict");
        assert!(decided.0.starts_with("Process 'label' is a label that tasks share: it has no steps, so that there is nothing to decide about."), "{decided:?}");
        assert!(decided.0.contains("toolgate task start --process proc_"), "it says the way that works: {decided:?}");
        let injected = world.bad(&orchestrator, "inject_steps", json!({"steps": [{"task_name": "x"}]})).await;
        assert_eq!(injected, decided);
        let alone = world.bad(&calling(id, None, true), "set_process_decision", json!({"decision": "abort", "reasoning": "r"})).await;
        assert!(alone.0.contains("belongs to no process"), "{alone:?}");
        let nobody = world.bad(&calling("task_77", Some("label"), true), "set_process_decision", json!({"decision": "abort", "reasoning": "r"})).await;
        assert_eq!(nobody.0, "Task 'task_77' not found in task_log. The task may not have been registered before execution.");
    }

    async fn the_five_are_listed_to_an_orchestrator_and_to_nobody_else(world: World) {
        let mut driven = Driven::start(&world, &["analyse"], None).await;
        let pre = driven.begin().await;
        let mut listed = world.listed(&pre);
        listed.sort();
        assert_eq!(listed.len(), 17);
        assert!(EXCLUSIVE.iter().all(|tool| listed.contains(&(*tool).to_owned())));
        driven.end(true).await;
        let step = driven.begin().await;
        assert_eq!(world.listed(&step).len(), 12);
        for tool in EXCLUSIVE {
            assert!(!world.listed(&step).contains(&tool.to_owned()));
            assert_eq!(world.denied(&step, tool).await, ("orchestrator_required".into(), format!("Tool '{tool}' is not available for this task type.")));
            let gate = world.spine.gate();
            let help = gate.help_on(&gate.view(&step).unwrap(), &step, tool, toolgate_core::Lang::En);
            assert_eq!(help.available(), None, "help does not know it either");
        }
    }
}
