use serde_json::json;
use toolgate_core::{
    Lang,
    caller::{AgentKind, Purpose},
};

use crate::world::{World, agent};

on_both! {
    async fn an_agent_sees_its_own_profile(world: World) {
        let ann = agent("ann", AgentKind::Worker, Some(Purpose::Task));
        assert_eq!(world.good(&ann, "get_my_profile", json!({})).await, json!({
            "success": true, "id": "ann", "name": "ANN", "role": "tester", "type": "ai", "role_type": "worker",
            "status": "active", "capabilities": ["rust"], "created_at": "2023-11-14T22:13:20.000Z", "ai_type": "anthropic",
        }));
    }

    async fn a_manager_sees_who_stands_directly_under_it(world: World) {
        let boss = agent("boss", AgentKind::Manager, Some(Purpose::Task));
        let answer = world.good(&boss, "list_subordinates", json!({})).await;
        let ids: Vec<&str> = answer["subordinates"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["ann", "bob"]);
        assert!(answer.to_string().find("Be brief").is_none(), "a list has no prompts");

        let profile = world.good(&boss, "get_subordinate_profile", json!({"agent_id": "ann"})).await;
        assert_eq!((&profile["system_prompt"], &profile["model_id"]), (&json!("Be brief."), &json!("m-1")));
        assert_eq!((&profile["projects"], &profile["max_parallel_tasks"]), (&json!(["p"]), &json!(1)));
    }

    async fn somebody_elses_subordinate_and_nobody_are_one(world: World) {
        let boss = agent("boss", AgentKind::Manager, Some(Purpose::Task));
        for id in ["boss", "nobody"] {
            let refused = world.bad(&boss, "get_subordinate_profile", json!({"agent_id": id})).await;
            assert_eq!(refused["error"], format!("Agent '{id}' is not a subordinate of 'boss'"));
            assert_eq!(refused["code"], "not_a_subordinate");
        }
        let refused = world.speaking(Lang::Ja).bad(&boss, "get_subordinate_profile", json!({"agent_id": "x"})).await;
        assert_eq!(refused["error"], "エージェント'x'は'boss'の部下ではありません");
    }
}
