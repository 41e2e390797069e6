//! What an operator says of the workspace.

use std::path::PathBuf;

use crate::definitions::BadPack;

#[derive(Debug, Clone, Default)]
pub struct WorkspaceConfig {
    /// Callers without a task may read, too.
    pub open: bool,
    /// A folder of templates, which come before the built-in ones.
    pub templates: Option<PathBuf>,
    /// A program and its arguments that makes a summary of the text on its standard input; without one, Toolgate does.
    pub summarizer: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceProblem {
    #[error("the folder of templates '{path}' is not there; create it or correct templates in [packs.workspace]")]
    Templates { path: String },
    #[error(transparent)]
    Pack(#[from] BadPack),
}
