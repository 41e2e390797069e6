//! JSON-RPC as the bench's own servers read it: borrowed from the bytes that came.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    /// None in a notification.
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(body: &'a [u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// The text that `echo` is called with, as it is written; none when this is no call of it.
    pub(crate) fn text(&self) -> Option<&'a str> {
        #[derive(Deserialize)]
        struct Call<'a> {
            #[serde(borrow, rename = "name")]
            _name: Cow<'a, str>,
            #[serde(borrow)]
            arguments: &'a RawValue,
        }
        #[derive(Deserialize)]
        struct Arguments<'a> {
            #[serde(borrow)]
            text: &'a RawValue,
        }
        if self.method != "tools/call" {
            return None;
        }
        let call: Call<'a> = serde_json::from_str(self.params?.get()).ok()?;
        let arguments: Arguments<'a> = serde_json::from_str(call.arguments.get()).ok()?;
        Some(arguments.text.get())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_as_it_is_written() {
        let asked =
            br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a\"b"}}}"#;
        let envelope = Envelope::read(asked).unwrap();
        assert_eq!(envelope.id.map(RawValue::get), Some("7"));
        assert_eq!(envelope.text(), Some(r#""a\"b""#));
    }

    #[test]
    fn what_is_no_call_has_no_text() {
        let list = Envelope::read(br#"{"id":7,"method":"tools/list","params":{}}"#).unwrap();
        assert_eq!(list.text(), None);
        let told = Envelope::read(br#"{"method":"tools/call"}"#).unwrap();
        assert!(told.id.is_none());
        assert_eq!(told.text(), None);
        assert!(Envelope::read(b"{").is_none());
    }
}
