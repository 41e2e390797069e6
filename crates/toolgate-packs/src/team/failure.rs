//! Every way a team tool fails: one shape, in the caller's language.

use serde_json::{Map, Value};
use toolgate_core::Lang;
use toolgate_spine::{ArgumentFault, OUTCOME_UNKNOWN, ToolAnswer};
use toolgate_store::StoreError;

use crate::failure::MAY_BE_DONE;

/// A text for people, in each language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    en: String,
    ja: String,
}

impl Text {
    pub(super) fn new(en: impl Into<String>, ja: impl Into<String>) -> Self {
        Self { en: en.into(), ja: ja.into() }
    }

    pub(super) fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Ja => &self.ja,
        }
    }
}

/// `{success: false, error, code, …}`. The code never changes; the error is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    code: &'static str,
    error: Text,
    more: Vec<(&'static str, Value)>,
    /// Read only once the language is known.
    texts: Vec<(&'static str, Text)>,
}

impl Failure {
    pub(super) fn new(code: &'static str, en: impl Into<String>, ja: impl Into<String>) -> Self {
        Self { code, error: Text::new(en, ja), more: Vec::new(), texts: Vec::new() }
    }

    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((key, value.into()));
        self
    }

    pub(super) fn with_text(mut self, key: &'static str, en: &str, ja: &str) -> Self {
        self.texts.push((key, Text::new(en, ja)));
        self
    }

    pub(super) fn agent_not_found(id: &str) -> Self {
        Self::new("agent_not_found", format!("Agent not found: {id}"), format!("エージェントが見つかりません: {id}"))
    }

    pub(super) fn project_not_found(id: &str) -> Self {
        Self::new(
            "project_not_found",
            format!("Project not found: {id}"),
            format!("プロジェクトが見つかりません: {id}"),
        )
    }

    /// The caller speaks as an agent that has no live session: a token of the operator's, most likely.
    pub(super) fn no_session() -> Self {
        Self::new(
            "no_session",
            "There is no live session of this agent. Call authenticate first.",
            "このエージェントの有効なセッションがありません。先にauthenticateを呼び出してください。",
        )
    }

    pub(super) fn internal() -> Self {
        Self::new("internal", "Something went wrong. Try again.", "エラーが発生しました。もう一度お試しください。")
    }

    /// What the schema refused. Names where, never with which value.
    pub(super) fn of_arguments(fault: &ArgumentFault) -> Self {
        let at = match &fault.property {
            Some(property) if fault.keyword == "required" => format!("'{property}' is missing"),
            Some(property) => format!("'{property}' is not expected"),
            None if fault.path.is_empty() => "they must be an object as the tool's schema has it".to_owned(),
            None => format!("'{}' does not fit ({})", fault.path.trim_start_matches('/'), fault.keyword),
        };
        Self::new("invalid_arguments", format!("Invalid arguments: {at}"), format!("引数が正しくありません: {at}"))
    }

    pub(super) fn into_answer(self, lang: Lang) -> ToolAnswer {
        let mut content = Map::new();
        content.insert("success".to_owned(), false.into());
        content.insert("error".to_owned(), self.error.get(lang).into());
        content.insert("code".to_owned(), self.code.into());
        for (key, value) in self.more {
            content.insert(key.to_owned(), value);
        }
        for (key, text) in &self.texts {
            content.insert((*key).to_owned(), text.get(lang).into());
        }
        let content = Value::Object(content);
        let answer = ToolAnswer::failure(&content, &content.to_string());
        if self.code == OUTCOME_UNKNOWN { answer.of_unknown_outcome() } else { answer }
    }
}

/// The store's own words go to the log, not to the caller.
impl From<StoreError> for Failure {
    fn from(fault: StoreError) -> Self {
        if matches!(fault, StoreError::Invalid { .. }) {
            return Self::new(
                "invalid_arguments",
                "Invalid arguments: a text is empty, too long, or holds a zero byte",
                "引数が正しくありません: 空、長すぎる、またはゼロバイトを含む文字列があります",
            );
        }
        tracing::error!(target: "toolgate::team", %fault, "the store failed");
        if fault.is_outcome_unknown() {
            return Self::new(
                OUTCOME_UNKNOWN,
                MAY_BE_DONE,
                "実行されたかどうか不明です: ストアが時間内に応答しませんでした。再試行する前に確認してください。",
            );
        }
        Self::internal()
    }
}
