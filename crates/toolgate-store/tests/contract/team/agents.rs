use toolgate_store::{
    Paging, StoreError,
    team::{Agent, AgentChange, AgentFault, AgentStatus, AgentType, Hierarchy, NewAgent, ProjectChange, ProjectStatus},
};

use super::{agent, project, under};
use crate::bed::Bed;

fn moved(parent: Option<&str>) -> AgentChange {
    AgentChange { parent: Some(parent.map(str::to_owned)), ..AgentChange::default() }
}

on_both! {
    async fn an_agent_is_kept_as_it_was_added_and_changed(bed: Bed) {
        let agents = bed.open().await.team().agents();
        let added = agents.add(agent("a")).await.unwrap();
        let expected = Agent {
            id: "a".into(),
            name: "Agent a".into(),
            role: "does things".into(),
            agent_type: AgentType::Ai,
            hierarchy: Hierarchy::Worker,
            parent: None,
            max_parallel_tasks: 1,
            capabilities: vec!["rust".into()],
            system_prompt: None,
            provider: None,
            model_id: None,
            status: AgentStatus::Active,
            owner: None,
            created_at: 5,
        };
        assert_eq!(added, expected);
        assert_eq!(agents.get("a").await, Ok(Some(expected.clone())));
        assert_eq!(agents.get("A").await, Ok(None));
        assert_eq!(agents.add(agent("a")).await, Err(AgentFault::Taken { id: "a".into() }));

        let change = AgentChange {
            hierarchy: Some(Hierarchy::Manager),
            status: Some(AgentStatus::Suspended),
            system_prompt: Some(Some("Be brief.".into())),
            capabilities: Some(vec![]),
            owner: Some(Some("ann".into())),
            ..AgentChange::default()
        };
        let changed = Agent {
            hierarchy: Hierarchy::Manager,
            status: AgentStatus::Suspended,
            system_prompt: Some("Be brief.".into()),
            capabilities: vec![],
            owner: Some("ann".into()),
            ..expected
        };
        assert_eq!(agents.change("a", change).await, Ok(changed.clone()));
        let cleared = AgentChange { owner: Some(None), ..AgentChange::default() };
        assert_eq!(agents.change("a", cleared).await, Ok(Agent { owner: None, ..changed }));
        assert_eq!(agents.change("b", AgentChange::default()).await, Err(AgentFault::Unknown { id: "b".into() }));
    }

    async fn ids_that_could_not_stand_in_an_address_are_refused(bed: Bed) {
        let team = bed.open().await.team();
        for bad in ["", "a b", "a/b", "ü", "a\0", "coordinator", &"x".repeat(129)] {
            let refused = team.agents().add(agent(bad)).await;
            assert!(matches!(refused, Err(AgentFault::Store(StoreError::Invalid { .. }))), "{bad:?}: {refused:?}");
            let refused = team.projects().add(project(bad)).await;
            assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{bad:?}: {refused:?}");
        }
        team.agents().add(agent("a-1_b.c:d@e")).await.unwrap();
    }

    async fn nobody_stands_under_themselves(bed: Bed) {
        let agents = bed.open().await.team().agents();
        agents.add(agent("top")).await.unwrap();
        agents.add(under("middle", "top")).await.unwrap();
        agents.add(under("bottom", "middle")).await.unwrap();
        let unknown = agents.add(under("x", "nobody")).await;
        assert_eq!(unknown, Err(AgentFault::UnknownParent { parent: "nobody".into() }));
        assert_eq!(agents.get("x").await, Ok(None));

        let circle = |id: &str, parent: &str| Err(AgentFault::Circle { id: id.into(), parent: parent.into() });
        assert_eq!(agents.change("top", moved(Some("bottom"))).await, circle("top", "bottom"));
        assert_eq!(agents.change("top", moved(Some("top"))).await, circle("top", "top"));
        let gone = agents.change("top", moved(Some("nobody"))).await;
        assert_eq!(gone, Err(AgentFault::UnknownParent { parent: "nobody".into() }));

        assert_eq!(agents.is_above("top", "bottom").await, Ok(true));
        assert_eq!(agents.is_above("bottom", "top").await, Ok(false));
        assert_eq!(agents.is_above("top", "top").await, Ok(false));
        let mut above: Vec<String> = agents.above("bottom").await.unwrap().into_iter().map(|agent| agent.id).collect();
        above.sort();
        assert_eq!(above, ["middle", "top"]);
        assert_eq!(agents.under("top").await.unwrap().len(), 1);

        agents.change("bottom", moved(None)).await.unwrap();
        agents.change("top", moved(Some("bottom"))).await.unwrap();
        assert_eq!(agents.is_above("bottom", "middle").await, Ok(true));
    }

    async fn two_moves_at_once_make_no_circle_either(bed: Bed) {
        let store = bed.open().await;
        let agents = store.team().agents();
        for round in 0..8 {
            let (one, other) = (format!("one{round}"), format!("other{round}"));
            agents.add(agent(&one)).await.unwrap();
            agents.add(agent(&other)).await.unwrap();
            let (first, second) = (store.team().agents(), store.team().agents());
            let (a, b) = tokio::join!(first.change(&one, moved(Some(&other))), second.change(&other, moved(Some(&one))));
            assert_eq!([a.is_ok(), b.is_ok()].iter().filter(|ok| **ok).count(), 1, "{a:?} {b:?}");
        }
    }

    async fn lists_come_in_pages_and_name_who_may_work(bed: Bed) {
        let team = bed.open().await.team();
        for (number, id) in ["a", "b", "c"].into_iter().enumerate() {
            let created_at = i64::try_from(number).unwrap();
            team.agents().add(NewAgent { created_at, ..agent(id) }).await.unwrap();
        }
        team.agents().add(NewAgent { agent_type: AgentType::Human, created_at: 9, ..agent("ann") }).await.unwrap();
        let asleep = AgentChange { status: Some(AgentStatus::Inactive), ..AgentChange::default() };
        team.agents().change("b", asleep).await.unwrap();
        assert_eq!(team.agents().working().await.unwrap(), ["a", "c"]);
        assert_eq!(team.agents().count().await, Ok(4));

        let first = team.agents().list(&Paging { limit: 3, after: None }).await.unwrap();
        let ids = |agents: &[Agent]| agents.iter().map(|agent| agent.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&first.items), ["ann", "c", "b"]);
        let rest = team.agents().list(&Paging { limit: 3, after: first.next }).await.unwrap();
        assert_eq!((ids(&rest.items), rest.next), (vec!["a".to_owned()], None));
    }

    async fn a_project_is_kept_as_it_was_added_and_changed(bed: Bed) {
        let projects = bed.open().await.team().projects();
        let added = projects.add(project("p")).await.unwrap();
        assert_eq!(added.status, ProjectStatus::Active);
        assert_eq!(projects.add(project("p")).await, Err(StoreError::Duplicate { operation: "add a project" }));
        let change = ProjectChange {
            status: Some(ProjectStatus::Paused),
            working_directory: Some(Some("/srv/p".into())),
            ..ProjectChange::default()
        };
        let changed = projects.change("p", change).await.unwrap().unwrap();
        assert_eq!((changed.status, changed.working_directory.as_deref()), (ProjectStatus::Paused, Some("/srv/p")));
        assert_eq!(projects.get("p").await, Ok(Some(changed)));
        assert_eq!(projects.change("q", ProjectChange::default()).await, Ok(None));
        assert_eq!(projects.count().await, Ok(1));
        assert_eq!(projects.list(&Paging::default()).await.unwrap().items.len(), 1);
    }
}
