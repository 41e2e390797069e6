use serde_json::json;
use toolgate_core::{
    Lang,
    caller::{AgentKind, Purpose},
};
use toolgate_store::team;

use crate::world::{World, agent};

on_both! {
    async fn logging_out_ends_the_session_and_a_new_one_can_begin(world: World) {
        world.give_task("ann").await;
        let ann = world.sign_in("ann").await;
        let answer = world.good(&ann, "logout", json!({})).await;
        assert_eq!(answer, json!({
            "success": true, "message": "The session has ended.", "instruction": "End this process.",
        }));
        assert_eq!(world.session("ann", team::Purpose::Task).await, None);
        assert_eq!(world.bad(&ann, "logout", json!({})).await["code"], "no_session");
        world.sign_in("ann").await;
    }

    async fn a_chat_session_lives_while_something_happens_in_it(world: World) {
        world.write_to("ann").await;
        let ann = world.sign_in("ann").await;
        for _ in 0..3 {
            world.pass(9 * 60_000);
            world.good(&ann, "get_my_profile", json!({})).await;
        }
        assert!(world.session("ann", team::Purpose::Chat).await.is_some());
        world.pass(10 * 60_000);
        assert_eq!(world.session("ann", team::Purpose::Chat).await, None);
        world.sign_in("ann").await;
        // and no session outlives its hour
        for _ in 0..7 {
            world.pass(9 * 60_000);
            let _ = world.content(&ann, "get_my_profile", json!({})).await;
        }
        assert_eq!(world.session("ann", team::Purpose::Chat).await, None);
    }

    async fn a_reported_model_is_verified_and_another_one_noted(world: World) {
        world.give_task("ann").await;
        world.give_task("bob").await;
        let (ann, bob) = (world.sign_in("ann").await, world.sign_in("bob").await);
        let wrong = world.good(&ann, "report_model", json!({"provider": "anthropic", "model_id": "m-2"})).await;
        assert_eq!(wrong["verified"], false);
        let noted = world.session("ann", team::Purpose::Task).await.unwrap();
        assert_eq!((noted.reported_model.as_deref(), noted.model_verified), (Some("m-2"), Some(false)));
        let right = world.good(&ann, "report_model", json!({"provider": "Anthropic", "model_id": "m-1"})).await;
        assert_eq!(right["verified"], true);
        let free = world.good(&bob, "report_model", json!({"provider": "any", "model_id": "any"})).await;
        assert_eq!(free["verified"], true, "an agent without a model of its own runs on any");
        assert_eq!(world.bad(&ann, "report_model", json!({"provider": ""})).await["code"], "invalid_arguments");
    }

    async fn the_guide_says_what_the_session_is_for(world: World) {
        world.give_task("boss").await;
        world.write_to("ann").await;
        let (boss, ann) = (world.sign_in("boss").await, world.sign_in("ann").await);
        let guide = world.good(&boss, "get_session_guide", json!({})).await;
        assert_eq!((&guide["session_purpose"], &guide["hierarchy_type"]), (&json!("task"), &json!("manager")));
        assert!(guide["guide"].as_str().unwrap().contains("assign_task"), "{guide}");
        let guide = world.speaking(Lang::Ja).good(&ann, "get_session_guide", json!({})).await;
        assert_eq!((&guide["session_purpose"], &guide["agent_name"]), (&json!("chat"), &json!("ANN")));
        assert!(guide["guide"].as_str().unwrap().contains("チャット用"), "{guide}");
    }

    async fn a_token_of_the_operators_is_no_session(world: World) {
        let minted = agent("ann", AgentKind::Worker, Some(Purpose::Task));
        assert_eq!(world.good(&minted, "get_my_profile", json!({})).await["id"], "ann");
        for tool in ["logout", "get_session_guide"] {
            assert_eq!(world.bad(&minted, tool, json!({})).await["code"], "no_session", "{tool}");
        }
        let nobody = agent("nobody", AgentKind::Worker, Some(Purpose::Task));
        assert_eq!(world.bad(&nobody, "get_my_profile", json!({})).await["code"], "no_session");
    }
}
