//! The reasons why a repository can't be read. INVARIANT: every text is fixed here; nothing that stands in a file of the
//! repository, or behind a link in it, is part of an error.

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::process) enum RepositoryError {
    #[error("not a git repository")]
    NotRepository,
    #[error("the worktree belongs to a repository that the task was not started for")]
    ForeignRepository,
    #[error("the repository's {0} can't be read: it is no regular file, or a link that leaves the repository")]
    Unreadable(&'static str),
    #[error("the repository's {0} can't be read: Toolgate has no permission to")]
    Denied(&'static str),
    #[error("the repository's {0} can't be read at the moment")]
    Failed(&'static str),
    #[error("the repository's {0} is damaged")]
    Damaged(&'static str),
    #[error("the repository {0}, which is not supported")]
    Unsupported(&'static str),
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("since_commit names no commit of this repository")]
    UnknownRevision,
    #[error("since_commit is the beginning of several hashes; give more digits")]
    AmbiguousRevision,
    #[error("an object is missing; alternates and partial clones are not followed")]
    MissingObject,
    #[error("an object is larger than 8 MiB")]
    LargeObject,
    #[error("the repository is too large to be read here: {0}")]
    TooLarge(&'static str),
    #[error("it takes too long")]
    TimedOut,
}
