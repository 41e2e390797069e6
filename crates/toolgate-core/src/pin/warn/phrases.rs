//! Phrases that tell a model what to do where a description would tell what the tool does.

use super::{Hit, WarningKind, folded::Folded};

/// In small letters, one space between words.
const PHRASES: &[&str] = &[
    // Setting other instructions aside.
    "ignore previous",
    "ignore prior",
    "ignore all previous",
    "ignore all prior",
    "ignore all other",
    "ignore any previous",
    "ignore any other",
    "ignore the above",
    "ignore your",
    "disregard previous",
    "disregard prior",
    "disregard all",
    "disregard any",
    "disregard the above",
    "disregard your",
    "forget previous",
    "forget everything",
    "forget all previous",
    "forget your",
    "override your",
    "override previous",
    "new instructions",
    "your instructions",
    "previous instructions",
    // Keeping it from the user.
    "do not tell",
    "don't tell",
    "never tell",
    "do not mention",
    "don't mention",
    "never mention",
    "do not inform",
    "do not notify",
    "do not reveal",
    "do not show the user",
    "without telling",
    "without informing",
    "without asking the user",
    "without the user",
    "hide this from",
    "keep this secret",
    "user must not",
    "user should not know",
    // Playing another part.
    "<important",
    "<system",
    "<instruction",
    "<secret",
    "<|",
    "[inst]",
    "[system]",
    "system prompt",
    "system message",
    "developer message",
    "you are now",
    "you are an ai",
    "as an ai assistant",
    "as an ai model",
    // Steering other tools.
    "before using this tool",
    "before calling this tool",
    "before you use",
    "before using any",
    "before calling any",
    "before any other tool",
    "after using this tool",
    "after calling this tool",
    "must call",
    "must first call",
    "must be called before",
    "always call",
    "always use this tool",
    "always run",
    "instead of any other tool",
    "use this tool instead of",
    "do not use any other",
    // What it should fetch.
    "conversation history",
    "chat history",
    "entire conversation",
    "~/.ssh",
    "id_rsa",
    "mcp.json",
    // The same in Japanese.
    "指示を無視",
    "以前の指示",
    "これまでの指示",
    "ユーザーに言わない",
    "ユーザーには言わない",
    "ユーザーに知らせない",
    "ユーザーに知らせずに",
    "ユーザーに伝えない",
    "ユーザーに伝えずに",
    "システムプロンプト",
    "このツールを使う前に",
    "このツールを使用する前に",
    "必ず呼び出",
];

const COMMENT: &str = "<!--";

pub(super) fn hits(text: &str) -> Vec<Hit> {
    let folded = Folded::new(text);
    let phrases = PHRASES.iter().filter_map(|phrase| {
        let at = find(&folded.text, phrase)?;
        Some((folded.origin(at), WarningKind::AddressesModel))
    });
    let comment = folded.text.find(COMMENT).map(|at| (folded.origin(at), WarningKind::Comment));
    let mut hits: Vec<Hit> = phrases.chain(comment).collect();
    hits.sort_unstable();
    hits.dedup();
    hits
}

/// The first place of a phrase that is not the end of a longer word.
fn find(text: &str, phrase: &str) -> Option<usize> {
    let inner = |c: char| c.is_ascii_alphanumeric();
    let starts =
        |at: &usize| !text.get(..*at).is_some_and(|before| before.ends_with(inner)) || !phrase.starts_with(inner);
    text.match_indices(phrase).map(|(at, _)| at).find(starts)
}
