//! What an answer must be. The first of a lane is parsed; those after it are held against it.

use memchr::memmem;
use serde_json::Value;

use crate::failure::Failure;
use crate::wire::{Answer, TEXT};
use crate::workload::Work;

/// An answer may differ this much in size from the first one (a time, a counter).
const SLACK: usize = 24;
/// The id and the word `result` stand this near to one of the ends.
const EDGE: usize = 400;

pub(crate) struct Expected {
    pub(crate) work: Work,
    pub(crate) tools: usize,
    pub(crate) fixed_id: bool,
}

impl Expected {
    pub(crate) fn check_first(&self, answer: &Answer<'_>, id: u64) -> Result<(), Failure> {
        let found = self.fault(answer.head.status, &answer.body, id);
        complain(found.as_deref(), answer)
    }

    pub(crate) fn check_later(&self, answer: &Answer<'_>, id: u64, size: usize) -> Result<(), Failure> {
        let found = self.later_fault(answer.head.status, &answer.body, id, size);
        complain(found, answer)
    }

    fn fault(&self, status: u16, body: &[u8], id: u64) -> Option<String> {
        if status != 200 {
            return Some("not HTTP 200".to_owned());
        }
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return Some("not JSON".to_owned());
        };
        if !self.fixed_id && body.get("id") != Some(&Value::from(id)) {
            return Some("not its own id".to_owned());
        }
        let Some(result) = body.get("result") else {
            return Some("no result".to_owned());
        };
        match self.work {
            Work::List => {
                let tools = result.get("tools").and_then(Value::as_array);
                let count = tools.map_or(0, Vec::len);
                (count != self.tools).then(|| format!("{count} tools, expected {}", self.tools))
            }
            Work::Call if result.get("isError") == Some(&Value::Bool(true)) => Some("isError".to_owned()),
            Work::Call => {
                let text = result.pointer("/content/0/text").and_then(Value::as_str);
                (text != Some(TEXT)).then(|| "another text".to_owned())
            }
        }
    }

    fn later_fault(&self, status: u16, body: &[u8], id: u64, size: usize) -> Option<&'static str> {
        let start = body.get(..EDGE).unwrap_or(body);
        let end = body.get(body.len().saturating_sub(EDGE)..).unwrap_or(body);
        let near = |text: &[u8]| holds(start, text) || holds(end, text);
        if status != 200 {
            Some("not HTTP 200")
        } else if body.len().abs_diff(size) > SLACK {
            Some("another size than the first answer")
        } else if !near(b"\"result\":") {
            Some("no result")
        } else if !self.fixed_id && !near(format!("\"id\":{id}").as_bytes()) {
            Some("not its own id")
        } else if self.work == Work::Call && !holds(body, TEXT.as_bytes()) {
            Some("another text")
        } else if self.work == Work::Call && holds(body, b"\"isError\":true") {
            Some("isError")
        } else {
            None
        }
    }
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    memmem::find(bytes, text).is_some()
}

fn complain(found: Option<&str>, answer: &Answer<'_>) -> Result<(), Failure> {
    match found {
        None => Ok(()),
        Some(fault) => Err(Failure::Answer(format!("{fault}: {}", answer.excerpt()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: Expected = Expected { work: Work::List, tools: 2, fixed_id: false };
    const CALL: Expected = Expected { work: Work::Call, tools: 0, fixed_id: false };

    fn called(text: &str, error: bool) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":{error}}}}}"#
        )
    }

    #[test]
    fn a_list_must_hold_the_expected_number_of_tools() {
        let two = br#"{"id":7,"result":{"tools":[{},{}]}}"#;
        assert_eq!(LIST.fault(200, two, 7), None);
        let one = br#"{"id":7,"result":{"tools":[{}]}}"#;
        let fault = LIST.fault(200, one, 7);
        assert_eq!(fault.as_deref(), Some("1 tools, expected 2"));
    }

    #[test]
    fn status_id_and_result_are_checked() {
        let good = br#"{"id":7,"result":{"tools":[{},{}]}}"#;
        assert!(LIST.fault(401, good, 7).is_some());
        assert!(LIST.fault(200, good, 8).is_some());
        assert!(LIST.fault(200, br#"{"id":7,"error":{}}"#, 7).is_some());
        assert!(LIST.later_fault(401, good, 7, good.len()).is_some());
        assert!(LIST.later_fault(200, good, 8, good.len()).is_some());
        assert!(LIST.later_fault(200, good, 7, good.len() + 25).is_some());
        assert_eq!(LIST.later_fault(200, good, 7, good.len() + 24), None);
    }

    #[test]
    fn a_call_must_echo_and_not_fail() {
        let good = called(TEXT, false);
        assert_eq!(CALL.fault(200, good.as_bytes(), 7), None);
        assert_eq!(CALL.later_fault(200, good.as_bytes(), 7, good.len()), None);
        for bad in [called(TEXT, true), called("x7Q", false)] {
            assert!(CALL.fault(200, bad.as_bytes(), 7).is_some());
            assert!(CALL.later_fault(200, bad.as_bytes(), 7, bad.len()).is_some());
        }
    }
}
