//! A project with a manager, two workers under it and somebody else, for the tests of a team's work.

use toolgate_store::{
    Store,
    team::{
        AgentType, Hierarchy, NewAgent, NewProject, NewTeamTask, StatusChange, TaskApproval, TaskFault, TaskPriority,
        TaskStatus, Team, TeamTask, TeamTasks,
    },
};

use crate::bed::Bed;

pub(crate) struct Stage {
    pub(crate) store: Store,
    pub(crate) tasks: TeamTasks,
}

pub(crate) async fn agent(team: &Team, id: &str, parent: Option<&str>, most: u32) {
    let agent = NewAgent {
        id: id.into(),
        name: id.to_uppercase(),
        role: String::new(),
        agent_type: AgentType::Ai,
        hierarchy: if parent.is_some() { Hierarchy::Worker } else { Hierarchy::Manager },
        parent: parent.map(str::to_owned),
        max_parallel_tasks: most,
        capabilities: vec![],
        system_prompt: None,
        provider: None,
        model_id: None,
        owner: None,
        created_at: 1,
    };
    team.agents().add(agent).await.unwrap();
}

impl Stage {
    pub(crate) async fn new(bed: &Bed) -> Self {
        let store = bed.open().await;
        let team = store.team();
        for project in ["p", "q"] {
            let new = NewProject { id: project.into(), name: project.into(), working_directory: None, created_at: 1 };
            team.projects().add(new).await.unwrap();
        }
        for (id, parent) in [("boss", None), ("ann", Some("boss")), ("bob", Some("boss")), ("other", None)] {
            agent(&team, id, parent, 1).await;
            for project in ["p", "q"] {
                team.assignments().assign(id, project, 1).await.unwrap();
            }
        }
        let tasks = team.tasks("p").unwrap();
        Self { store, tasks }
    }

    pub(crate) fn team(&self) -> Team {
        self.store.team()
    }

    pub(crate) async fn add(&self, new: NewTeamTask) -> TeamTask {
        self.tasks.create(&[new], None, 10).await.unwrap().remove(0)
    }

    /// A task that an agent has, on its way.
    pub(crate) async fn task(&self, assignee: &str) -> TeamTask {
        self.add(NewTeamTask { assignee: Some(assignee.into()), ..task() }).await
    }

    pub(crate) async fn set(&self, task: &TeamTask, to: TaskStatus) -> Result<TeamTask, TaskFault> {
        self.tasks.change(&task.id, &change(to, "boss"), 20).await
    }

    pub(crate) async fn status(&self, task: &TeamTask) -> TaskStatus {
        self.tasks.get(&task.id).await.unwrap().unwrap().status
    }
}

pub(crate) fn task() -> NewTeamTask {
    NewTeamTask {
        id: TeamTasks::new_id().unwrap(),
        title: "paint".into(),
        description: "the door".into(),
        status: TaskStatus::Todo,
        priority: TaskPriority::Medium,
        assignee: None,
        created_by: "boss".into(),
        parent: None,
        needs: vec![],
        requester: None,
        approval: TaskApproval::Approved,
    }
}

pub(crate) fn below(parent: &TeamTask, assignee: Option<&str>) -> NewTeamTask {
    NewTeamTask { parent: Some(parent.id.clone()), assignee: assignee.map(str::to_owned), ..task() }
}

pub(crate) fn change(to: TaskStatus, by: &str) -> StatusChange {
    StatusChange { to, by: by.into(), reason: None, report: None }
}
