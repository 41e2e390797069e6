//! The vault pack: a folder of documents, its text, configured databases, an event log, and questions to the gate.
//!
//! Tools call use cases; use cases ask the live vault, which keeps the folder, the store and the text in step.

mod changing;
mod config;
mod cursor;
mod databases;
mod dates;
mod events;
mod facts;
mod failure;
mod folder;
mod ids;
mod kinds;
mod live;
mod names;
mod passages;
mod policy;
mod reading;
mod scan;
mod suggest;
mod text;
mod tree;
mod undoing;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::Tool;
use toolgate_spine::{ArgumentFault, Previewed, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::Store;

use crate::definitions::{BadPack, compact, offers};
use crate::whole_numbers::read_arguments;
use changing::{Done, Plan};
use databases::Databases;
use failure::Failure;
use folder::Folder;
use live::Live;
use reading::Answer;
use undoing::{Stays, Undo};

pub use config::{DatabaseConfig, VaultConfig, VaultProblem};

const DEFINITIONS: &str = include_str!("tools.json");

/// The pack's tools, without the store and the folder that running them takes.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    offers("pack 'vault'", &compact(DEFINITIONS), facts::facts)
}

/// Finds out, without serving, that the vault's folder is there and can be opened.
pub fn check(config: &VaultConfig) -> Result<(), VaultProblem> {
    open(config).map(drop)
}

fn open(config: &VaultConfig) -> Result<Folder, VaultProblem> {
    let unusable = |fault: std::io::Error| VaultProblem::Folder {
        path: config.root.display().to_string(),
        reason: fault.to_string(),
    };
    Folder::open(&config.root).map_err(unusable)
}

pub struct VaultPack {
    store: Store,
    vault: Live,
    databases: Databases,
    offers: Vec<ToolOffer>,
}

impl VaultPack {
    /// Opens the folder; what is in it is looked at when it is first asked for.
    pub fn new(store: Store, config: &VaultConfig) -> Result<Self, VaultProblem> {
        let folder = open(config)?;
        let memory = store.vault(&config.name)?;
        let vault = Live::new(folder, memory, config);
        Ok(Self { store, vault, databases: Databases::new(config), offers: offered()? })
    }

    async fn answer(&self, call: &Recorded) -> Result<ToolAnswer, Failure> {
        let (vault, tool, arguments) = (&self.vault, call.tool().own_name.as_str(), call.arguments());
        // the gate keeps dry runs from getting here; should one ever, it still changes nothing
        if is_dry(arguments)
            && let Some(answer) = self.shown(tool, arguments).await?
        {
            return written(answer);
        }
        match tool {
            "vault.list" => written(reading::list(vault, read(arguments)?).await?),
            "vault.search" => written(reading::search(vault, read(arguments)?).await?),
            "vault.get" => written(reading::get(vault, read(arguments)?).await?),
            "vault.suggest_name" => written(suggest::suggest(vault, read(arguments)?).await?),
            "vault.move" => changed(changing::move_to(vault, read(arguments)?).await?),
            "vault.rename" => changed(changing::rename(vault, read(arguments)?).await?),
            "vault.copy" => changed(changing::copy(vault, read(arguments)?).await?),
            "rag.retrieve" => written(reading::retrieve(vault, read(arguments)?).await?),
            "db.query" => written(self.databases.query(read(arguments)?).await?),
            "events.log" => {
                let answer = written(events::log(&self.store, call.caller(), read(arguments)?).await?)?;
                Ok(answer.never_undone("The event log only grows."))
            }
            "policy.evaluate" => written(policy::evaluate(call, read(arguments)?)?),
            _ => Err(Failure::not_found("The vault has no such tool.")),
        }
    }

    /// What a change would change; `None` for tools that change nothing here.
    async fn shown(&self, tool: &str, arguments: &RawValue) -> Result<Option<Answer>, Failure> {
        if !matches!(tool, "vault.move" | "vault.rename" | "vault.copy") {
            return Ok(None);
        }
        let tree = self.vault.look().await?;
        Ok(Some(match tool {
            "vault.move" => Plan::moving(&tree, &read(arguments)?)?.shown_move(&tree),
            "vault.rename" => Plan::renaming(&tree, &read(arguments)?)?.shown_rename(&tree),
            _ => Plan::copying(&tree, &read(arguments)?)?.shown_copy(&tree),
        }))
    }
}

#[async_trait]
impl ToolSource for VaultPack {
    fn name(&self) -> &str {
        "vault"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        Ok(self.answer(&call).await.unwrap_or_else(Failure::into_answer))
    }

    async fn preview(&self, call: &Previewed) -> Result<Option<ToolAnswer>, SourceFault> {
        let shown = self.shown(call.tool().own_name.as_str(), call.arguments()).await;
        let answer = shown.and_then(|answer| answer.map(written).transpose());
        Ok(answer.unwrap_or_else(|failure| Some(failure.into_answer())))
    }

    async fn undo(&self, call: Recorded, undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        let unreadable = |fault| SourceFault::Conflict(format!("what takes it back can't be read: {fault}"));
        let undo: Undo = serde_json::from_str(undo.get()).map_err(unreadable)?;
        match undoing::undo(&self.vault, call.tool().own_name.as_str(), undo).await {
            Ok(done) => Ok(changed(done).unwrap_or_else(Failure::into_answer)),
            Err(Stays::Conflict(why)) => Err(SourceFault::Conflict(why)),
            Err(Stays::Failure(failure)) => Err(SourceFault::unavailable(failure.error)),
        }
    }

    fn word(&self, _tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        Some(Failure::of_arguments(fault).into_answer())
    }
}

fn read<T: DeserializeOwned>(arguments: &RawValue) -> Result<T, Failure> {
    read_arguments(arguments.get()).map_err(|fault| Failure::invalid(format!("Invalid arguments: {fault}.")))
}

fn is_dry(arguments: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Dry {
        #[serde(default)]
        dry_run: Option<bool>,
    }
    serde_json::from_str::<Dry>(arguments.get()).is_ok_and(|dry| dry.dry_run == Some(true))
}

fn written(Answer { content, meta, note }: Answer) -> Result<ToolAnswer, Failure> {
    let unwritten = |_| Failure::internal("The answer can't be written.");
    let answer = match note {
        Some(note) => ToolAnswer::structured_with_note(&content, &content.to_string(), &note),
        None => ToolAnswer::structured(&content, false),
    };
    let answer = answer.map_err(unwritten)?;
    match meta {
        Some((key, value)) => Ok(answer.with_meta(key, &to_raw_value(&value).map_err(unwritten)?)),
        None => Ok(answer),
    }
}

fn changed(Done { content, undo }: Done) -> Result<ToolAnswer, Failure> {
    let unwritten = |_| Failure::internal("The answer can't be written.");
    let answer = written(Answer { content, meta: None, note: None })?;
    match undo {
        Some(undo) => Ok(answer.undone_by(to_raw_value(&undo).map_err(unwritten)?)),
        None => Ok(answer.never_undone("Nothing is left to take back.")),
    }
}
