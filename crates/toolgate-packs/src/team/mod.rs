//! The team pack: agents that sign in for a task or for chat, and work together in projects.
//!
//! `people` has the tools of signing in and of the coordinator; `work` those of tasks, messages and conversations. Who may
//! use which is the rulebook's to say; here is only what a row says: whose it is, and what state it is in.

mod clock;
mod facts;
mod failure;
mod people;
mod work;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgate_core::{Tool, caller};
use toolgate_spine::{ArgumentFault, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::{
    Store,
    team::{Agent, AgentSession, Purpose},
};

use crate::definitions::{BadPack, compact, offers};
use crate::whole_numbers::read_arguments;
use failure::Failure;

pub use clock::Clock;

const PEOPLE: &str = include_str!("people.json");
const WORK: &str = include_str!("work.json");

/// What the operator may set about the pack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamConfig {
    /// List the tools to everybody, marked where the caller can't call them: for clients whose only place for a session
    /// is an argument.
    pub advertise: bool,
}

/// The pack's tools, without the store that running them takes.
pub fn offered(config: TeamConfig) -> Result<Vec<ToolOffer>, BadPack> {
    let mut all = offers("pack 'team'", &compact(PEOPLE), people::facts)?;
    all.extend(offers("pack 'team'", &compact(WORK), work::facts)?);
    for offer in &mut all {
        offer.facts.advertised = config.advertise;
    }
    Ok(all)
}

pub struct TeamPack {
    store: Store,
    clock: Clock,
    passkeys: people::Passkeys,
    offers: Vec<ToolOffer>,
}

impl TeamPack {
    pub fn new(store: Store, config: TeamConfig) -> Result<Self, BadPack> {
        Ok(Self { store, clock: Clock::default(), passkeys: people::Passkeys::default(), offers: offered(config)? })
    }

    /// With another clock than the machine's.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    fn now(&self) -> i64 {
        self.clock.now()
    }

    /// The agent that calls, as the store knows it.
    async fn me(&self, call: &Recorded) -> Result<Agent, Failure> {
        let agent = call.caller().agent.as_ref().ok_or_else(Failure::no_session)?;
        self.store.team().agents().get(&agent.id).await?.ok_or_else(Failure::no_session)
    }

    /// The live session that calls. There is one of each purpose at the most, so that what the caller says of itself names it.
    async fn session(&self, call: &Recorded) -> Result<AgentSession, Failure> {
        let (agent, project, purpose) = seat(call).ok_or_else(Failure::no_session)?;
        let live = self.store.team().sessions().live(agent, project, purpose, self.now()).await?;
        live.ok_or_else(Failure::no_session)
    }

    async fn answer(&self, call: &Recorded) -> Result<ToolAnswer, Failure> {
        // looking for something to do is not doing something
        if call.tool().own_name.as_str() != "get_next_action"
            && let Some((agent, project, purpose)) = seat(call)
        {
            self.store.team().sessions().touch(agent, project, purpose, self.now()).await?;
        }
        match Box::pin(people::run(self, call)).await {
            Some(answer) => answer,
            None => match work::run(self, call) {
                Some(answering) => answering.await,
                None => Err(Failure::internal()),
            },
        }
    }
}

/// Agent, project and purpose of a caller that is in a session.
fn seat(call: &Recorded) -> Option<(&str, &str, Purpose)> {
    let agent = call.caller().agent.as_ref()?;
    let purpose = match agent.purpose? {
        caller::Purpose::Task => Purpose::Task,
        caller::Purpose::Chat => Purpose::Chat,
    };
    Some((&agent.id, agent.project.as_deref()?, purpose))
}

/// The arguments of a call; that they fit, the schema has checked.
fn arguments<T: DeserializeOwned>(call: &Recorded) -> Result<T, Failure> {
    read_arguments(call.arguments().get()).map_err(|fault: serde_json::Error| {
        // the fault may repeat a value
        tracing::error!(target: "toolgate::team", tool = %call.tool().name, line = fault.line(), "arguments do not fit");
        Failure::internal()
    })
}

fn said(content: &Value) -> Result<ToolAnswer, Failure> {
    ToolAnswer::structured(content, false).map_err(|_| Failure::internal())
}

#[async_trait]
impl ToolSource for TeamPack {
    fn name(&self) -> &str {
        "team"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        Ok(self.answer(&call).await.unwrap_or_else(|failure| failure.into_answer(call.lang())))
    }

    fn word(&self, tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        let failure = work::word(tool, fault).unwrap_or_else(|| Failure::of_arguments(fault));
        Some(failure.into_answer(fault.lang))
    }

    /// A plan is kept as it was proposed, and no passkey is.
    fn plannable(&self, tool: &Tool) -> bool {
        tool.own_name.as_str() != "authenticate"
    }
}
