//! The process pack: what an orchestrator sees of its process and decides about it. For tasks that orchestrate alone.

mod changes;
mod deciding;
mod facts;
mod repository;
mod state;
mod worktree;

use async_trait::async_trait;
use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::Store;

use self::worktree::Worktrees;
use crate::{
    definitions::{BadPack, compact, offers},
    failure::Failure,
    workspace::{Desk, read},
};

const DEFINITIONS: &str = include_str!("tools.json");

/// The pack's tools, without the store that running them takes.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    offers("pack 'process'", &compact(DEFINITIONS), facts::facts)
}

pub struct ProcessPack {
    store: Store,
    offers: Vec<ToolOffer>,
    worktrees: Worktrees,
}

impl ProcessPack {
    pub fn new(store: Store) -> Result<Self, BadPack> {
        Ok(Self { store, offers: offered()?, worktrees: Worktrees::default() })
    }

    async fn answer(&self, call: &Recorded) -> Result<ToolAnswer, Failure> {
        let task = Desk::of(&self.store, call).task()?;
        let given = call.arguments();
        match call.tool().own_name.as_str() {
            "get_process_state" => state::show(&self.store, task).await,
            "set_process_decision" => deciding::decide(&self.store, task, read(given)?).await,
            "get_git_diff" => changes::diff(&self.store, &self.worktrees, task, read(given)?).await,
            "get_commit_log" => changes::log(&self.store, &self.worktrees, task, read(given)?).await,
            _ => deciding::inject(&self.store, task, read(given)?).await,
        }
    }
}

#[async_trait]
impl ToolSource for ProcessPack {
    fn name(&self) -> &str {
        "process"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        Ok(self.answer(&call).await.unwrap_or_else(Failure::into_answer))
    }

    fn word(&self, tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        let failure = deciding::word(tool.own_name.as_str(), fault).unwrap_or_else(|| Failure::of_arguments(fault));
        Some(failure.into_answer())
    }
}
