//! The claims of a server about its own tools, by annotations. Nobody has checked a claim.

use serde::Deserialize;
use toolgate_core::pin::{self, visible};
use toolgate_upstream::Definition;

use crate::commands::table::cut;

/// The effect of a tool, by its own annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Reads,
    Writes,
    Destroys,
    Nothing,
}

/// A tool on one line.
pub struct ToolLine {
    pub name: String,
    pub claim: Claim,
    description: String,
    warnings: usize,
    /// Warnings of names that other tools have, and of attributes that hold already; shown in full.
    looks: Vec<String>,
}

#[derive(Default, Deserialize)]
struct ClaimedDefinition {
    #[serde(default)]
    description: Option<serde_json::Value>,
    #[serde(default)]
    annotations: Option<serde_json::Value>,
}

/// The characters of a description that a line may need.
const DESCRIPTION: usize = 400;
/// Names up to this length are padded to one column.
const NAME_COLUMN: usize = 40;

impl Claim {
    pub fn of(definition: &Definition) -> Self {
        Self::of_json(definition.raw.get())
    }

    /// The claim of a definition as JSON.
    pub fn of_json(definition: &str) -> Self {
        let read: ClaimedDefinition = serde_json::from_str(definition).unwrap_or_default();
        let hint =
            |name: &str| read.annotations.as_ref().and_then(|hints| hints.get(name)).and_then(|hint| hint.as_bool());
        match (hint("readOnlyHint"), hint("destructiveHint")) {
            // of two claims that contradict each other the worse one counts
            (_, Some(true)) => Self::Destroys,
            (Some(true), _) => Self::Reads,
            (Some(false), _) | (_, Some(false)) => Self::Writes,
            (None, None) => Self::Nothing,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Destroys => "destroys",
            Self::Nothing => "nothing",
        }
    }

    const fn said(self) -> &'static str {
        match self {
            Self::Reads => "says: reads",
            Self::Writes => "says: writes",
            Self::Destroys => "says: DESTROYS",
            Self::Nothing => "says nothing",
        }
    }
}

impl ToolLine {
    pub fn of(definition: &Definition, looks: Vec<String>) -> Self {
        let read: ClaimedDefinition = serde_json::from_str(definition.raw.get()).unwrap_or_default();
        let text = read.description.as_ref().and_then(|text| text.as_str()).unwrap_or_default();
        let text: String = text.chars().take(DESCRIPTION).collect();
        Self {
            name: visible(&definition.name),
            claim: Claim::of(definition),
            description: visible(&text.split_whitespace().collect::<Vec<_>>().join(" ")),
            warnings: pin::warnings(definition.raw.get()).len() + looks.len(),
            looks,
        }
    }
}

/// Tools, each on a line of at most `width` columns unless its name alone is longer: `!` with the number of warnings, the
/// name, the claim, and the beginning of the description.
pub fn tool_lines(tools: &[ToolLine], width: usize) -> String {
    let column = tools.iter().map(|tool| tool.name.chars().count()).filter(|length| *length <= NAME_COLUMN).max();
    let column = column.unwrap_or_default();
    let mut text = String::new();
    for tool in tools {
        let mark = if tool.warnings == 0 { String::new() } else { format!("!{}", tool.warnings) };
        let head = format!("{mark:<3}{:<column$}  {:<14}  ", tool.name, tool.claim.said());
        let room = width.saturating_sub(head.chars().count());
        let line = format!("{head}{}", cut(&tool.description, room));
        text.push_str(line.trim_end());
        text.push('\n');
        text.extend(tool.looks.iter().map(|look| format!("    look: {look}\n")));
    }
    text
}

/// Returns true if some tool has warnings that its line only counts.
pub fn has_hidden_warnings(tools: &[ToolLine]) -> bool {
    tools.iter().any(|tool| tool.warnings > tool.looks.len())
}
