//! Git, asked in one worktree. Tasks write to it, its configuration included, so that nothing in it may make git run
//! anything else or look elsewhere.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::process::Command;

use crate::{
    child::{self, Limits, NoAnswer},
    failure::{Failure, short},
};

const TIME: Duration = Duration::from_secs(30);

/// Overrides what a repository's own configuration might say: no programs, no hooks, no other servers.
const CONFIGURED: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "log.showSignature=false",
    "protocol.allow=never",
];

#[derive(Debug)]
pub(super) struct Worktree {
    folder: PathBuf,
}

/// What is asked, for the words of a failure, and how much of an answer is wanted.
pub(super) struct Asked {
    pub(super) name: &'static str,
    pub(super) most: usize,
}

impl Worktree {
    /// A worktree of the repository that the task was started for. A file in it could point git to any other, which is
    /// none of the caller's business.
    pub(super) async fn open(path: PathBuf, main: Option<PathBuf>, asking: &'static str) -> Result<Self, Failure> {
        let missing =
            || Failure::not_found(format!("Worktree directory not found: {}", short(&path.to_string_lossy())));
        let real = |path: &Path| path.is_absolute().then(|| path.canonicalize().ok()).flatten();
        let folder = real(&path).filter(|folder| folder.is_dir()).ok_or_else(missing)?;
        let worktree = Self { folder };
        let asked = Asked { name: asking, most: 8_192 };
        let options = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let (common, _) = worktree.ask(&asked, options).await?;
        let common = real(Path::new(common.trim_end_matches('\n')));
        let own = [Some(worktree.folder.clone()), main.as_deref().and_then(real)];
        let is_own = |common: &PathBuf| own.iter().flatten().any(|folder| common.starts_with(folder));
        if !common.as_ref().is_some_and(is_own) {
            return Err(Failure::conflict(format!(
                "{asking} failed: the worktree belongs to a repository that the task was not started for"
            )));
        }
        Ok(worktree)
    }

    /// What git answers, and whether there was more of it.
    pub(super) async fn ask<'a>(
        &self,
        asked: &Asked,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Result<(String, bool), Failure> {
        let limits = Limits { output: asked.most, time: TIME };
        let done = child::run(self.command(arguments), "", &limits).await.map_err(|fault| match fault {
            NoAnswer::TooSlow => Failure::internal(format!("{} timed out.", asked.name)),
            NoAnswer::NotStarted(fault) => {
                tracing::error!(target: "toolgate::process", %fault, "git can't be started");
                Failure::internal(format!("{} failed: git can't be started", asked.name))
            }
        })?;
        if !done.success {
            let said: String = done.said.chars().take(500).collect();
            return Err(Failure::conflict(format!("{} failed: {said}", asked.name)));
        }
        let mut text = String::from_utf8_lossy(&done.output).into_owned();
        let cut = done.cut || text.len() > asked.most;
        text.truncate(text.floor_char_boundary(asked.most));
        Ok((text, cut))
    }

    fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = child::program("git");
        command.current_dir(&self.folder);
        // not even the operator's own settings: an answer is the same on every machine
        command.env_remove("HOME");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
        command.env("GIT_NO_REPLACE_OBJECTS", "1").env("LC_ALL", "C.UTF-8");
        // a folder that is no worktree is not part of one further up
        command.env("GIT_CEILING_DIRECTORIES", self.folder.parent().unwrap_or(&self.folder));
        command.arg("--no-pager").args(CONFIGURED.iter().flat_map(|setting| ["-c", setting]));
        command.args(arguments);
        command
    }
}
