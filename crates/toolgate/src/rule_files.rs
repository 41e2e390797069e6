//! The operator's rules: files, and folders of them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use toolgate_core::RuleFile;

use crate::{
    config::Config,
    raise::{RaiseProblem, read},
};

/// Reads the operator's files, and every `.cedar` file of the folders, in order of their names.
pub fn rule_files(config: &Config) -> Result<Vec<RuleFile>, RaiseProblem> {
    let mut files = Vec::new();
    for path in &config.rules {
        for path in expand(path)? {
            files.push(RuleFile { name: path.display().to_string(), text: read(&path)? });
        }
    }
    Ok(files)
}

/// Returns a folder's `.cedar` files, or the file itself.
pub fn expand(path: &Path) -> Result<Vec<PathBuf>, RaiseProblem> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |fault: std::io::Error| RaiseProblem::Unreadable {
        path: path.display().to_string(),
        reason: fault.to_string(),
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        if entry.extension().is_some_and(|extension| extension == "cedar") {
            found.push(entry);
        }
    }
    found.sort();
    Ok(found)
}
