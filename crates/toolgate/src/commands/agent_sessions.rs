//! `agent sessions|end-session`: an agent's live sessions, as the operator sees them. Never a token.

use serde_json::{Value, json};
use toolgate_store::team::AgentSession;

use super::{
    books, print,
    table::table,
    when::{self, dated},
};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    ground,
};

pub async fn list(agent: &str, place: &Place, output: Output) -> CommandResult {
    let store = books::store(place).await?;
    if store.team().agents().get(agent).await?.is_none() {
        store.close().await;
        return Err(format!("no agent has the id '{}'; see toolgate agent list", books::line(agent)).into());
    }
    let mut sessions = Vec::new();
    for assignment in store.team().assignments().of_agent(agent).await? {
        sessions.extend(store.team().sessions().of_pair(agent, &assignment.project, ground::now()).await?);
    }
    store.close().await;
    let text = if sessions.is_empty() {
        "There is no live session.\n".to_owned()
    } else {
        table(["ID", "PROJECT", "PURPOSE", "SINCE"], sessions.iter().map(cells))
    };
    print(output, &sessions.iter().map(session_json).map(dated).collect::<Vec<_>>(), &text)?;
    Ok(Ending::Good)
}

pub async fn end(id: &str, place: &Place, output: Output) -> CommandResult {
    let store = books::store(place).await?;
    let ended = store.team().sessions().end(id, ground::now()).await?;
    store.close().await;
    let text = if ended { "has ended" } else { "is not live" };
    print(output, &json!({"id": id, "ended": ended}), &format!("{} {text}\n", books::line(id)))?;
    Ok(if ended { Ending::Good } else { Ending::No })
}

fn cells(session: &AgentSession) -> [String; 4] {
    let AgentSession { id, project, purpose, opened_at, .. } = session;
    [id.clone(), project.clone(), purpose.as_str().to_owned(), when::told(*opened_at)]
}

fn session_json(session: &AgentSession) -> Value {
    json!({
        "id": session.id, "agent": session.agent, "project": session.project, "purpose": session.purpose.as_str(),
        "task": session.task, "state": session.state.as_str(), "opened_at": session.opened_at,
        "expires_at": session.expires_at, "last_activity": session.last_activity,
    })
}
