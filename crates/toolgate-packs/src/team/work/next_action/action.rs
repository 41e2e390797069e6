//! What an agent is told to do.

use serde_json::{Map, Value};
use toolgate_core::Lang;

use crate::team::failure::Text;

/// `{action, instruction, state, …}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) action: &'static str,
    pub(super) state: &'static str,
    instruction: Text,
    more: Map<String, Value>,
}

impl Action {
    pub(super) fn new(action: &'static str, state: &'static str, en: impl Into<String>, ja: impl Into<String>) -> Self {
        Self { action, state, instruction: Text::new(en, ja), more: Map::new() }
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.more.insert(key.to_owned(), value);
        }
        self
    }

    pub(super) fn said(self, lang: Lang) -> Value {
        let mut said = Map::new();
        said.insert("action".to_owned(), self.action.into());
        said.insert("instruction".to_owned(), self.instruction.get(lang).into());
        said.insert("state".to_owned(), self.state.into());
        said.extend(self.more);
        Value::Object(said)
    }
}

/// What comes before anything else, whatever the session is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// The session is over: there is nothing left to log out of.
    pub(super) ended: bool,
    /// The session is to end.
    pub(super) terminating: bool,
    /// The agent has not said which model it is.
    pub(super) unreported: bool,
}

pub(super) fn first_of_all(standing: Standing) -> Option<Action> {
    if standing.ended {
        return Some(Action::new(
            "exit",
            "terminating",
            "The session has ended. Exit.",
            "セッションは終了しました。プロセスを終了してください。",
        ));
    }
    if standing.terminating {
        return Some(Action::new(
            "exit",
            "terminating",
            "The session is to end. Call logout and exit.",
            "セッションを終了します。logoutを呼び出し、プロセスを終了してください。",
        ));
    }
    standing.unreported.then(|| {
        Action::new(
            "report_model",
            "needs_model_verification",
            "Call report_model with your provider and model, then get_next_action again.",
            "report_modelでプロバイダーとモデルを報告し、再度get_next_actionを呼び出してください。",
        )
    })
}
