//! Asks what the tools of a team ask, and says what an answer costs.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use toolgate_store::team::{TaskFilter, TaskStatus, Team, TeamTasks};
use toolgate_store::{KnowledgeRepository, Mark, Paging, Store, StoreError};

use super::{BUSY, PROJECT, Size, name, own_word};

/// What is asked.
#[derive(Clone, Copy)]
pub(super) enum Question {
    List,
    Deep,
    Waiting,
    /// What `get_next_action` looks at in a chat session.
    Poll,
    /// What `get_pending_messages` reads.
    Pending,
    PendingBusy,
    /// What `search_knowledge` finds, among as many texts as there are tasks.
    Search,
}

pub(super) const QUESTIONS: [(&str, Question); 7] = [
    ("list of open tasks", Question::List),
    ("the same, from the middle", Question::Deep),
    ("what waits for an agent", Question::Waiting),
    ("a poll's look", Question::Poll),
    ("pending messages", Question::Pending),
    ("pending messages of who has most", Question::PendingBusy),
    ("search for a word of one text", Question::Search),
];

/// A store of one size.
pub(super) struct Filled {
    pub(super) size: Size,
    pub(super) store: Store,
    team: Team,
    tasks: TeamTasks,
    knowledge: KnowledgeRepository,
}

/// What some questions, asked one after the other, took.
pub(super) struct Spell {
    pub(super) each: Vec<Duration>,
    pub(super) cpu: Duration,
    pub(super) steps: u64,
}

impl Filled {
    pub(super) fn new(size: Size, store: Store) -> Result<Self, StoreError> {
        let (team, knowledge) = (store.team(), store.knowledge(None)?);
        let tasks = team.tasks(PROJECT)?;
        Ok(Self { size, store, team, tasks, knowledge })
    }

    pub(super) async fn spell(&self, question: Question, numbers: std::ops::Range<usize>) -> Result<Spell, StoreError> {
        let mut each = Vec::with_capacity(numbers.len());
        let (steps, cpu) = (self.store.steps().unwrap_or_default(), cpu_time());
        for number in numbers {
            let start = Instant::now();
            self.ask(question, number).await?;
            each.push(start.elapsed());
        }
        let (steps, cpu) = (self.store.steps().unwrap_or_default() - steps, cpu_time().saturating_sub(cpu));
        Ok(Spell { each, cpu, steps })
    }

    async fn ask(&self, question: Question, number: usize) -> Result<(), StoreError> {
        // a number that shares no factor with the agents': each is asked in its turn
        let number = number * 7_919;
        let someone = name(number % self.size.agents);
        let open = TaskFilter { status: Some(TaskStatus::Todo), assignee: None };
        match question {
            Question::List => self.tasks.list(&open, &Paging { limit: 50, after: None }).await.map(drop),
            Question::Deep => {
                let middle = i64::try_from(self.size.tasks / 2).unwrap_or(i64::MAX);
                let after = Some(Mark { at: middle, id: String::new() });
                self.tasks.list(&open, &Paging { limit: 50, after }).await.map(drop)
            }
            Question::Waiting => self.team.waiting(&someone, PROJECT).await.map(drop),
            Question::Poll => self.poll(&someone).await,
            Question::Pending => self.pending(&someone).await,
            Question::PendingBusy => self.pending(&name(BUSY)).await,
            Question::Search => self.knowledge.search(&[own_word(number % self.size.tasks)], 1).await.map(drop),
        }
    }

    async fn poll(&self, agent: &str) -> Result<(), StoreError> {
        self.team.desk(PROJECT, agent).state().await?;
        self.team.conversations(PROJECT, agent).open().await?;
        self.team.delegations(PROJECT, agent).open().await.map(drop)
    }

    async fn pending(&self, agent: &str) -> Result<(), StoreError> {
        let desk = self.team.desk(PROJECT, agent);
        let state = desk.state().await?;
        desk.pending(state.read, 10).await?;
        desk.history(state.received, 20).await.map(drop)
    }
}

/// Of this process, all threads.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}
