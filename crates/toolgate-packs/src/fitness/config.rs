//! What an operator says of the pack.

use std::path::PathBuf;

use crate::definitions::BadPack;

/// Where activity files are: each user's own in a folder of their name.
#[derive(Debug, Clone)]
pub struct FitnessConfig {
    pub files: PathBuf,
    /// A folder that somebody wrote down and that is not there is a mistake; the one in the data folder may be missing.
    pub must_exist: bool,
}

/// Why the pack can't be raised.
#[derive(Debug, thiserror::Error)]
pub enum FitnessProblem {
    #[error("the folder of activity files '{0}' is not there; create it or correct files in [packs.fitness]")]
    NoFolder(String),
    #[error(transparent)]
    Pack(#[from] BadPack),
}
