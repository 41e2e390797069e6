//! Whose tasks: the caller's own, whatever the arguments say, and never a hint of anybody else's.

use serde_json::json;
use toolgate_core::{
    Caller,
    caller::{Agent, AgentKind, Task},
};
use toolgate_spine::Outcome;

use crate::world::{World, assert_fits, user_named};

const TOOLS: [&str; 5] = ["add_task", "list_tasks", "complete_task", "delete_task", "update_task"];

on_both! {
    async fn another_users_task_answers_byte_for_byte_as_a_missing_one(world: World) {
        let tries = [
            ("complete_task", json!({})),
            ("delete_task", json!({})),
            ("update_task", json!({"title": "x"})),
            ("update_task", json!({"description": "x"})),
        ];
        for (tool, more) in tries {
            let id = world.add("ann", "hers").await;
            let mut arguments = more.clone();
            arguments["task_id"] = json!(id);
            let theirs = world.bytes("bob", tool, arguments.clone()).await;
            world.good("ann", "delete_task", json!({"task_id": id})).await;
            let missing = world.bytes("bob", tool, arguments.clone()).await;
            assert_eq!(theirs, missing, "{tool}");
            assert_eq!(world.bytes("ann", tool, arguments).await, missing, "{tool}, for its former owner too");
        }
    }

    async fn a_user_id_that_is_the_callers_own_is_accepted(world: World) {
        world.good("ann", "add_task", json!({"title": "with", "user_id": "ann"})).await;
        world.good("ann", "add_task", json!({"title": "without"})).await;
        assert_eq!(world.titles("ann", json!({"user_id": "ann"})).await, ["without", "with"]);
    }

    async fn a_user_id_that_is_another_is_refused_by_every_tool(world: World) {
        let id = world.add("ann", "hers").await;
        world.add("bob", "his").await;
        for tool in TOOLS {
            for other in [json!("bob"), json!(""), json!("ANN"), json!("ann "), json!(null), json!(5), json!(["ann"])] {
                let arguments = json!({"user_id": other, "task_id": id, "title": "x"});
                let refused = world.bad("ann", tool, arguments).await;
                assert_eq!(refused, json!({"error": "user_id does not match the caller", "code": "validation"}), "{tool} {other}");
            }
        }
        assert_eq!(world.titles("ann", json!({})).await, ["hers"]);
        assert_eq!(world.titles("bob", json!({})).await, ["his"]);
    }

    async fn a_caller_without_a_user_is_turned_away_before_the_tool_runs(world: World) {
        let task = Caller { task: Some(Task { id: "t".into(), process: None, orchestrator: false }), ..Caller::default() };
        let agent = Agent { id: "a".into(), kind: AgentKind::Worker, project: None, purpose: None, session: None };
        let agent = Caller { agent: Some(agent), ..Caller::default() };
        for caller in [task, agent] {
            for tool in TOOLS {
                for arguments in [json!({"title": "x", "task_id": 1}), json!({"title": "x", "user_id": "ann"})] {
                    match world.call(&caller, tool, arguments).await {
                        Outcome::Unbound { argument, .. } => assert_eq!(argument, "user_id"),
                        other => panic!("{tool}: {other:?}"),
                    }
                }
            }
        }
        match world.call(&Caller::anonymous(), "add_task", json!({"title": "x", "user_id": "ann"})).await {
            Outcome::Denied { denial, needs_identity: true, .. } => {
                assert_eq!(denial.code, "authentication_required");
                assert_fits("add_task", &serde_json::to_value(&denial).unwrap());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(world.titles("ann", json!({})).await, [""; 0]);
    }

    async fn a_user_who_also_speaks_as_a_task_has_the_users_tasks(world: World) {
        world.add("ann", "hers").await;
        let both = Caller { task: Some(Task { id: "t".into(), process: None, orchestrator: false }), ..user_named("ann") };
        match world.call(&both, "list_tasks", json!({})).await {
            Outcome::Answered(bytes) => assert!(String::from_utf8_lossy(&bytes).contains("hers")),
            other => panic!("{other:?}"),
        }
    }
}
