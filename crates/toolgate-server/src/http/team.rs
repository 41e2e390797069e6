//! `/api/v1/agents` and `/api/v1/projects`: set up a team. For operators alone.

use http::{Method, StatusCode, header, request::Parts};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use toolgate_store::{
    Paging, StoreError,
    team::{
        AgentChange, AgentFault, AgentStatus, AgentType, AssignFault, Hierarchy, NewAgent, NewProject, Passkey,
        ProjectChange, ProjectStatus,
    },
};

use super::{
    Site,
    body::RequestBody,
    json::{Problem, first_page, members, page as listed, paged, read, sent},
    route::{Answer, preflight, with_header},
};
use crate::{
    now_millis as now,
    team::{agent_json, agent_with_projects, project_json, project_with_agents},
};

const AGENTS: &str = "/api/v1/agents";
const PROJECTS: &str = "/api/v1/projects";
/// Room for a long prompt.
const BODY_BYTES: usize = 256 << 10;

/// Whether this path is one of ours.
pub(super) fn is_here(path: &str) -> bool {
    let within = |root| path.strip_prefix(root).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/'));
    within(AGENTS) || within(PROJECTS)
}

/// What a request is about.
enum Room<'p> {
    Agents,
    Agent(&'p str),
    Passkey(&'p str),
    Assignment { agent: &'p str, project: &'p str },
    Projects,
    Project(&'p str),
}

impl<'p> Room<'p> {
    fn at(path: &'p str) -> Option<Self> {
        let (agents, rest) = match path.strip_prefix(AGENTS) {
            Some(rest) => (true, rest),
            None => (false, path.strip_prefix(PROJECTS)?),
        };
        let steps: Vec<&str> = rest.split('/').skip(1).collect();
        match (agents, steps.as_slice()) {
            (true, []) => Some(Self::Agents),
            (true, [id]) if !id.is_empty() => Some(Self::Agent(id)),
            (true, [id, "passkey"]) => Some(Self::Passkey(id)),
            (true, [agent, "projects", project]) => Some(Self::Assignment { agent, project }),
            (false, []) => Some(Self::Projects),
            (false, [id]) if !id.is_empty() => Some(Self::Project(id)),
            _ => None,
        }
    }

    fn methods(&self) -> &'static str {
        match self {
            Self::Agents | Self::Projects => "GET, POST",
            Self::Agent(_) | Self::Project(_) => "GET, PATCH",
            Self::Passkey(_) => "POST",
            Self::Assignment { .. } => "PUT, DELETE",
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AgentBody {
    id: Option<String>,
    name: Option<String>,
    role: Option<String>,
    r#type: Option<String>,
    hierarchy: Option<String>,
    #[serde(deserialize_with = "given")]
    parent: Option<Option<String>>,
    max_parallel_tasks: Option<u32>,
    capabilities: Option<Vec<String>>,
    #[serde(deserialize_with = "given")]
    system_prompt: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    provider: Option<Option<String>>,
    #[serde(deserialize_with = "given")]
    model_id: Option<Option<String>>,
    status: Option<String>,
    #[serde(deserialize_with = "given")]
    owner: Option<Option<String>>,
    passkey: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ProjectBody {
    id: Option<String>,
    name: Option<String>,
    status: Option<String>,
    #[serde(deserialize_with = "given")]
    working_directory: Option<Option<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PasskeyBody {
    passkey: Option<String>,
}

/// A member that is there, if only as null.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Site {
    pub(super) async fn team(&self, head: &Parts, body: RequestBody, browser: bool) -> Answer {
        let Some(room) = Room::at(head.uri.path()) else { return nothing().answer() };
        let methods = room.methods();
        if head.method == Method::OPTIONS && browser {
            return with_header(preflight(head), header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        }
        if let Err(problem) = self.for_operators(head, "a team is set up by operators").await {
            return problem.answer();
        }
        if !methods.split(", ").any(|method| head.method.as_str() == method) {
            let message = format!("this address takes {methods}");
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", message, "use one of those");
            return with_header(problem.answer(), header::ALLOW, methods);
        }
        let answered = match room {
            Room::Agents if head.method == Method::GET => self.list_agents(head).await,
            Room::Agents => self.add_agent(head, body).await,
            Room::Agent(id) if head.method == Method::GET => self.agent(id).await,
            Room::Agent(id) => self.change_agent(id, head, body).await,
            Room::Passkey(id) => self.set_passkey(id, head, body).await,
            Room::Assignment { agent, project } => self.assign(agent, project, head.method == Method::PUT).await,
            Room::Projects if head.method == Method::GET => self.list_projects(head).await,
            Room::Projects => self.add_project(head, body).await,
            Room::Project(id) if head.method == Method::GET => self.project(id).await,
            Room::Project(id) => self.change_project(id, head, body).await,
        };
        answered.map_or_else(Problem::answer, |(status, body)| sent(status, &body))
    }

    async fn list_agents(&self, head: &Parts) -> Result<(StatusCode, Value), Problem> {
        let page = self.store.team().agents().list(&paging(head)?).await.map_err(trouble)?;
        Ok((StatusCode::OK, listed("agents", &page, agent_json)))
    }

    /// The passkey is in this answer and in no other.
    async fn add_agent(&self, head: &Parts, body: RequestBody) -> Result<(StatusCode, Value), Problem> {
        let body: AgentBody = read(head, body, BODY_BYTES).await?;
        let id = body.id.ok_or_else(|| wrong("an agent needs an id"))?;
        if body.status.is_some() {
            return Err(wrong("an agent is added as active; change its status afterwards"));
        }
        let passkey = passkey(body.passkey)?;
        let hash = hashed(&passkey).await?;
        let team = self.store.team();
        let agent = NewAgent {
            name: body.name.unwrap_or_else(|| id.clone()),
            id,
            role: body.role.unwrap_or_default(),
            agent_type: word(body.r#type, "type", AgentType::parse, "human, ai")?.unwrap_or(AgentType::Ai),
            hierarchy: hierarchy(body.hierarchy)?.unwrap_or(Hierarchy::Worker),
            parent: body.parent.flatten(),
            max_parallel_tasks: body.max_parallel_tasks.unwrap_or(1),
            capabilities: body.capabilities.unwrap_or_default(),
            system_prompt: body.system_prompt.flatten(),
            provider: body.provider.flatten(),
            model_id: body.model_id.flatten(),
            owner: body.owner.flatten(),
            created_at: now(),
        };
        let agent = team.agents().add(agent).await.map_err(agent_problem)?;
        team.credentials().set(&agent.id, &hash, now()).await.map_err(trouble)?;
        let mut answer = agent_json(&agent);
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("passkey".to_owned(), passkey.expose().into());
        }
        Ok((StatusCode::CREATED, answer))
    }

    async fn agent(&self, id: &str) -> Result<(StatusCode, Value), Problem> {
        let team = self.store.team();
        let agent = team.agents().get(id).await.map_err(trouble)?.ok_or_else(nothing)?;
        let assigned = team.assignments().of_agent(id).await.map_err(trouble)?;
        Ok((StatusCode::OK, agent_with_projects(&agent, &assigned)))
    }

    async fn change_agent(&self, id: &str, head: &Parts, body: RequestBody) -> Result<(StatusCode, Value), Problem> {
        let body: AgentBody = read(head, body, BODY_BYTES).await?;
        if body.id.is_some() || body.r#type.is_some() || body.passkey.is_some() {
            return Err(wrong("id and type stay; a passkey is set at its own address"));
        }
        let change = AgentChange {
            name: body.name,
            role: body.role,
            hierarchy: hierarchy(body.hierarchy)?,
            parent: body.parent,
            max_parallel_tasks: body.max_parallel_tasks,
            capabilities: body.capabilities,
            system_prompt: body.system_prompt,
            provider: body.provider,
            model_id: body.model_id,
            status: word(body.status, "status", AgentStatus::parse, "active, inactive, suspended, archived")?,
            owner: body.owner,
        };
        let agent = self.store.team().agents().change(id, change).await.map_err(agent_problem)?;
        Ok((StatusCode::OK, agent_json(&agent)))
    }

    async fn set_passkey(&self, id: &str, head: &Parts, body: RequestBody) -> Result<(StatusCode, Value), Problem> {
        let PasskeyBody { passkey: wanted } = read(head, body, BODY_BYTES).await?;
        let passkey = passkey(wanted)?;
        let hash = hashed(&passkey).await?;
        match self.store.team().credentials().set(id, &hash, now()).await.map_err(trouble)? {
            true => Ok((StatusCode::OK, json!({"id": id, "passkey": passkey.expose()}))),
            false => Err(nothing()),
        }
    }

    async fn assign(&self, agent: &str, project: &str, wanted: bool) -> Result<(StatusCode, Value), Problem> {
        let assignments = self.store.team().assignments();
        let changed = match wanted {
            true => match assignments.assign(agent, project, now()).await {
                Ok(_) => true,
                Err(AssignFault::Unknown { .. }) => return Err(nothing()),
                Err(AssignFault::Store(fault)) => return Err(trouble(fault)),
            },
            false => assignments.unassign(agent, project, now()).await.map_err(trouble)?,
        };
        if !changed {
            return Err(nothing());
        }
        Ok((StatusCode::OK, json!({"agent": agent, "project": project, "assigned": wanted})))
    }

    async fn list_projects(&self, head: &Parts) -> Result<(StatusCode, Value), Problem> {
        let page = self.store.team().projects().list(&paging(head)?).await.map_err(trouble)?;
        Ok((StatusCode::OK, listed("projects", &page, project_json)))
    }

    async fn add_project(&self, head: &Parts, body: RequestBody) -> Result<(StatusCode, Value), Problem> {
        let body: ProjectBody = read(head, body, BODY_BYTES).await?;
        let id = body.id.ok_or_else(|| wrong("a project needs an id"))?;
        if body.status.is_some() {
            return Err(wrong("a project is added as active; change its status afterwards"));
        }
        let project = NewProject {
            name: body.name.unwrap_or_else(|| id.clone()),
            id,
            working_directory: body.working_directory.flatten(),
            created_at: now(),
        };
        let project = self.store.team().projects().add(project).await.map_err(trouble)?;
        Ok((StatusCode::CREATED, project_json(&project)))
    }

    async fn project(&self, id: &str) -> Result<(StatusCode, Value), Problem> {
        let team = self.store.team();
        let project = team.projects().get(id).await.map_err(trouble)?.ok_or_else(nothing)?;
        let assigned = team.assignments().of_project(id).await.map_err(trouble)?;
        Ok((StatusCode::OK, project_with_agents(&project, &assigned)))
    }

    async fn change_project(&self, id: &str, head: &Parts, body: RequestBody) -> Result<(StatusCode, Value), Problem> {
        let body: ProjectBody = read(head, body, BODY_BYTES).await?;
        if body.id.is_some() {
            return Err(wrong("a project's id stays"));
        }
        let change = ProjectChange {
            name: body.name,
            status: word(body.status, "status", ProjectStatus::parse, "active, paused, archived")?,
            working_directory: body.working_directory,
        };
        let changed = self.store.team().projects().change(id, change).await.map_err(trouble)?;
        Ok((StatusCode::OK, project_json(&changed.ok_or_else(nothing)?)))
    }
}

fn hierarchy(given: Option<String>) -> Result<Option<Hierarchy>, Problem> {
    word(given, "hierarchy", Hierarchy::parse, "manager, worker")
}

fn word<T>(
    given: Option<String>,
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    known: &str,
) -> Result<Option<T>, Problem> {
    let read = |text: String| parse(&text).ok_or_else(|| wrong(format!("{name} must be one of: {known}")));
    given.map(read).transpose()
}

fn passkey(wanted: Option<String>) -> Result<Passkey, Problem> {
    match wanted {
        Some(wanted) => Passkey::new(&wanted).map_err(|bad| wrong(bad.to_string())),
        None => Passkey::random().map_err(trouble),
    }
}

async fn hashed(passkey: &Passkey) -> Result<String, Problem> {
    let passkey = passkey.clone();
    let hash = tokio::task::spawn_blocking(move || passkey.hash()).await;
    hash.map_err(|_| unavailable())?.map_err(trouble)
}

fn paging(head: &Parts) -> Result<Paging, Problem> {
    let mut paging = first_page();
    for (name, value) in members(head.uri.query().unwrap_or_default()) {
        if !paged(&mut paging, name, value)? {
            return Err(wrong("a list takes limit and after"));
        }
    }
    Ok(paging)
}

fn nothing() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "unknown",
        "there is nothing at this address",
        "list /api/v1/agents or /api/v1/projects",
    )
}

fn wrong(message: impl Into<String>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_request", message, "see docs/team.md")
}

fn unavailable() -> Problem {
    let message = "the team's records can't be reached now";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message, "try again, and look at the log if it stays")
}

fn agent_problem(fault: AgentFault) -> Problem {
    let message = fault.to_string();
    match fault {
        AgentFault::Store(fault) => trouble(fault),
        AgentFault::Unknown { .. } => nothing(),
        AgentFault::Taken { .. } => Problem::new(StatusCode::CONFLICT, "taken", message, "choose another id"),
        AgentFault::UnknownParent { .. } | AgentFault::Circle { .. } => wrong(message),
    }
}

fn trouble(fault: StoreError) -> Problem {
    match fault {
        StoreError::Invalid { .. } => wrong(fault.to_string()),
        StoreError::Duplicate { .. } => {
            Problem::new(StatusCode::CONFLICT, "taken", fault.to_string(), "choose another id")
        }
        fault => {
            tracing::error!(%fault, "the team's records can't be reached");
            unavailable()
        }
    }
}
