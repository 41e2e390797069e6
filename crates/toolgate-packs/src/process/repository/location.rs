//! The folders of a repository: the worktree's own, and the one that all its worktrees share.
//!
//! INVARIANT: both lie beneath the worktree or beneath the main repository that the task was started for. A file of the
//! repository may name another place; it is opened only beneath one of the two, by their directory handles.

use std::path::{Path, PathBuf};

use cap_std::{ambient_authority, fs::Dir};

use super::{
    error::RepositoryError,
    files::{is_absent, open_folder, read_file, unreadable},
};

/// The size of a file that names a folder.
const MOST_BYTES: u64 = 8 << 10;
const FOLDER: &str = "folder .git";

pub(super) struct GitFolders {
    /// With the worktree's own HEAD.
    pub(super) own: Dir,
    /// With objects, branches and tags.
    pub(super) common: Dir,
}

/// Finds the folders of the repository in a worktree. Both paths are absolute and free of links.
pub(super) fn find_folders(worktree: &Path, main: Option<&Path>) -> Result<GitFolders, RepositoryError> {
    let mut roots: Vec<(PathBuf, Dir)> = Vec::new();
    for (path, role) in [(Some(worktree), "worktree"), (main, "main folder")] {
        let Some(path) = path else { continue };
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => roots.push((path.to_owned(), dir)),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(unreadable(&error, role)),
        }
    }
    let (_, top) = roots.first().filter(|(path, _)| path == worktree).ok_or(RepositoryError::NotRepository)?;
    let mut path = worktree.join(".git");
    let own = if let Some(file) = read_file(top, ".git", MOST_BYTES, "file .git")? {
        let named = line(&file).strip_prefix("gitdir: ").map(str::to_owned).ok_or(RepositoryError::NotRepository)?;
        path = worktree.join(named);
        open_beneath(&roots, &path)?
    } else {
        open_folder(top, ".git", FOLDER)?.ok_or(RepositoryError::NotRepository)?
    };
    let common = match read_file(&own, "commondir", MOST_BYTES, "file commondir")? {
        Some(file) => open_beneath(&roots, &path.join(line(&file)))?,
        None => own.try_clone().map_err(|error| unreadable(&error, FOLDER))?,
    };
    Ok(GitFolders { own, common })
}

/// Opens a folder that a file of the repository names. A path that is not there is as foreign as one elsewhere: the task wrote
/// it, and must not learn which paths this machine has.
fn open_beneath(roots: &[(PathBuf, Dir)], path: &Path) -> Result<Dir, RepositoryError> {
    let real = path.canonicalize().map_err(|_| RepositoryError::ForeignRepository)?;
    let beneath = roots.iter().find_map(|(root, dir)| Some((dir, real.strip_prefix(root).ok()?)));
    let (dir, relative) = beneath.ok_or(RepositoryError::ForeignRepository)?;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    open_folder(dir, relative, FOLDER)?.ok_or(RepositoryError::NotRepository)
}

fn line(file: &[u8]) -> String {
    String::from_utf8_lossy(file).lines().next().unwrap_or_default().trim_end().to_owned()
}
