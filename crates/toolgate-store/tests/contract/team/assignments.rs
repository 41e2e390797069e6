use toolgate_store::team::{AgentChange, AgentStatus, AssignFault, ProjectChange, ProjectStatus};

use super::{agent, project, staffed};
use crate::bed::Bed;

on_both! {
    async fn an_agent_works_where_it_was_assigned(bed: Bed) {
        let store = bed.open().await;
        let assignments = store.team().assignments();
        staffed(&store).await;
        let first = assignments.get("a", "p").await.unwrap().unwrap();
        assert_eq!((first.assigned_at, first.spawn_started_at), (6, None));
        assert_eq!(assignments.assign("a", "p", 99).await, Ok(first.clone()), "twice changes nothing");
        let unknown = |agent: &str, project: &str| {
            Err(AssignFault::Unknown { agent: agent.to_owned(), project: project.to_owned() })
        };
        assert_eq!(assignments.assign("a", "q", 7).await, unknown("a", "q"));
        assert_eq!(assignments.assign("b", "p", 7).await, unknown("b", "p"));
        assert_eq!(assignments.of_agent("a").await, Ok(vec![first.clone()]));
        assert_eq!(assignments.of_project("p").await, Ok(vec![first]));
        assert_eq!(assignments.unassign("a", "p", 8).await, Ok(true));
        assert_eq!(assignments.unassign("a", "p", 8).await, Ok(false));
        assert_eq!(assignments.get("a", "p").await, Ok(None));
    }

    async fn only_active_agents_in_active_projects_are_staff(bed: Bed) {
        let store = bed.open().await;
        let team = store.team();
        staffed(&store).await;
        team.agents().add(agent("b")).await.unwrap();
        team.projects().add(project("q")).await.unwrap();
        for (agent, project) in [("b", "p"), ("b", "q")] {
            team.assignments().assign(agent, project, 7).await.unwrap();
        }
        let staff = async |agent: Option<&str>| {
            let staffed = team.assignments().staffed(agent).await.unwrap();
            staffed.into_iter().map(|staffed| format!("{} {}", staffed.project, staffed.agent)).collect::<Vec<_>>()
        };
        assert_eq!(staff(None).await, ["p a", "p b", "q b"]);
        assert_eq!(staff(Some("a")).await, ["p a"]);
        let paused = ProjectChange { status: Some(ProjectStatus::Paused), ..ProjectChange::default() };
        team.projects().change("q", paused).await.unwrap();
        assert_eq!(staff(None).await, ["p a", "p b"]);
        let gone = AgentChange { status: Some(AgentStatus::Archived), ..AgentChange::default() };
        team.agents().change("b", gone).await.unwrap();
        assert_eq!(staff(None).await, ["p a"]);
    }

    async fn a_process_is_asked_for_once_in_two_minutes(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        staffed(&here).await;
        let (first, second) = (here.team().assignments(), there.team().assignments());
        let (one, other) = tokio::join!(first.start_spawn("a", "p", 1000), second.start_spawn("a", "p", 1000));
        assert_eq!([one, other].iter().filter(|started| **started == Ok(true)).count(), 1);
        let marked = first.get("a", "p").await.unwrap().unwrap();
        assert!(marked.is_spawning(1000) && marked.is_spawning(120_999) && !marked.is_spawning(121_000));
        assert_eq!(second.start_spawn("a", "p", 120_999).await, Ok(false));
        assert_eq!(second.start_spawn("a", "p", 121_000).await, Ok(true));
        assert_eq!(first.end_spawn("a", "p").await, Ok(true));
        assert_eq!(first.end_spawn("a", "p").await, Ok(false));
        assert_eq!(second.start_spawn("a", "p", 121_001).await, Ok(true));
        assert_eq!(second.start_spawn("a", "q", 121_001).await, Ok(false), "nobody is there to be started");
    }
}
