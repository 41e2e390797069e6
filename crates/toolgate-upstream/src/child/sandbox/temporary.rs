//! A folder for a child's temporary files, which is its own: the system's is shared with everybody.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, chown},
    path::{Path, PathBuf},
};

use aws_lc_rs::rand;

use super::super::identity::ChildUser;

/// A new folder that goes with this value.
pub(in crate::child) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Only its owner can enter it: the gateway's user, or the child's.
    pub(in crate::child) fn create(owner: Option<ChildUser>) -> io::Result<Self> {
        let mut bytes = [0; 8];
        rand::fill(&mut bytes).map_err(|_| io::Error::other("the system has no random numbers"))?;
        let path = std::env::temp_dir().join(format!("toolgate-child-{:016x}", u64::from_be_bytes(bytes)));
        // fails where something is there already: a name that others guessed is not used
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let folder = Self(path);
        if let Some(ChildUser { uid, gid }) = owner {
            chown(&folder.0, Some(uid), Some(gid))?;
        }
        Ok(folder)
    }

    pub(in crate::child) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
