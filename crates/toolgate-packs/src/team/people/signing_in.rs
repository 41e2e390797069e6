//! `authenticate`: who it is, then where, then what for.
//!
//! INVARIANT: until the passkey is seen to be right, every answer and the time it takes are the same whether or not there
//! is such an agent; what is said of projects is said to the agent alone. An agent that signed in from an address before has
//! more attempts there, and only there.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Map, Value};
use toolgate_spine::{Recorded, ToolAnswer};
use toolgate_store::team::{
    Agent, AgentSession, AgentStatus, NewSession, Place, Project, ProjectStatus, Purpose, SESSION_LASTS, SessionToken,
    Slow, Waiting,
};

use super::passkeys::Turn;
use crate::team::{
    TeamPack, arguments,
    failure::{Failure, Text},
    said,
};

#[derive(Deserialize)]
struct Asked {
    agent_id: String,
    passkey: String,
    project_id: String,
    purpose: Option<Wish>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wish {
    Task,
    Chat,
}

pub(super) async fn authenticate(pack: &TeamPack, call: &Recorded) -> Result<ToolAnswer, Failure> {
    let Asked { agent_id, passkey, project_id, purpose } = arguments(call)?;
    let agent = prove(pack, &agent_id, passkey, call.client().address()).await?;
    let team = pack.store.team();
    // whatever comes of it, the process that was asked for is here
    team.assignments().end_spawn(&agent.id, &project_id).await?;
    let project = team.projects().get(&project_id).await?.ok_or_else(no_project)?;
    if team.assignments().get(&agent.id, &project.id).await?.is_none() {
        return Err(not_assigned());
    }
    let (token, _) = open(pack, &agent, &project, purpose).await?;
    let mut answer = Map::new();
    let mut put = |key: &str, value: Value| answer.insert(key.to_owned(), value);
    put("success", true.into());
    put("session_token", token.expose().into());
    put("expires_in", (SESSION_LASTS / 1000).into());
    put("agent_name", agent.name.into());
    let next = Text::new(
        "You are signed in. Call get_next_action to learn what to do.",
        "サインインしました。get_next_actionを呼び出して次の行動を確認してください。",
    );
    put("instruction", next.get(call.lang()).into());
    if let Some(folder) = project.working_directory {
        put("working_directory", folder.into());
    }
    if let Some(prompt) = agent.system_prompt {
        put("system_prompt", prompt.into());
    }
    Ok(said(&Value::Object(answer))?.never_undone("A session ends by logout."))
}

/// Returns the agent whose passkey it is. INVARIANT: an attempt is counted before its passkey is looked at, and whether it
/// is looked at does not depend on the passkey.
async fn prove(pack: &TeamPack, agent_id: &str, passkey: String, address: Option<IpAddr>) -> Result<Agent, Failure> {
    let (team, now) = (pack.store.team(), pack.now());
    let guesses = team.guesses();
    let address = address.map(network);
    let place = Place::agent(agent_id, address.as_deref());
    let around = address.as_deref().map(Place::address);
    let is_known = guesses.is_known(&place, now).await?;
    // many may share an address: who signed in from it before is not slowed down by the others
    if let Some(around) = &around
        && let Some(slow) = guesses.waits(around, now).await?
        && !is_known
    {
        return Err(too_many(slow, now));
    }
    let counted = if is_known { place.once_known() } else { place.clone() };
    if let Some(slow) = guesses.waits(&counted, now).await? {
        return Err(too_many(slow, now));
    }
    let turn = pack.passkeys.turn().await?;
    if let Some(slow) = guesses.take(&counted, now).await? {
        return Err(too_many(slow, now));
    }
    match matching_agent(pack, agent_id, passkey, turn).await? {
        Some(agent) => {
            guesses.good(&place, now).await?;
            Ok(agent)
        }
        None => {
            if let Some(around) = &around {
                guesses.failed(around, now).await?;
            }
            Err(invalid())
        }
    }
}

/// The agent, where the passkey is right.
async fn matching_agent(
    pack: &TeamPack,
    agent_id: &str,
    passkey: String,
    turn: Turn<'_>,
) -> Result<Option<Agent>, Failure> {
    let team = pack.store.team();
    let agent = team.agents().get(agent_id).await?.filter(|agent| agent.status == AgentStatus::Active);
    let kept = team.credentials().get(agent_id).await?.filter(|_| agent.is_some());
    let right = turn.matches(passkey, kept.map(|kept| kept.hash)).await?;
    let agent = agent.filter(|_| right);
    if let Some(agent) = &agent {
        team.credentials().used(&agent.id, pack.now()).await?;
    }
    Ok(agent)
}

/// A session for what there is to do. Of many who ask at once for the same, one gets it.
async fn open(
    pack: &TeamPack,
    agent: &Agent,
    project: &Project,
    wish: Option<Wish>,
) -> Result<(SessionToken, AgentSession), Failure> {
    let (team, now) = (pack.store.team(), pack.now());
    let waiting = if project.status == ProjectStatus::Active {
        team.waiting(&agent.id, &project.id).await?
    } else {
        Waiting::default()
    };
    for (purpose, task) in purposes(&waiting, wish) {
        let token = SessionToken::fresh()?;
        let session = NewSession {
            token_hash: token.hash(),
            agent: agent.id.clone(),
            project: project.id.clone(),
            purpose,
            task,
        };
        if let Some(session) = team.sessions().open(session, now).await? {
            return Ok((token, session));
        }
    }
    Err(no_purpose())
}

/// What a session could be for, the first choice first: a task before chat.
fn purposes(waiting: &Waiting, wish: Option<Wish>) -> Vec<(Purpose, Option<String>)> {
    let task = waiting.task.as_ref().filter(|_| wish != Some(Wish::Chat));
    let chat = waiting.chat() && wish != Some(Wish::Task);
    task.map(|task| (Purpose::Task, Some(task.clone())))
        .into_iter()
        .chain(chat.then_some((Purpose::Chat, None)))
        .collect()
}

/// As far as one party can be told from another by its address: whoever has one of version 6 has a whole network of them.
fn network(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
        }
    }
}

fn exit(failure: Failure) -> Failure {
    failure.with("action", "exit").with_text(
        "instruction",
        "Signing in failed. End this process.",
        "サインインに失敗しました。このプロセスを終了してください。",
    )
}

fn invalid() -> Failure {
    exit(Failure::new("invalid_credentials", "Invalid agent_id or passkey", "agent_idまたはpasskeyが正しくありません"))
}

fn no_project() -> Failure {
    exit(Failure::new("project_not_found", "Project not found", "プロジェクトが見つかりません"))
}

fn not_assigned() -> Failure {
    exit(Failure::new(
        "agent_not_assigned",
        "Agent not assigned to project",
        "エージェントはプロジェクトに割り当てられていません",
    ))
}

fn no_purpose() -> Failure {
    exit(Failure::new("no_purpose", "No valid purpose for authentication", "認証の有効な目的がありません"))
}

fn too_many(slow: Slow, now: i64) -> Failure {
    let seconds = slow.until.saturating_sub(now).saturating_add(999).div_euclid(1000).max(1);
    Failure::new(
        "too_many_attempts",
        format!("Too many failed attempts. Try again in {seconds} s."),
        format!("失敗が続いています。{seconds}秒後にもう一度お試しください。"),
    )
    .with("retry_after", seconds)
    .with_text(
        "instruction",
        "Wait, then call authenticate again.",
        "待ってから、もう一度authenticateを呼び出してください。",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_comes_before_chat_and_a_wish_gets_only_what_there_is() {
        let both = Waiting { task: Some("t".into()), unread: true, ..Waiting::default() };
        let chat = Waiting { delegation: true, ..Waiting::default() };
        let kinds =
            |waiting: &Waiting, wish| purposes(waiting, wish).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(kinds(&both, None), [Purpose::Task, Purpose::Chat]);
        assert_eq!(kinds(&both, Some(Wish::Chat)), [Purpose::Chat]);
        assert_eq!(kinds(&both, Some(Wish::Task)), [Purpose::Task]);
        assert_eq!(kinds(&chat, None), [Purpose::Chat]);
        assert_eq!(kinds(&chat, Some(Wish::Task)), []);
        assert_eq!(kinds(&Waiting::default(), None), []);
        assert_eq!(purposes(&both, None)[0].1.as_deref(), Some("t"));
    }

    #[test]
    fn an_address_of_version_6_stands_for_its_network() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("203.0.113.7"), "203.0.113.7");
        assert_eq!(of("::ffff:203.0.113.7"), "203.0.113.7");
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    }
}
