//! The todo pack: five tools over one user's task list.
//!
//! Tools call use cases, use cases call a repository made for one user. Nothing is kept between calls.

mod failure;
mod task_page;
mod task_undo;
mod use_cases;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use toolgate_core::{
    Facts, Tool,
    tool::{Binding, Effect, Example, WhenDenied},
};
use toolgate_spine::{ArgumentFault, Recorded, SourceFault, ToolAnswer, ToolOffer, ToolSource};
use toolgate_store::Store;

use crate::definitions::{BadPack, compact, offers};
use crate::whole_numbers::whole;
use failure::Failure;
use use_cases::{Done, Status};

const DEFINITIONS: &str = include_str!("tools.json");

/// The pack's tools, without the store that running them takes.
pub fn offered() -> Result<Vec<ToolOffer>, BadPack> {
    offers("pack 'todo'", &compact(DEFINITIONS), facts)
}

pub struct TodoPack {
    store: Store,
    offers: Vec<ToolOffer>,
}

impl TodoPack {
    pub fn new(store: Store) -> Result<Self, BadPack> {
        Ok(Self { store, offers: offered()? })
    }
}

fn facts(tool: &str) -> Facts {
    let (effect, example, description) = match tool {
        "add_task" => {
            (Effect::Write, r#"{"title":"Buy milk","description":"Two litres"}"#, "ユーザーの新しいタスクを作成します")
        }
        "list_tasks" => (Effect::Read, r#"{"status":"pending"}"#, "ユーザーのタスクを取得します（状態で絞り込み可能）"),
        "complete_task" => (Effect::Write, r#"{"task_id":42}"#, "タスクを完了にします"),
        "delete_task" => (Effect::Write, r#"{"task_id":42}"#, "タスクを完全に削除します"),
        _ => (Effect::Write, r#"{"task_id":42,"title":"Buy oat milk"}"#, "タスクのタイトルまたは説明を変更します"),
    };
    Facts {
        effect,
        when_denied: WhenDenied::Explained,
        help_names: true,
        group: Some("todo".to_owned()),
        bind: [("user_id".to_owned(), Binding::User)].into(),
        example: Some(Example(example.to_owned())),
        descriptions: [("ja".to_owned(), description.to_owned())].into(),
        ..Facts::default()
    }
}

/// Arguments of all five tools; which are there, the schema has checked.
#[derive(Deserialize)]
struct Arguments {
    user_id: String,
    title: Option<String>,
    description: Option<String>,
    status: Option<Status>,
    task_id: Option<Value>,
    /// Of a list that did not fit in one result: only tasks older than this one.
    before: Option<Value>,
    limit: Option<Value>,
}

#[async_trait]
impl ToolSource for TodoPack {
    fn name(&self) -> &str {
        "todo"
    }

    fn tools(&self) -> Vec<ToolOffer> {
        self.offers.clone()
    }

    async fn run(&self, call: Recorded) -> Result<ToolAnswer, SourceFault> {
        let tool = call.tool().own_name.as_str();
        let answer = match serde_json::from_str::<Arguments>(call.arguments().get()) {
            Ok(arguments) => self.answer(tool, arguments, call.result_bytes()).await,
            Err(fault) => Err(Failure::validation(format!("Invalid arguments: {fault}"))),
        };
        Ok(answer.unwrap_or_else(|failure| failure.into_answer()))
    }

    async fn undo(&self, _call: Recorded, undo: &RawValue) -> Result<ToolAnswer, SourceFault> {
        task_undo::undo(&self.store, undo).await
    }

    fn word(&self, _tool: &Tool, fault: &ArgumentFault) -> Option<ToolAnswer> {
        Some(Failure::of_arguments(fault).into_answer())
    }
}

impl TodoPack {
    async fn answer(&self, tool: &str, arguments: Arguments, most: u64) -> Result<ToolAnswer, Failure> {
        let repository = self.store.todo(&arguments.user_id).map_err(|fault| Failure::store(tool, &fault))?;
        let Arguments { user_id, title, description, status, task_id, before, limit } = arguments;
        if tool == "list_tasks" {
            let before = before.map(|before| id(Some(before))).transpose()?;
            let limit = limit.as_ref().map(page_limit).transpose()?;
            let tasks = use_cases::list_tasks(&repository, status.unwrap_or_default(), before).await?;
            return task_page::answer(&tasks, limit, most);
        }
        let (title, description) = (title.as_deref(), description.as_deref());
        let Done { answer, change } = match tool {
            "add_task" => use_cases::add_task(&repository, title, description).await,
            "complete_task" => use_cases::complete_task(&repository, id(task_id)?).await,
            "delete_task" => use_cases::delete_task(&repository, id(task_id)?).await,
            _ => use_cases::update_task(&repository, id(task_id)?, title, description).await,
        }?;
        let answer = ToolAnswer::structured(&answer, false).map_err(|_| Failure::internal(tool))?;
        Ok(change.undoable(&user_id, answer))
    }
}

fn page_limit(given: &Value) -> Result<usize, Failure> {
    let limit = whole(given).filter(|limit| *limit > 0).and_then(|limit| usize::try_from(limit).ok());
    limit.ok_or_else(Failure::invalid_limit)
}

/// A task's id is a positive integer.
fn id(given: Option<Value>) -> Result<i64, Failure> {
    given.as_ref().and_then(whole).filter(|id| *id > 0).ok_or_else(Failure::invalid_id)
}
