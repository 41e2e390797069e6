//! What a model is told of a receipt: a block of text after the tool's own, since models do not see `_meta`.

use bytes::Bytes;
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use toolgate_core::{Caller, Decision, Found, Lang};
use toolgate_store::{Receipt, ReceiptState, UndoKind};

use crate::{
    House,
    receipts::{RawObject, with_meta},
};

impl House {
    /// The result with its receipt named: in `_meta` for programs and, where the caller may call `undo`, in a last block of text.
    pub(crate) fn receipted(&self, caller: &Caller, result: &Bytes, receipt: &Receipt, lang: Lang) -> Bytes {
        let named = with_meta(result, "toolgate/receipt", &receipt.id);
        match self.undo_for(caller) {
            Some(undo) => with_block(&named, &note(receipt, undo, lang)).unwrap_or(named),
            None => named,
        }
    }

    /// The wire name of `undo`, for a caller that is told of receipts and may call it.
    fn undo_for(&self, caller: &Caller) -> Option<&str> {
        let undo = self.undo_tool.as_ref().filter(|_| self.receipt_notes)?;
        let view = self.gate.view(caller)?;
        match self.gate.find(&view, caller, undo.name.as_str(), false, false, Lang::En) {
            Found::Tool { decision: Decision::Allow, .. } => Some(undo.wire_name.as_str()),
            _ => None,
        }
    }
}

fn note(receipt: &Receipt, undo: &str, lang: Lang) -> String {
    let id = &receipt.id;
    let can_be_undone = matches!(receipt.undo.kind, UndoKind::Native | UndoKind::Compensation);
    let why = receipt.undo.why.as_deref().unwrap_or_default();
    let is_known = receipt.state != ReceiptState::Unknown;
    match (is_known, can_be_undone, lang) {
        (false, _, Lang::En) => {
            format!("Receipt {id}. It is not known whether this call took effect: look before calling again.")
        }
        (false, _, Lang::Ja) => {
            format!("レシート {id}。この呼び出しが実行されたかどうかは不明です。再度呼び出す前に確認してください。")
        }
        (true, true, Lang::En) => {
            format!("Receipt {id}. To undo this call, call the tool '{undo}' with {{\"receipt\":\"{id}\"}}.")
        }
        (true, true, Lang::Ja) => {
            format!("レシート {id}。取り消すには、ツール'{undo}'を{{\"receipt\":\"{id}\"}}で呼び出してください。")
        }
        (true, false, Lang::En) => format!("Receipt {id}. This call can't be undone: {why}"),
        (true, false, Lang::Ja) => format!("レシート {id}。この呼び出しは取り消せません: {why}"),
    }
}

/// The result with one more block, for the model alone. The tool's own blocks stay as they are, byte for byte.
fn with_block(result: &Bytes, text: &str) -> Option<Bytes> {
    let mut members: RawObject = serde_json::from_slice(result).ok()?;
    let own = members.get("content")?.get().trim_end().strip_suffix(']')?;
    let comma = if own.trim_end().ends_with('[') { "" } else { "," };
    let block = json!({"type": "text", "text": text, "annotations": {"audience": ["assistant"]}});
    let content = RawValue::from_string(format!("{own}{comma}{block}]")).ok()?;
    members.insert("content".to_owned(), content);
    to_raw_value(&members).ok().map(|whole| Bytes::from(whole.get().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_last_and_leaves_everything_else_byte_for_byte() {
        let result =
            r#"{"content": [ {"text" : "a\u0041", "type":"text"}], "structuredContent":{"n":1.50},"isError":false}"#;
        let with = with_block(&Bytes::from(result), "note").unwrap();
        let with = std::str::from_utf8(&with).unwrap();
        assert!(
            with.starts_with(r#"{"content":[ {"text" : "a\u0041", "type":"text"},{"type":"text","text":"note""#),
            "{with}"
        );
        assert!(with.ends_with(r#"],"structuredContent":{"n":1.50},"isError":false}"#), "{with}");
        let first = with_block(&Bytes::from(r#"{"content":[]}"#), "note").unwrap();
        assert!(first.starts_with(br#"{"content":[{"type":"text""#));
        assert!(with_block(&Bytes::from(r#"{"toolResult":1}"#), "note").is_none());
    }
}
