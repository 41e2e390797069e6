//! What the ledger is told of a call: redacted first, the same for every ending.

use std::{borrow::Cow, sync::Arc, time::Duration};

use aws_lc_rs::digest;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use toolgate_core::{
    Caller, Kind as Of, Tool,
    redact::{Redactor, cut},
};
use toolgate_store::{
    Approval,
    ledger::{Durability, Entry, Kind, LONGEST_ASKED, Outcome as Word, Pending, ResultNote},
};

use crate::{
    Books, House, Outcome, answer::OUTCOME_UNKNOWN, books::now, conclude::INTERNAL, offload::sized_work,
    receipts::is_error,
};

/// Longest input that is kept whole.
const INPUT: usize = 8 << 10;
/// The same for anonymous callers, and for their calls that lead to no tool.
const ANONYMOUS_INPUT: usize = 2 << 10;
const UNKNOWN_INPUT: usize = 256;
const SUMMARY: usize = 300;
/// The code of a failure that the tool gives no code of its own.
const TOOL_ERROR: &str = "tool_error";
const LONGEST_CODE: usize = 64;
/// A name that leads to no tool is the caller's own text.
const UNKNOWN_NAME: usize = 128;

/// One call as the ledger sees it, before anything has come of it.
pub(crate) struct Noted {
    entry: Entry,
    tool: Option<Arc<Tool>>,
    undoes: bool,
}

/// What a call is of, by what led to it and by what it was asked for as.
pub(crate) struct Named<'a> {
    pub(crate) tool: Option<&'a Arc<Tool>>,
    /// What was asked for, where that led to nothing.
    pub(crate) kind: Of,
    pub(crate) asked: &'a str,
}

impl<'a> Named<'a> {
    pub(crate) fn known(tool: &'a Arc<Tool>, asked: &'a str) -> Self {
        Self { tool: Some(tool), kind: tool.kind, asked }
    }

    /// A tool's name says it all; of a pattern's addresses it does not say which.
    fn asked(&self, house: &House) -> Option<Arc<str>> {
        let kind = self.tool.map_or(self.kind, |tool| tool.kind);
        (kind != Of::Tool).then(|| {
            let asked = house.plain.text(self.asked);
            format!("{kind}:{}", asked.chars().take(LONGEST_ASKED).collect::<String>()).into()
        })
    }
}

/// What is asked about a prompt or a resource besides the thing itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Completes,
    Watches,
}

/// The input of an undo.
#[derive(Serialize)]
struct Undone<'a> {
    undo: &'a str,
    /// Where another tool is called for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
}

impl Noted {
    pub(crate) fn of(
        house: &House,
        caller: &Caller,
        call: &Arc<str>,
        named: Named<'_>,
        arguments: Option<&RawValue>,
    ) -> Self {
        let kept = |redactor: &Redactor, input: &str, most| cut(sized_work(input.len(), || redactor.json(input)), most);
        Self::built(house, caller, call, named, (arguments, kept))
    }

    /// A call that ends before it is let through. Whoever sent it may be anybody, so that no more of its arguments is read than a
    /// record has room for.
    pub(crate) fn turned_away(
        house: &House,
        caller: &Caller,
        call: &Arc<str>,
        named: Named<'_>,
        arguments: Option<&RawValue>,
    ) -> Self {
        Self::built(house, caller, call, named, (arguments, Redactor::bounded))
    }

    /// `keep` makes what a record keeps of the arguments, of at most so many bytes.
    fn built(
        house: &House,
        caller: &Caller,
        call: &Arc<str>,
        named: Named<'_>,
        (arguments, keep): (Option<&RawValue>, impl Fn(&Redactor, &str, usize) -> String),
    ) -> Self {
        let most = input_limit(caller, named.tool);
        let input = arguments.map(|arguments| keep(redactor_of(house, named.tool), arguments.get(), most));
        let tool = named.tool;
        let shortened = || -> Arc<str> { shortened(house, named.asked).into() };
        let who = house.who.named(caller);
        Self {
            tool: tool.cloned(),
            undoes: false,
            entry: Entry {
                kind: Kind::Decision,
                time: now(),
                call: Arc::clone(call),
                tool: tool.map_or_else(shortened, |tool| tool.name.shared()),
                source: tool.map_or_else(|| "".into(), |tool| Arc::clone(&tool.source)),
                principal: Arc::clone(&who.principal),
                tenant: who.tenant.clone(),
                flow: who.flow.clone(),
                outcome: Word::Allowed,
                asked: named.asked(house),
                actor: who.actor(caller, tool.map(|tool| &**tool)),
                input: input.and_then(|input| RawValue::from_string(input).ok()),
                approval: None,
                plan: None,
                rule: None,
                code: None,
                result: None,
                revision: Arc::clone(&house.rules),
                duration_us: None,
            },
        }
    }

    pub(crate) fn approved(&mut self, approval: Option<&Approval>) {
        self.entry.approval = approval.map(|approval| approval.id.as_str().into());
    }

    pub(crate) fn part_of(mut self, plan: Option<&str>) -> Self {
        self.entry.plan = plan.map(Into::into);
        self
    }

    pub(crate) fn tool(&self) -> Option<&Arc<Tool>> {
        self.tool.as_ref()
    }

    /// The taking back of what this receipt stands for.
    pub(crate) fn undoing(mut self, receipt: &str) -> Self {
        let undo = Undone { undo: receipt, arguments: self.entry.input.take() };
        self.entry.input = to_raw_value(&undo).ok();
        self.undoes = true;
        self
    }

    /// Not the thing itself: its input says so, once what is secret is out of it.
    pub(crate) fn beside(mut self, what: Beside) -> Self {
        let given = self.entry.input.take();
        let given = given.as_deref().map_or("{}", RawValue::get);
        let input = match what {
            Beside::Completes => format!("{{\"completes\":{given}}}"),
            Beside::Watches => "{\"watches\":true}".to_owned(),
        };
        self.entry.input = RawValue::from_string(input).ok();
        self
    }

    pub(crate) fn input(&self) -> &str {
        self.entry.input.as_deref().map_or("{}", RawValue::get)
    }

    /// About to run.
    pub(crate) fn intent(&self, books: &Books) -> Pending {
        let entry = Entry { kind: Kind::Intent, time: now(), ..self.entry.clone() };
        books.ledger.submit(entry, Durability::Durable)
    }

    /// How it ended. `ran` says whether there is an intent that this ends.
    pub(crate) fn ended(self, books: &Books, ending: Ending, ran: Ran, took: Duration) -> Pending {
        let (kind, durability) = match ran {
            Ran::No => (Kind::Decision, Durability::Ordered),
            Ran::Read => (Kind::Read, Durability::Ordered),
            Ran::Write => (Kind::Outcome, Durability::Durable),
        };
        let Ending { word, rule, code, result } = ending;
        let word = if self.undoes && word == Word::Answered { Word::Undone } else { word };
        let duration_us = (ran != Ran::No).then(|| u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        let input = self.entry.input.filter(|_| ran != Ran::Write);
        let entry = Entry { kind, time: now(), outcome: word, rule, code, result, duration_us, input, ..self.entry };
        books.ledger.submit(entry, durability)
    }
}

/// Whether a call got past the gate, and what kind it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    No,
    Read,
    Write,
}

/// The ledger's words for an outcome.
pub(crate) struct Ending {
    pub(crate) word: Word,
    pub(crate) rule: Option<Arc<str>>,
    pub(crate) code: Option<Arc<str>>,
    pub(crate) result: Option<ResultNote>,
}

impl Ending {
    pub(crate) fn of(
        house: &House,
        tool: Option<&Arc<Tool>>,
        outcome: &Outcome,
        (ran, previewed): (Ran, bool),
    ) -> Self {
        let ending = Self::in_words(house, tool, outcome, previewed);
        // the same word as in its receipt
        let word = if ran == Ran::Write && outcome.may_have_taken_effect() { Word::Unknown } else { ending.word };
        Self { word, ..ending }
    }

    fn in_words(house: &House, tool: Option<&Arc<Tool>>, outcome: &Outcome, previewed: bool) -> Self {
        let plain = |word: Word, code: Option<&str>| Self { word, rule: None, code: code.map(Arc::from), result: None };
        match outcome {
            Outcome::Answered(result) if !previewed && is_error(result) => {
                let code = failure_code(result).unwrap_or_else(|| TOOL_ERROR.to_owned());
                Self { result: Some(noted(house, tool, result)), ..plain(Word::Failed, Some(&code)) }
            }
            Outcome::Answered(result) => {
                let word = if previewed { Word::Previewed } else { Word::Answered };
                Self { result: Some(noted(house, tool, result)), ..plain(word, None) }
            }
            Outcome::Denied { denial, .. } => {
                Self { rule: Some(denial.rule.as_str().into()), ..plain(Word::Denied, Some(&denial.code)) }
            }
            Outcome::NeedsApproval { denial, .. } => {
                Self { rule: Some(denial.rule.as_str().into()), ..plain(Word::NeedsApproval, Some(&denial.code)) }
            }
            Outcome::Refused { code: INTERNAL, .. } => plain(Word::Failed, Some(INTERNAL)),
            Outcome::Refused { code: OUTCOME_UNKNOWN, .. } => plain(Word::Unknown, Some(OUTCOME_UNKNOWN)),
            Outcome::Refused { code, .. } => plain(Word::Refused, Some(code)),
            Outcome::Unknown => plain(Word::Refused, Some("unknown_tool")),
            Outcome::Unbound { .. } => plain(Word::Refused, Some("unbound_argument")),
            Outcome::InputRequired { .. } => plain(Word::Refused, Some("input_required")),
            Outcome::Rejected { code, .. } => plain(Word::Failed, Some(&code.to_string())),
            Outcome::Unavailable { .. } => plain(Word::Failed, Some("unavailable")),
            Outcome::Unrecorded { .. } => plain(Word::Failed, Some("unrecorded")),
        }
    }
}

/// The size of the input that a record keeps. An anonymous caller fills no disk with what leads to no call.
fn input_limit(caller: &Caller, tool: Option<&Arc<Tool>>) -> usize {
    match (caller.is_signed_in(), tool) {
        (true, _) => INPUT,
        (false, Some(_)) => ANONYMOUS_INPUT,
        (false, None) => UNKNOWN_INPUT,
    }
}

fn redactor_of<'a>(house: &'a House, tool: Option<&Arc<Tool>>) -> &'a Redactor {
    tool.and_then(|tool| house.guard(tool)).map_or(&house.plain, |guard| &guard.redactor)
}

/// A name of the caller's own making, without secrets.
fn shortened(house: &House, asked: &str) -> String {
    let start = asked.get(..asked.floor_char_boundary(UNKNOWN_NAME * 8)).unwrap_or_default();
    house.plain.text(start).chars().take(UNKNOWN_NAME).collect()
}

/// The code in a failed result, if it is a plain word.
fn failure_code(result: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Failed {
        #[serde(rename = "structuredContent")]
        structured: Content,
    }
    #[derive(serde::Deserialize)]
    struct Content {
        code: String,
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let Failed { structured: Content { code } } = serde_json::from_slice(result).ok()?;
    (!code.is_empty() && code.len() <= LONGEST_CODE && code.bytes().all(is_plain)).then_some(code)
}

pub(crate) fn noted(house: &House, tool: Option<&Arc<Tool>>, result: &[u8]) -> ResultNote {
    let text = std::str::from_utf8(result).map_or_else(|_| String::from_utf8_lossy(result), Cow::Borrowed);
    let redactor = redactor_of(house, tool);
    let redacted = sized_work(text.len(), || redactor.json(&text));
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, redacted.as_bytes()).as_ref());
    let mut summary = redacted;
    // so many bytes or fewer are so many characters at the most
    if summary.len() > SUMMARY
        && let Some((end, _)) = summary.char_indices().nth(SUMMARY)
    {
        summary.truncate(end);
    }
    ResultNote { summary, digest: bytes }
}
