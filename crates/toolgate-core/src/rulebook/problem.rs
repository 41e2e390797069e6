//! What is wrong with a rule, and where.

use miette::Diagnostic;

/// One fault in a file of rules, with the text at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}{}{}", at(.text), help_line(.help))]
pub struct RuleProblem {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// The source text at fault.
    pub text: String,
    pub help: Option<String>,
}

fn at(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n    {text}") }
}

fn help_line(help: &Option<String>) -> String {
    help.as_ref().map(|help| format!("\n    help: {help}")).unwrap_or_default()
}

impl RuleProblem {
    /// A fault at a byte range of the file's text.
    pub(crate) fn at(file: &str, source: &str, offset: usize, len: usize, message: impl Into<String>) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let found = source.get(offset..offset.saturating_add(len)).unwrap_or("");
        let text: String = found.split('\n').next().unwrap_or("").chars().take(120).collect();
        Self { file: file.to_owned(), line, column, message: message.into(), text, help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// A fault that Cedar found: its message, its first label for the place, its help.
    pub(crate) fn from_cedar(file: &str, source: &str, fault: &dyn Diagnostic, fallback: (usize, usize)) -> Self {
        let (offset, len) =
            fault.labels().and_then(|mut labels| labels.next()).map_or(fallback, |label| (label.offset(), label.len()));
        let mut problem = Self::at(file, source, offset, len, fault.to_string());
        problem.help = fault.help().map(|help| help.to_string());
        problem
    }
}
