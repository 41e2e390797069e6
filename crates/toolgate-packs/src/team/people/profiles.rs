//! Who an agent is, and who stands under it.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{Agent, AgentType};

use crate::{
    team::{TeamPack, arguments, failure::Failure, said},
    times::iso,
};

pub(super) async fn get_my_profile(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    said(&Value::Object(profile(&pack.me(call).await?)))
}

pub(super) async fn list_subordinates(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let me = pack.me(call).await?;
    let under = pack.store.team().agents().under(&me.id).await?;
    let subordinates: Vec<Value> = under.iter().map(brief).collect();
    said(&json!({"success": true, "subordinates": subordinates}))
}

#[derive(Deserialize)]
struct Wanted {
    agent_id: String,
}

/// Somebody else's subordinate and nobody at all get one answer.
pub(super) async fn get_subordinate_profile(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Wanted { agent_id } = arguments(call)?;
    let (me, team) = (pack.me(call).await?, pack.store.team());
    let found = team.agents().get(&agent_id).await?.filter(|agent| agent.parent.as_ref() == Some(&me.id));
    let agent = found.ok_or_else(|| not_under(&agent_id, &me.id))?;
    let mut content = profile(&agent);
    let projects = team.assignments().of_agent(&agent.id).await?;
    content.insert("max_parallel_tasks".to_owned(), agent.max_parallel_tasks.into());
    content.insert("projects".to_owned(), projects.into_iter().map(|assigned| assigned.project).collect());
    let texts = [
        ("parent_agent_id", agent.parent),
        ("system_prompt", agent.system_prompt),
        ("provider", agent.provider),
        ("model_id", agent.model_id),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            content.insert(key.to_owned(), text.into());
        }
    }
    said(&Value::Object(content))
}

fn not_under(agent: &str, manager: &str) -> Failure {
    Failure::new(
        "not_a_subordinate",
        format!("Agent '{agent}' is not a subordinate of '{manager}'"),
        format!("エージェント'{agent}'は'{manager}'の部下ではありません"),
    )
}

fn brief(agent: &Agent) -> Value {
    json!({
        "id": agent.id, "name": agent.name, "role": agent.role, "type": agent.agent_type.as_str(),
        "role_type": agent.hierarchy.as_str(), "status": agent.status.as_str(),
    })
}

fn profile(agent: &Agent) -> Map<String, Value> {
    let mut content = Map::new();
    content.insert("success".to_owned(), true.into());
    if let Value::Object(brief) = brief(agent) {
        content.extend(brief);
    }
    content.insert("capabilities".to_owned(), agent.capabilities.clone().into());
    content.insert("created_at".to_owned(), iso(agent.created_at).into());
    if let (AgentType::Ai, Some(provider)) = (agent.agent_type, &agent.provider) {
        content.insert("ai_type".to_owned(), provider.clone().into());
    }
    content
}
