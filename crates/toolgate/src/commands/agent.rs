//! `agent add|list|show|set|passkey|assign|unassign`: who is in a team.

use std::{fs, path::Path};

use serde_json::{Value, json};
use toolgate_server::team::{agent_json, agent_with_projects};
use toolgate_store::{
    Store,
    team::{Agent, AgentChange, NewAgent, Passkey},
};

use super::{
    agent_sessions, books, print,
    table::table,
    task::fields,
    when::{dated, dated_for_people},
};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{AddAgent, AgentCommand, Output, SetAgent},
    ground::{self, Ground},
};

pub async fn run(command: AgentCommand) -> CommandResult {
    match command {
        AgentCommand::Add(wish) => add(*wish).await,
        AgentCommand::Set(wish) => set(*wish).await,
        AgentCommand::List { limit, place, output } => {
            let store = books::store(&place).await?;
            let list = async |paging| store.team().agents().list(&paging).await;
            let (agents, cut) = books::gathered(limit, list).await?;
            store.close().await;
            let text = if agents.is_empty() {
                "There are no agents. Add one: toolgate agent add ID\n".to_owned()
            } else {
                table(["ID", "HIERARCHY", "TYPE", "STATUS", "NAME"], agents.iter().map(cells))
            };
            let rows: Vec<Value> = agents.iter().map(agent_json).map(dated).collect();
            print(output, &rows, &text)?;
            books::note_cut(cut, limit);
            Ok(Ending::Good)
        }
        AgentCommand::Show { id, place, output } => {
            let store = books::store(&place).await?;
            let found = store.team().agents().get(&id).await?;
            let assigned = store.team().assignments().of_agent(&id).await?;
            store.close().await;
            match found {
                Some(agent) => shown(output, &agent_with_projects(&agent, &assigned)),
                None => unknown(&id, output),
            }
        }
        AgentCommand::Passkey { id, passkey_file, place, output } => {
            let passkey = passkey(passkey_file.as_deref())?;
            let store = books::store(&place).await?;
            let set = store.team().credentials().set(&id, &passkey.hash()?, ground::now()).await?;
            store.close().await;
            if !set {
                return unknown(&id, output);
            }
            told(output, &json!({"id": id}), format!("{id} has a new passkey\n"), &passkey, passkey_file.is_some())
        }
        AgentCommand::Assign { id, project, place, output } => {
            let store = books::store(&place).await?;
            let assigned = store.team().assignments().assign(&id, &project, ground::now()).await;
            store.close().await;
            assigned?;
            let value = json!({"agent": id, "project": project, "assigned": true});
            print(output, &value, &format!("{id} works in {project}\n"))?;
            Ok(Ending::Good)
        }
        AgentCommand::Sessions { id, place, output } => agent_sessions::list(&id, &place, output).await,
        AgentCommand::EndSession { session, place, output } => agent_sessions::end(&session, &place, output).await,
        AgentCommand::Unassign { id, project, place, output } => {
            let store = books::store(&place).await?;
            let gone = store.team().assignments().unassign(&id, &project, ground::now()).await?;
            store.close().await;
            let text = if gone { "works no more in" } else { "does not work in" };
            let value = json!({"agent": id, "project": project, "unassigned": gone});
            print(output, &value, &format!("{id} {text} {project}\n"))?;
            Ok(if gone { Ending::Good } else { Ending::No })
        }
    }
}

async fn add(wish: AddAgent) -> CommandResult {
    let passkey = passkey(wish.passkey_file.as_deref())?;
    let now = ground::now();
    let store = Ground::of(&wish.place)?.store().await?;
    let agent = NewAgent {
        name: wish.name.unwrap_or_else(|| wish.id.clone()),
        id: wish.id,
        role: wish.role,
        agent_type: wish.agent_type,
        hierarchy: wish.hierarchy,
        parent: wish.more.parent,
        max_parallel_tasks: wish.more.max_parallel_tasks.unwrap_or(1),
        capabilities: wish.more.capabilities,
        system_prompt: wish.more.system_prompt,
        provider: wish.more.provider,
        model_id: wish.more.model,
        owner: wish.more.owner,
        created_at: now,
    };
    let added = added(&store, agent, &passkey, &wish.projects, now).await;
    store.close().await;
    let agent = added?;
    told(wish.output, &agent_json(&agent), format!("{} is added\n", agent.id), &passkey, wish.passkey_file.is_some())
}

async fn added(
    store: &Store,
    agent: NewAgent,
    passkey: &Passkey,
    projects: &[String],
    now: i64,
) -> Result<Agent, Misuse> {
    let team = store.team();
    for project in projects {
        if team.projects().get(project).await?.is_none() {
            return Err(format!("there is no project '{project}'; add it first: toolgate project add {project}").into());
        }
    }
    let hash = passkey.hash()?;
    let agent = team.agents().add(agent).await?;
    team.credentials().set(&agent.id, &hash, now).await?;
    for project in projects {
        team.assignments().assign(&agent.id, project, now).await?;
    }
    Ok(agent)
}

async fn set(wish: SetAgent) -> CommandResult {
    let cleared = |text: Option<String>| text.map(|text| Some(text).filter(|text| !text.is_empty()));
    let change = AgentChange {
        name: wish.name,
        role: wish.role,
        hierarchy: wish.hierarchy,
        parent: cleared(wish.more.parent),
        max_parallel_tasks: wish.more.max_parallel_tasks,
        capabilities: (!wish.more.capabilities.is_empty())
            .then(|| wish.more.capabilities.into_iter().filter(|text| !text.is_empty()).collect()),
        system_prompt: cleared(wish.more.system_prompt),
        provider: cleared(wish.more.provider),
        model_id: cleared(wish.more.model),
        status: wish.status,
        owner: cleared(wish.more.owner),
    };
    if change == AgentChange::default() {
        return Err("nothing is to be changed; see toolgate agent set --help".into());
    }
    let store = books::store(&wish.place).await?;
    let changed = store.team().agents().change(&wish.id, change).await;
    store.close().await;
    shown(wish.output, &agent_json(&changed?))
}

/// From a file, or one that nobody guesses.
pub fn passkey(file: Option<&Path>) -> Result<Passkey, Misuse> {
    let Some(path) = file else { return Ok(Passkey::random()?) };
    let text = fs::read_to_string(path).map_err(|fault| format!("{}: {fault}", path.display()))?;
    Passkey::new(text.trim_end_matches(['\r', '\n'])).map_err(|bad| format!("{}: {bad}", path.display()).into())
}

/// A passkey that was made here is shown, this once; one from a file is known.
fn told(output: Output, value: &Value, mut text: String, passkey: &Passkey, from_file: bool) -> CommandResult {
    let mut value = dated(value.clone());
    if !from_file {
        text.push_str(&format!("passkey: {}\n", passkey.expose()));
        if let Some(value) = value.as_object_mut() {
            value.insert("passkey".to_owned(), passkey.expose().into());
        }
    }
    print(output, &value, &text)?;
    Ok(Ending::Good)
}

fn cells(agent: &Agent) -> [String; 5] {
    let words = [&agent.id, agent.hierarchy.as_str(), agent.agent_type.as_str(), agent.status.as_str(), &agent.name];
    words.map(str::to_owned)
}

pub fn shown(output: Output, value: &Value) -> CommandResult {
    print(output, &dated(value.clone()), &fields(&dated_for_people(value.clone())))?;
    Ok(Ending::Good)
}

fn unknown(id: &str, output: Output) -> CommandResult {
    print(output, &json!({"id": id, "found": false}), &format!("no agent has the id '{}'\n", books::line(id)))?;
    Ok(Ending::No)
}
