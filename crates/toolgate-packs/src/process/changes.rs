//! What changed in the caller's worktree, and only there.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_core::caller::Task;
use toolgate_spine::ToolAnswer;
use toolgate_store::Store;

use super::worktree::{Worktree, Worktrees};
use crate::{
    failure::{Failure, short},
    workspace::answered,
};

/// The size of a difference.
const MOST: usize = 50 << 10;
const MOST_COMMITS: usize = 1_000;
/// The length of a commit's subject.
const MOST_SUBJECT: usize = 1_000;

#[derive(Deserialize)]
pub(super) struct Since {
    since_commit: Option<String>,
}

pub(super) async fn diff(
    store: &Store,
    worktrees: &Worktrees,
    task: &Task,
    since: Since,
) -> Result<ToolAnswer, Failure> {
    let (worktree, since) = begin(store, worktrees, task, since, "git diff").await?;
    let revision = since.clone();
    let text = worktree.read(move |repository| repository.diff(&repository.resolve(&revision)?, MOST)).await?;
    let cut = text.len() > MOST;
    let mut text = String::from_utf8_lossy(&text).into_owned();
    text.truncate(text.floor_char_boundary(MOST));
    let mut answer = Map::new();
    answer.insert("diff".to_owned(), text.into());
    answer.insert("since_commit".to_owned(), since.into());
    answer.insert("truncated".to_owned(), cut.into());
    if cut {
        let note = format!("The difference is longer than {} KiB and was cut. Ask since a later commit.", MOST >> 10);
        answer.insert("note".to_owned(), note.into());
    }
    answered(&Value::Object(answer))
}

pub(super) async fn log(
    store: &Store,
    worktrees: &Worktrees,
    task: &Task,
    since: Since,
) -> Result<ToolAnswer, Failure> {
    let (worktree, since) = begin(store, worktrees, task, since, "git log").await?;
    let revision = since.clone();
    let entries = worktree.read(move |repository| repository.log(&repository.resolve(&revision)?)).await?;
    let truncated = entries.len() > MOST_COMMITS;
    let commits = entries.iter().take(MOST_COMMITS).map(|entry| {
        let message: String = entry.subject.chars().take(MOST_SUBJECT).collect();
        json!({"hash": entry.id.to_string(), "message": message})
    });
    let mut answer = Map::new();
    answer.insert("since_commit".to_owned(), since.into());
    answer.insert("commits".to_owned(), commits.collect());
    answer.insert("truncated".to_owned(), truncated.into());
    if truncated {
        answer.insert("note".to_owned(), "There are more commits. Ask since a later one.".into());
    }
    answered(&Value::Object(answer))
}

/// The task's own worktree, and the commit to look back to.
async fn begin(
    store: &Store,
    worktrees: &Worktrees,
    task: &Task,
    Since { since_commit }: Since,
    asking: &'static str,
) -> Result<(Worktree, String), Failure> {
    if let Some(hostile) = since_commit.as_deref().filter(|since| !is_revision(since)) {
        return Err(Failure::invalid(format!(
            "Invalid since_commit '{}'. Give the hash of a commit, or the name of a branch or tag.",
            short(hostile)
        )));
    }
    let record = store.tasks().record(&task.id).await.map_err(|fault| Failure::store(&fault))?;
    let setting = record.ok_or_else(|| Failure::unknown_task(&task.id))?.setting;
    let missing = || Failure::not_found(format!("No worktree found for task '{}'.", short(&task.id)));
    let path = setting.worktree.ok_or_else(missing)?;
    let first = match (since_commit, task.process.as_deref()) {
        (Some(since), _) => Some(since),
        (None, Some(process)) => {
            store.processes().first_commit(process).await.map_err(|fault| Failure::store(&fault))?
        }
        (None, None) => None,
    };
    let since = first.ok_or_else(|| {
        Failure::not_found(
            "No commit reference found. Provide since_commit or ensure the process has recorded commits.",
        )
    })?;
    Ok((worktrees.open(&path, setting.main_repo.as_deref(), asking)?, since))
}

/// Nothing that git takes for an option, a range or anything else than one commit.
fn is_revision(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/~^-".contains(c);
    !text.is_empty() && text.len() <= 200 && text.chars().all(plain) && !text.starts_with('-') && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_one_commit_and_never_an_option() {
        for good in ["main", "0123abc", "HEAD~3", "v1.2^", "feature/x-1_y", "a"] {
            assert!(is_revision(good), "{good}");
        }
        let long = "a".repeat(201);
        for bad in [
            "",
            "-p",
            "--output=/tmp/x",
            "a..b",
            "a b",
            "a;b",
            "$(id)",
            "a:b",
            "@{u}",
            ":/fix",
            "a\nb",
            "a\0",
            "é",
            "--",
            &long,
        ] {
            assert!(!is_revision(bad), "{bad:?}");
        }
    }
}
