//! The workspace pack: what tasks leave for each other. Results and artifacts stay within a process, knowledge spans them.

mod artifacts;
mod config;
mod desk;
mod facts;
mod knowledge;
mod results;
mod summarizer;
mod summary;
mod templates;

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::Store;

use crate::{
    definitions::{BadPack, compact, offers},
    failure::{Failure, short},
    terms,
    whole_numbers::read_arguments,
};
pub use config::{WorkspaceConfig, WorkspaceProblem};
pub(crate) use desk::Desk;
use summarizer::Summarizer;
use templates::Templates;

const DEFINITIONS: &str = include_str!("tools.json");
/// A longer text is found by its beginning: what one of the engines can hold.
const MOST_TERMS: usize = 10_000;

/// The pack's tools, without the store that running them takes.
pub fn offered(open: bool) -> Result<Vec<ToolOffer>, BadPack> {
    offers("pack 'workspace'", &compact(DEFINITIONS), |tool| facts::facts(tool, open))
}

pub struct WorkspacePack {
    store: Store,
    templates: Templates,
    summarizer: Summarizer,
    offers: Vec<ToolOffer>,
}

impl WorkspacePack {
    pub fn new(store: Store, config: &WorkspaceConfig) -> Result<Self, WorkspaceProblem> {
        let templates = Templates::of(config.templates.clone())?;
        let summarizer = Summarizer::of(&config.summarizer);
        Ok(Self { store, templates, summarizer, offers: offered(config.open)? })
    }

    async fn answer(&self, call: &Recorded) -> Result<ToolAnswer, Failure> {
        let desk = Desk::of(&self.store, call);
        let given = call.arguments();
        match call.tool().own_name.as_str() {
            "write_result" => results::write(&desk, &self.summarizer, read(given)?).await,
            "load_result" => results::load(&desk, read(given)?).await,
            "read_result_summary" => results::summary(&desk, read(given)?).await,
            "write_artifact" => artifacts::write(&desk, read(given)?).await,
            "load_artifact" => artifacts::load(&desk, read(given)?).await,
            "list_artifacts" => artifacts::list(&desk, read(given)?).await,
            "list_artifact_templates" => self.templates.list().await,
            "load_artifact_template" => self.templates.load(read(given)?).await,
            "write_knowledge" => knowledge::write(&desk, read(given)?).await,
            "get_knowledge" => knowledge::get(&desk, read(given)?).await,
            "view_knowledge_history" => knowledge::history(&desk, read(given)?).await,
            _ => knowledge::search(&desk, read(given)?).await,
        }
    }
}

#[async_trait]
impl ToolSource for WorkspacePack {
    fn name(&self) -> &str {
        "workspace"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        Ok(self.answer(&call).await.unwrap_or_else(Failure::into_answer))
    }

    fn word(&self, _tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        let format = fault.arguments.get("format").and_then(|format| format.as_str());
        let failure = match (fault.path.as_str(), fault.keyword.as_str(), format) {
            ("/format", "enum", Some(format)) => artifacts::no_format(format),
            _ => Failure::of_arguments(fault),
        };
        Some(failure.into_answer())
    }
}

/// The schema has seen them before.
pub(crate) fn read<T: DeserializeOwned>(arguments: &RawValue) -> Result<T, Failure> {
    read_arguments(arguments.get())
        .map_err(|fault| Failure::invalid(format!("Invalid arguments: {}.", short(&fault.to_string()))))
}

pub(crate) fn answered(value: &impl Serialize) -> Result<ToolAnswer, Failure> {
    ToolAnswer::structured(value, false).map_err(|fault| Failure::internal(fault.to_string()))
}

/// What a text is found by, its title first.
fn found_by(title: &str, text: &str) -> Vec<String> {
    let mut terms = terms::stored(title);
    terms.extend(terms::stored(text));
    terms.truncate(MOST_TERMS);
    terms
}
