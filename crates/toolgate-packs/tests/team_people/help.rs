//! `help` as each kind of caller reads it, in both languages. Snapshots are in `snapshots/`.

use serde_json::{Value, json};
use toolgate_core::{
    Caller, Lang,
    caller::{AgentKind, Purpose},
};
use toolgate_spine::Outcome;

use crate::world::{World, agent, coordinator};

async fn help(world: &World, caller: &Caller, arguments: &Value) -> Value {
    let Outcome::Answered(bytes) = world.call(caller, "help", arguments).await else {
        panic!("help answers everybody")
    };
    serde_json::from_slice::<Value>(&bytes).unwrap()["structuredContent"].take()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_each_kind_of_caller_reads() {
    World::on_sqlite(|world| async move {
        let callers = [
            ("stranger", Caller::anonymous()),
            ("coordinator", coordinator()),
            ("manager_task", agent("boss", AgentKind::Manager, Some(Purpose::Task))),
            ("manager_chat", agent("boss", AgentKind::Manager, Some(Purpose::Chat))),
            ("worker_task", agent("ann", AgentKind::Worker, Some(Purpose::Task))),
            ("worker_chat", agent("ann", AgentKind::Worker, Some(Purpose::Chat))),
        ];
        for (name, caller) in callers {
            for lang in [Lang::En, Lang::Ja] {
                let world = world.speaking(lang);
                let mut details = Vec::new();
                for tool in ["authenticate", "report_model", "list_subordinates", "health_check", "no_such_tool"] {
                    details.push(help(&world, &caller, &json!({"tool_name": tool})).await);
                }
                let read = json!({"overview": help(&world, &caller, &json!({})).await, "details": details});
                // an example has a placeholder in a token's place
                assert!(!read.to_string().replace("sess_xxx", "").contains("sess_"), "no token is ever shown");
                insta::assert_json_snapshot!(format!("{name}_{}", lang.as_str()), read);
            }
        }
    })
    .await;
}
