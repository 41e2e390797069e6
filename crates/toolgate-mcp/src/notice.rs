//! The notice to a client whose credential was not accepted. It would otherwise see the tools of an anonymous caller and not
//! learn why: lists have no place for a message. The notice is in the instructions, in the description of `help`, and at
//! the beginning of the answer of `help`.

use std::time::Duration;

use bytes::Bytes;
use indexmap::IndexMap;
use serde_json::{Value, json, value::RawValue};
use toolgate_core::{Kind, Lang, Tool};

use crate::{identity::Credentials, wire::Inner};

/// The longest that an answer waits for the notice alone.
const TIMEOUT: Duration = Duration::from_secs(1);

impl Inner {
    /// The notice for a request that is answered to anybody. A caller that can't be identified now gets none.
    pub(crate) async fn notice(&self, credentials: Credentials<'_>, lang: Lang) -> Option<String> {
        let is_sent =
            credentials.bearer.is_some() || credentials.meta_token.is_some() || credentials.params_token.is_some();
        if !is_sent {
            return None;
        }
        let identified = tokio::time::timeout(TIMEOUT, self.identify.identify(credentials)).await.ok()?.ok()?;
        identified.rejected.map(|rejection| rejection.notice(lang))
    }

    /// A page of tools with the notice in the description of `help`, where the page has that tool.
    pub(crate) fn with_notice_in_list(&self, items: Bytes, notice: &str) -> Bytes {
        let gate = self.spine.gate();
        let help = gate.catalog().tools().find(|tool| is_help(tool));
        help.and_then(|help| described(&items, help.wire_name.as_str(), notice)).unwrap_or(items)
    }

    /// The answer of the tool `name`, with the notice before it if that is `help`.
    pub(crate) fn with_notice_in_answer(&self, name: &str, result: Bytes, notice: &str) -> Bytes {
        let gate = self.spine.gate();
        let is_help = gate.catalog().find(name).is_some_and(|tool| is_help(tool));
        if is_help { preceded(&result, notice).unwrap_or(result) } else { result }
    }
}

fn is_help(tool: &Tool) -> bool {
    tool.kind == Kind::Tool && &*tool.source == "gate" && tool.own_name.as_str() == "help"
}

fn described(items: &[u8], name: &str, notice: &str) -> Option<Bytes> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    let tools: Vec<&RawValue> = serde_json::from_slice(items).ok()?;
    let is_named = |tool: &&RawValue| serde_json::from_str(tool.get()).is_ok_and(|found: Named| found.name == name);
    let place = tools.iter().position(is_named)?;
    let mut definition: IndexMap<String, Value> = serde_json::from_str(tools.get(place)?.get()).ok()?;
    let own = definition.get("description").and_then(Value::as_str).unwrap_or_default();
    definition.insert("description".to_owned(), json!(format!("{notice} {own}")));
    let definition = serde_json::value::to_raw_value(&definition).ok()?;
    let tools = tools.into_iter().enumerate().map(|(index, tool)| if index == place { &*definition } else { tool });
    serde_json::to_vec(&tools.collect::<Vec<_>>()).ok().map(Bytes::from)
}

fn preceded(result: &[u8], notice: &str) -> Option<Bytes> {
    let mut result: IndexMap<String, Value> = serde_json::from_slice(result).ok()?;
    result.get_mut("content")?.as_array_mut()?.insert(0, json!({"type": "text", "text": notice}));
    if let Some(structured) = result.get_mut("structuredContent").and_then(Value::as_object_mut) {
        structured.insert("notice".to_owned(), json!(notice));
    }
    serde_json::to_vec(&result).ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_description_of_the_tool_that_is_named_changes() {
        let page = r#"[{"name":"a","description":"help","n":1.50},{"name":"help","description":"Lists."}]"#;
        let changed = described(page.as_bytes(), "help", "Refused.").unwrap();
        assert_eq!(
            std::str::from_utf8(&changed).unwrap(),
            r#"[{"name":"a","description":"help","n":1.50},{"name":"help","description":"Refused. Lists."}]"#
        );
        assert_eq!(described(b"[]", "help", "Refused."), None);
    }

    #[test]
    fn an_answer_begins_with_the_notice_as_text_and_has_it_as_data() {
        let answer = br#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}"#;
        let changed: Value = serde_json::from_slice(&preceded(answer, "Refused.").unwrap()).unwrap();
        assert_eq!(changed["content"][0]["text"], "Refused.");
        assert_eq!(changed["content"][1]["text"], "{}");
        assert_eq!(changed["structuredContent"]["notice"], "Refused.");
    }
}
