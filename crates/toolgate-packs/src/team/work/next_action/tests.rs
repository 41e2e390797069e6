//! Situations and what they lead to, as a table.

use toolgate_store::team::{
    Conversation, ConversationState, Delegation, DelegationStatus, Parts, TaskApproval, TaskPriority, TaskStatus,
    TeamTask,
};

use super::{
    action::Standing,
    chat::{self, ChatSituation, Choice},
    task::{self, TaskSituation},
};

fn task(creator: &str) -> TeamTask {
    TeamTask {
        id: "t1".into(),
        title: "paint".into(),
        description: String::new(),
        status: TaskStatus::InProgress,
        priority: TaskPriority::Medium,
        assignee: Some("ann".into()),
        created_by: creator.into(),
        parent: None,
        result: None,
        summary: None,
        next_steps: None,
        changed_by: "boss".into(),
        changed_at: 0,
        blocked_reason: None,
        requester: None,
        approval: TaskApproval::Approved,
        created_at: 0,
    }
}

fn situation(manager: bool, parts: Parts) -> TaskSituation {
    TaskSituation { manager, task: Some(task("boss")), fetched: true, parts, ..TaskSituation::default() }
}

const NONE: Parts = Parts {
    any: false,
    unassigned: false,
    with_others: false,
    to_start: false,
    own: false,
    blocked: false,
    handled: false,
};
const SOME: Parts = Parts { any: true, ..NONE };

#[test]
fn what_a_worker_does_with_its_task() {
    let worker = |parts| situation(false, parts);
    let part = Some(task("ann"));
    let table = [
        ("exit", TaskSituation { task: None, ..worker(NONE) }),
        ("get_task", TaskSituation { fetched: false, ..worker(NONE) }),
        ("create_subtasks", worker(NONE)),
        ("work", TaskSituation { task: Some(task("ann")), ..worker(NONE) }),
        ("start_subtask", TaskSituation { startable: part.clone(), ..worker(Parts { own: true, ..SOME }) }),
        (
            "execute_subtask",
            TaskSituation { at_work: part.clone(), startable: part, ..worker(Parts { own: true, ..SOME }) },
        ),
        ("review_and_resolve_blocks", worker(Parts { blocked: true, own: true, ..SOME })),
        ("dependency_deadlock", worker(Parts { own: true, ..SOME })),
        ("report_completion", worker(SOME)),
    ];
    for (action, situation) in table {
        assert_eq!(task::decide(&situation).action, action, "{situation:?}");
    }
}

#[test]
fn what_a_manager_does_with_its_task() {
    let manager = |parts| situation(true, parts);
    let table = [
        ("create_subtasks", manager(NONE)),
        ("block_subtask", manager(Parts { unassigned: true, ..SOME })),
        ("situational_awareness", TaskSituation { has_workers: true, ..manager(Parts { unassigned: true, ..SOME }) }),
        ("situational_awareness", manager(Parts { with_others: true, ..SOME })),
        ("situational_awareness", manager(Parts { with_others: true, handled: true, ..SOME })),
        ("review_and_resolve_blocks", manager(Parts { with_others: true, blocked: true, ..SOME })),
        ("review_and_resolve_blocks", manager(Parts { handled: true, ..SOME })),
        ("completion_check", manager(SOME)),
    ];
    for (action, situation) in table {
        assert_eq!(task::decide(&situation).action, action, "{situation:?}");
    }
}

#[test]
fn a_session_that_is_to_end_and_a_model_that_is_not_known_come_first() {
    let leaving = Standing { terminating: true, unreported: true, ..Standing::default() };
    let unknown = Standing { unreported: true, ..Standing::default() };
    let over = Standing { ended: true, ..Standing::default() };
    for (standing, action) in [(over, "exit"), (leaving, "exit"), (unknown, "report_model")] {
        assert_eq!(task::decide(&TaskSituation { standing, ..situation(false, NONE) }).action, action);
        let said = chat::decide(&ChatSituation { standing, unread: true, ..ChatSituation::default() });
        assert!(matches!(said, Choice::Say(said) if said.action == action));
    }
}

#[test]
fn whose_session_is_over_is_not_told_to_log_out() {
    let standing = Standing { ended: true, ..Standing::default() };
    let Choice::Say(said) = chat::decide(&ChatSituation { standing, ..ChatSituation::default() }) else { panic!() };
    let told = [toolgate_core::Lang::En, toolgate_core::Lang::Ja].map(|lang| said.clone().said(lang).to_string());
    assert!(told.iter().all(|told| !told.contains("logout")), "{told:?}");
}

fn talk(initiator: &str, state: ConversationState, last_at: i64) -> Conversation {
    Conversation {
        id: "c1".into(),
        initiator: initiator.into(),
        participant: if initiator == "ann" { "bob".into() } else { "ann".into() },
        purpose: None,
        task: None,
        state,
        turns: 1,
        max_turns: 10,
        created_at: last_at,
        last_at,
        ended_by: None,
    }
}

fn delegation(status: DelegationStatus) -> Delegation {
    Delegation {
        id: "d1".into(),
        task: None,
        target: "bob".into(),
        purpose: "ask".into(),
        context: None,
        status,
        result: None,
        created_at: 0,
        taken_at: None,
    }
}

/// The word of a choice.
fn chosen(situation: &ChatSituation) -> &'static str {
    match chat::decide(situation) {
        Choice::Say(action) => action.action,
        Choice::Accept(_) => "accept",
        Choice::Tell(_) => "tell",
        Choice::Take(_) => "take",
        Choice::Wait(action) => action.action,
    }
}

#[test]
fn what_an_agent_in_a_chat_session_does() {
    use ConversationState::{Active, Expired, Pending, Terminating};
    let quiet = ChatSituation { agent: "ann".into(), now: 1_000, ..ChatSituation::default() };
    let with = |talk: Conversation| ChatSituation { conversations: vec![talk], ..quiet.clone() };
    let asked = |status| ChatSituation { delegations: vec![delegation(status)], ..quiet.clone() };
    let table = [
        ("wait_for_messages", quiet.clone()),
        ("logout", ChatSituation { idle: true, ..quiet.clone() }),
        ("get_pending_messages", ChatSituation { unread: true, idle: true, ..quiet.clone() }),
        ("accept", ChatSituation { unread: true, ..with(talk("bob", Pending, 900)) }),
        ("wait_for_messages", with(talk("ann", Pending, 900))),
        ("wait_for_messages", with(talk("bob", Active, 900))),
        ("tell", with(talk("bob", Terminating, 900))),
        ("tell", with(talk("ann", Expired, 900))),
        ("tell", ChatSituation { now: 10_000_000, ..with(talk("bob", Pending, 900)) }),
        ("tell", ChatSituation { now: 10_000_000, ..with(talk("ann", Active, 900)) }),
        ("take", asked(DelegationStatus::Pending)),
        ("take", ChatSituation { unread: true, ..asked(DelegationStatus::Pending) }),
        ("report_delegation_completed", asked(DelegationStatus::Processing)),
        (
            "wait_for_messages",
            ChatSituation { conversations: vec![talk("ann", Pending, 900)], ..asked(DelegationStatus::Processing) },
        ),
    ];
    for (action, situation) in table {
        assert_eq!(chosen(&situation), action, "{situation:?}");
    }
}
