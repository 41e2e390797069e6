use toolgate_store::{
    Store,
    team::{
        AgentChange, AgentStatus, CHAT_IDLE, Hierarchy, NewSession, ProjectChange, ProjectStatus, Purpose,
        SESSION_LASTS, SessionState, SessionToken,
    },
};

use super::{staffed, under};
use crate::bed::Bed;

fn session(token: u8, agent: &str, purpose: Purpose) -> NewSession {
    let task = (purpose == Purpose::Task).then(|| "t1".to_owned());
    NewSession { token_hash: [token; 32], agent: agent.into(), project: "p".into(), purpose, task }
}

async fn is_live(store: &Store, token: u8, now: i64) -> bool {
    store.team().sessions().by_token(&[token; 32], now).await.unwrap().is_some()
}

on_both! {
    async fn a_session_is_found_by_its_token_until_it_ends(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        staffed(&here).await;
        let opened = here.team().sessions().open(session(1, "a", Purpose::Task), 10).await.unwrap().unwrap();
        assert_eq!((opened.agent.as_str(), opened.project.as_str()), ("a", "p"));
        assert_eq!((opened.purpose, opened.task.as_deref()), (Purpose::Task, Some("t1")));
        assert_eq!((opened.state, opened.hierarchy), (SessionState::Active, Hierarchy::Worker));
        assert_eq!((opened.expires_at, opened.ends_at()), (10 + SESSION_LASTS, 10 + SESSION_LASTS));
        let sessions = there.team().sessions();
        assert_eq!(sessions.by_token(&[1; 32], 11).await, Ok(Some(opened.clone())));
        assert_eq!(sessions.by_token(&[2; 32], 11).await, Ok(None));
        assert_eq!(sessions.live("a", "p", Purpose::Task, 11).await, Ok(Some(opened.clone())));
        assert_eq!(sessions.live("a", "p", Purpose::Chat, 11).await, Ok(None));

        assert_eq!(sessions.terminate(&opened.id).await, Ok(true));
        assert_eq!(sessions.terminate(&opened.id).await, Ok(false));
        assert_eq!(sessions.by_token(&[1; 32], 11).await.unwrap().unwrap().state, SessionState::Terminating);
        assert_eq!(sessions.end(&opened.id, 12).await, Ok(true));
        assert_eq!(sessions.end(&opened.id, 12).await, Ok(false));
        assert_eq!(sessions.terminate(&opened.id).await, Ok(false), "none leads back");
        assert!(!is_live(&here, 1, 12).await);
    }

    async fn an_agent_is_at_work_while_it_is_active_and_in_the_project(bed: Bed) {
        let store = bed.open().await;
        staffed(&store).await;
        let agents = store.team().agents();
        let at_work = async |project: Option<&str>| agents.is_at_work("a", project).await.unwrap();
        assert_eq!((at_work(None).await, at_work(Some("p")).await), (Some(true), Some(true)));
        assert_eq!(at_work(Some("nowhere")).await, Some(false));
        assert_eq!(agents.is_at_work("nobody", None).await, Ok(None));
        let archive = |status| ProjectChange { status: Some(status), ..ProjectChange::default() };
        store.team().projects().change("p", archive(ProjectStatus::Archived)).await.unwrap();
        assert_eq!((at_work(None).await, at_work(Some("p")).await), (Some(true), Some(false)));
        store.team().projects().change("p", archive(ProjectStatus::Active)).await.unwrap();
        let status = |status| AgentChange { status: Some(status), ..AgentChange::default() };
        agents.change("a", status(AgentStatus::Suspended)).await.unwrap();
        assert_eq!((at_work(None).await, at_work(Some("p")).await), (Some(false), Some(false)));
        agents.change("a", status(AgentStatus::Active)).await.unwrap();
        store.team().assignments().unassign("a", "p", 1).await.unwrap();
        assert_eq!((at_work(None).await, at_work(Some("p")).await), (Some(true), Some(false)));
    }

    async fn there_is_one_session_of_each_purpose(bed: Bed) {
        let store = bed.open().await;
        staffed(&store).await;
        let sessions = store.team().sessions();
        assert!(sessions.open(session(1, "a", Purpose::Task), 10).await.unwrap().is_some());
        assert_eq!(sessions.open(session(2, "a", Purpose::Task), 11).await, Ok(None));
        let chat = sessions.open(session(3, "a", Purpose::Chat), 11).await.unwrap().unwrap();
        assert_eq!(chat.task, None);
        assert_eq!(sessions.of_pair("a", "p", 12).await.unwrap().len(), 2);
        assert!(is_live(&store, 1, 12).await && !is_live(&store, 2, 12).await);
        assert_eq!(sessions.end_pair("a", "p", 13).await, Ok(2));
        assert!(sessions.open(session(4, "a", Purpose::Task), 14).await.unwrap().is_some());
    }

    async fn of_many_who_sign_in_at_once_one_gets_the_session(bed: Bed) {
        let (here, there) = (bed.open().await, bed.open().await);
        staffed(&here).await;
        let tries: Vec<_> = (0..16)
            .map(|number| {
                let store = if number % 2 == 0 { here.clone() } else { there.clone() };
                tokio::spawn(async move {
                    store.team().sessions().open(session(number, "a", Purpose::Chat), 10).await.unwrap().is_some()
                })
            })
            .collect();
        let mut opened = 0;
        for attempt in tries {
            opened += usize::from(attempt.await.unwrap());
        }
        assert_eq!(opened, 1);
    }

    async fn a_session_ends_after_an_hour_and_chat_when_nothing_happens(bed: Bed) {
        let store = bed.open().await;
        staffed(&store).await;
        let sessions = store.team().sessions();
        sessions.open(session(1, "a", Purpose::Task), 0).await.unwrap().unwrap();
        assert!(is_live(&store, 1, SESSION_LASTS - 1).await && !is_live(&store, 1, SESSION_LASTS).await);
        assert!(sessions.open(session(2, "a", Purpose::Task), SESSION_LASTS).await.unwrap().is_some(), "a new one");

        sessions.open(session(3, "a", Purpose::Chat), 0).await.unwrap().unwrap();
        assert!(is_live(&store, 3, CHAT_IDLE - 1).await && !is_live(&store, 3, CHAT_IDLE).await);
        sessions.touch("a", "p", Purpose::Chat, CHAT_IDLE - 1).await.unwrap();
        let touched = sessions.by_token(&[3; 32], CHAT_IDLE).await.unwrap().unwrap();
        assert_eq!(touched.ends_at(), 2 * CHAT_IDLE - 1);
        // what is over stays over
        sessions.touch("a", "p", Purpose::Chat, 2 * CHAT_IDLE).await.unwrap();
        assert!(!is_live(&store, 3, 2 * CHAT_IDLE).await);
        assert!(sessions.open(session(4, "a", Purpose::Chat), 2 * CHAT_IDLE).await.unwrap().is_some());
    }

    async fn a_session_counts_only_while_its_agent_and_project_do(bed: Bed) {
        let store = bed.open().await;
        let team = store.team();
        staffed(&store).await;
        team.sessions().open(session(1, "a", Purpose::Task), 10).await.unwrap().unwrap();
        let status = |status| AgentChange { status: Some(status), ..AgentChange::default() };
        team.agents().change("a", status(AgentStatus::Suspended)).await.unwrap();
        assert!(!is_live(&store, 1, 11).await);
        team.agents().change("a", status(AgentStatus::Active)).await.unwrap();
        assert!(is_live(&store, 1, 11).await);
        let project = |status| ProjectChange { status: Some(status), ..ProjectChange::default() };
        team.projects().change("p", project(ProjectStatus::Archived)).await.unwrap();
        assert!(!is_live(&store, 1, 11).await);
        team.projects().change("p", project(ProjectStatus::Paused)).await.unwrap();
        assert!(is_live(&store, 1, 11).await);
        team.agents().change("a", AgentChange { hierarchy: Some(Hierarchy::Manager), ..AgentChange::default() }).await.unwrap();
        let found = team.sessions().by_token(&[1; 32], 11).await.unwrap().unwrap();
        assert_eq!(found.hierarchy, Hierarchy::Manager, "as the agent is now");
        team.assignments().unassign("a", "p", 12).await.unwrap();
        assert!(!is_live(&store, 1, 12).await);
        assert_eq!(team.sessions().open(session(2, "a", Purpose::Task), 13).await, Ok(None), "not in the project");
    }

    async fn a_model_is_noted_and_a_manager_sees_who_works_under_it(bed: Bed) {
        let store = bed.open().await;
        let team = store.team();
        staffed(&store).await;
        team.agents().add(under("b", "a")).await.unwrap();
        team.assignments().assign("b", "p", 7).await.unwrap();
        assert_eq!(team.sessions().is_anyone_under_at_work("a", "p", 8).await, Ok(false));
        team.sessions().open(session(1, "b", Purpose::Chat), 8).await.unwrap().unwrap();
        assert_eq!(team.sessions().is_anyone_under_at_work("a", "p", 9).await, Ok(false), "chat is no task");
        let opened = team.sessions().open(session(2, "b", Purpose::Task), 9).await.unwrap().unwrap();
        assert_eq!(team.sessions().is_anyone_under_at_work("a", "p", 10).await, Ok(true));
        assert_eq!(opened.model_verified, None);
        assert_eq!(team.sessions().report_model(&opened.id, "anthropic", "m", false).await, Ok(true));
        let found = team.sessions().by_token(&[2; 32], 11).await.unwrap().unwrap();
        assert_eq!(found.reported_provider.as_deref(), Some("anthropic"));
        assert_eq!((found.reported_model.as_deref(), found.model_verified), (Some("m"), Some(false)));
    }
}

#[test]
fn a_token_has_its_mark_and_is_known_by_its_hash_alone() {
    let (token, other) = (SessionToken::fresh().unwrap(), SessionToken::fresh().unwrap());
    assert!(token.expose().starts_with("sess_") && token.expose().len() == 37, "{}", token.expose());
    assert_ne!(token.expose(), other.expose());
    assert_eq!(SessionToken::hash_of(token.expose()), token.hash());
    assert!(!format!("{token:?}").contains(token.expose()));
}
