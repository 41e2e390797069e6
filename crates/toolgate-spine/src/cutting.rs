//! The beginning of a result that is too large, with a note for the model and a link to the whole.

use bytes::Bytes;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use toolgate_core::{Caller, Kind, Tool, tool::WhenTooLarge};

use crate::{
    House, Spine, ToolAnswer,
    results::{self, KEPT_FOR},
};

type RawObject = IndexMap<String, Box<RawValue>>;

/// Whether an answer is too large for its tool, and is to be cut for that.
pub(crate) fn is_to_be_cut(house: &House, tool: &Tool, answer: &ToolAnswer) -> bool {
    tool.kind == Kind::Tool
        && tool.facts.limits.result == WhenTooLarge::Cut
        && answer.len() as u64 > house.result_bytes(tool)
}

impl Spine {
    /// The beginning of an answer, once the whole is kept. What can't be cut or kept stays too large, and is refused.
    pub(crate) async fn cut(&self, house: &House, tool: &Tool, caller: &Caller, answer: ToolAnswer) -> ToolAnswer {
        let whole = answer.bytes();
        // nothing is kept of what turns out to be no result
        let (Some(books), Some(read)) = (&self.books, Whole::read(whole)) else { return answer };
        let Some(address) = results::keep(&books.store, caller, whole).await else { return answer };
        let most = usize::try_from(house.result_bytes(tool)).unwrap_or(usize::MAX);
        match read.cut(most, (whole.len(), &address, tool.wire_name.as_str())) {
            Some(cut) => answer.with_bytes(cut),
            None => answer,
        }
    }
}

/// A result in parts.
pub(crate) struct Whole {
    content: Vec<Box<RawValue>>,
    has_structure: bool,
    is_error: Option<Box<RawValue>>,
    meta: RawObject,
}

impl Whole {
    pub(crate) fn read(result: &[u8]) -> Option<Self> {
        let mut members: RawObject = serde_json::from_slice(result).ok()?;
        let content = members.shift_remove("content")?;
        let meta = members.shift_remove("_meta");
        Some(Self {
            content: serde_json::from_str(content.get()).ok()?,
            has_structure: members.contains_key("structuredContent"),
            is_error: members.shift_remove("isError"),
            meta: meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default(),
        })
    }

    /// Blocks from the first on, the last of them shortened if it is text; then the note and the link.
    pub(crate) fn cut(self, most: usize, (bytes, address, tool): (usize, &str, &str)) -> Option<Bytes> {
        let minutes = KEPT_FOR.as_secs() / 60;
        let structure = if self.has_structure { " Structured content is left out." } else { "" };
        let note = format!(
            "[Cut: the result of '{tool}' has {bytes} bytes, and {most} are let through.{structure} \
             The whole is the resource {address} for {minutes} minutes.]"
        );
        let note = to_raw_value(&json!({"type": "text", "text": note})).ok()?;
        let link = to_raw_value(&json!({
            "type": "resource_link", "uri": address, "name": format!("Whole result of {tool}"),
            "mimeType": "application/json", "size": bytes,
        }))
        .ok()?;
        let mut room = most.saturating_sub(note.get().len() + link.get().len() + ROUND_ABOUT);
        let mut meta = self.meta;
        if size(&meta) > room / 4 {
            meta.clear();
        }
        room = room.saturating_sub(size(&meta));
        let mut content = Vec::new();
        for block in self.content {
            if block.get().len() < room {
                room -= block.get().len() + 1;
                content.push(block);
                continue;
            }
            content.extend(shortened(&block, room));
            break;
        }
        content.extend([note, link]);
        meta.insert(
            "toolgate/cut".to_owned(),
            to_raw_value(&json!({"bytes": bytes, "limit": most, "uri": address})).ok()?,
        );
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Cut {
            content: Vec<Box<RawValue>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            is_error: Option<Box<RawValue>>,
            #[serde(rename = "_meta")]
            meta: RawObject,
        }
        serde_json::to_vec(&Cut { content, is_error: self.is_error, meta }).ok().map(Bytes::from)
    }
}

/// What stands around the blocks: brackets, names, and what `_meta` says of the cut.
const ROUND_ABOUT: usize = 256;
/// What stands around a block's text.
const AROUND_TEXT: usize = 32;

fn size(members: &RawObject) -> usize {
    members.iter().map(|(name, value)| name.len() + value.get().len() + 4).sum()
}

/// A block of text that takes no more than so many bytes; `None` for any other, and where nothing would be left.
fn shortened(block: &RawValue, room: usize) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Block {
        r#type: String,
        text: String,
    }
    let block: Block = serde_json::from_str(block.get()).ok()?;
    let room = room.checked_sub(AROUND_TEXT).filter(|_| block.r#type == "text")?;
    let mut taken = 0;
    let end = block.text.char_indices().find_map(|(at, letter)| {
        taken += written(letter);
        (taken > room).then_some(at)
    });
    let text = block.text.get(..end.unwrap_or(block.text.len())).filter(|text| !text.is_empty())?;
    to_raw_value(&json!({"type": "text", "text": text})).ok()
}

/// Bytes of a character in JSON.
fn written(letter: char) -> usize {
    match letter {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        letter if letter.is_ascii_control() => 6,
        letter => letter.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn cut(result: &Value, most: usize) -> Value {
        let text = result.to_string();
        let cut = Whole::read(text.as_bytes()).unwrap().cut(most, (text.len(), "toolgate://results/1", "say")).unwrap();
        assert!(cut.len() <= most.max(800), "{} bytes of {most}", cut.len());
        serde_json::from_slice(&cut).unwrap()
    }

    #[test]
    fn the_beginning_stays_and_what_goes_is_said() {
        let long = "ö\"\n".repeat(2000);
        let whole = json!({
            "content": [{"type": "text", "text": "first"}, {"type": "text", "text": long}, {"type": "text", "text": "last"}],
            "structuredContent": {"long": long}, "isError": true, "_meta": {"own": 1},
        });
        let answer = cut(&whole, 2000);
        let text = |at: usize| answer["content"][at]["text"].as_str().unwrap().to_owned();
        assert_eq!(text(0), "first");
        assert!(text(1).len() > 500 && long.starts_with(&text(1)), "{}", text(1));
        assert!(text(2).contains("Structured content is left out"), "{}", text(2));
        assert_eq!(answer["content"][3]["uri"], "toolgate://results/1");
        assert_eq!(answer["content"].as_array().unwrap().len(), 4);
        assert_eq!((&answer["isError"], &answer["_meta"]["own"]), (&json!(true), &json!(1)));
        assert_eq!(answer["_meta"]["toolgate/cut"]["limit"], 2000);
        assert_eq!(answer.get("structuredContent"), None);
    }

    #[test]
    fn what_is_no_text_goes_whole_and_a_tiny_limit_leaves_the_note() {
        let image = json!({"type": "image", "data": "A".repeat(5000), "mimeType": "image/png"});
        let answer = cut(&json!({"content": [image]}), 2000);
        let kinds: Vec<_> = answer["content"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
        assert_eq!(kinds, ["text", "resource_link"]);
        let answer = cut(&json!({"content": [{"type": "text", "text": "x".repeat(100)}]}), 10);
        assert_eq!(answer["content"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_result_is_not_cut() {
        assert!(Whole::read(b"[]").is_none());
        assert!(Whole::read(b"{\"content\":1}").is_none());
    }
}
