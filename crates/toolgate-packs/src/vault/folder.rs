//! The vault's folder on disk.
//!
//! INVARIANT: every path goes through one directory handle that nothing leads out of: no `..`, no absolute path, no link,
//! also not one that appears between a check and a use. All of this blocks; callers run it where that is allowed.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::digest::{Context, SHA256};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, Metadata, OpenOptions},
};

use super::{ids, names};

/// Folders within folders; deeper ones are not looked into.
const DEEPEST: usize = 64;

/// Something seen in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// The place of its folder among those seen before it; `None` at the top.
    pub(super) parent: Option<usize>,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) folder: bool,
    pub(super) inode: i64,
    pub(super) born: i64,
    pub(super) size: i64,
    pub(super) modified: i64,
}

/// A place in the vault: a folder and a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    /// The folder's path, and the inode it must still have; the vault's own has neither.
    pub(super) folder: String,
    pub(super) inode: Option<i64>,
    pub(super) name: String,
}

pub(super) struct Folder {
    root: Dir,
    /// The configured path, which must go on leading to `root`.
    path: PathBuf,
}

impl Folder {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Ok(Self { root: Dir::open_ambient_dir(root, ambient_authority())?, path: root.to_owned() })
    }

    /// Reports that the configured path no longer leads to the folder that was opened: the folder was moved, replaced or
    /// removed, and the open handle would show what nobody else sees.
    pub(super) fn is_displaced(&self) -> io::Result<bool> {
        let now = match std::fs::metadata(&self.path) {
            Ok(now) if now.is_dir() => now,
            Ok(_) => return Ok(true),
            Err(fault) if matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(true);
            }
            Err(fault) => return Err(fault),
        };
        Ok(!is_same_folder(&now, &self.root.dir_metadata()?))
    }

    /// Everything in the folder, level by level. Links and special files are left out, as are names that begin with a dot
    /// or are not Unicode.
    pub(super) fn walk(&self, most: usize) -> io::Result<Vec<Seen>> {
        let mut seen: Vec<Seen> = Vec::new();
        let mut level: Vec<Option<usize>> = vec![None];
        for _ in 0..DEEPEST {
            let mut below = Vec::new();
            for parent in level {
                let path = parent.and_then(|parent| seen.get(parent)).map(|seen| seen.path.clone()).unwrap_or_default();
                let Some(entries) = self.entries(&path)? else { continue };
                for (name, metadata) in entries {
                    if seen.len() >= most {
                        let why = format!("it holds more than {most} items; raise max_items");
                        return Err(io::Error::other(why));
                    }
                    if metadata.is_dir() {
                        below.push(Some(seen.len()));
                    }
                    seen.push(self::seen(parent, &path, name, &metadata));
                }
            }
            if below.is_empty() {
                return Ok(seen);
            }
            level = below;
        }
        tracing::warn!(target: "toolgate::vault", "folders deeper than {DEEPEST} levels are left out");
        Ok(seen)
    }

    /// What is shown of one folder, by name; `None` if it has gone.
    fn entries(&self, path: &str) -> io::Result<Option<Vec<(String, Metadata)>>> {
        let entries = match if path.is_empty() { self.root.entries() } else { self.root.read_dir(path) } {
            Ok(entries) => entries,
            Err(fault) if !path.is_empty() && is_passing(&fault) => return Ok(None),
            Err(fault) => return Err(fault),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !names::is_shown(&name) {
                continue;
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_file() || metadata.is_dir() => found.push((name, metadata)),
                Ok(_) => {}
                Err(fault) if is_passing(&fault) => {}
                Err(fault) => return Err(fault),
            }
        }
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(Some(found))
    }

    /// A document for reading. What is not a plain file any more is not opened, nor waited for.
    fn file(&self, path: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
            options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        }
        let file = self.root.open_with(path, &options)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
    }

    /// The content, or `None` if there is more than `most` bytes of it.
    pub(super) fn read(&self, path: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        self.file(path)?.take(most.saturating_add(1)).read_to_end(&mut content)?;
        Ok(Some(content).filter(|content| content.len() as u64 <= most))
    }

    /// Of the content, as hexadecimal digits.
    pub(super) fn digest(&self, path: &str) -> io::Result<String> {
        digest_to(&mut self.file(path)?, &mut io::sink())
    }

    /// Moves what has this inode. Nothing is ever overwritten, whoever else is at work.
    pub(super) fn rename(&self, from: &Spot, to: &Spot, inode: i64) -> io::Result<()> {
        let (old, new) = (self.dir(from)?, self.dir(to)?);
        expect(&old, &from.name, inode)?;
        rename_to_free(&old, &from.name, &new, &to.name)?;
        // another may have taken the old name in between: then it goes back where it was
        if let Err(fault) = expect(&new, &to.name, inode) {
            rename_to_free(&new, &to.name, &old, &from.name)?;
            return Err(fault);
        }
        Ok(())
    }

    /// Copies a document under a name that is not shown, next to where it is to be.
    pub(super) fn stage(&self, from: &str, to: &Spot) -> io::Result<Staged> {
        let mut source = self.file(from)?;
        let folder = self.dir(to)?;
        let name = format!("{}{}", names::UNFINISHED, ids::random());
        let mut copy = folder.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        let mut staged = Staged { folder, name, digest: String::new() };
        staged.digest = digest_to(&mut source, &mut copy)?;
        copy.set_permissions(source.metadata()?.permissions())?;
        copy.sync_all()?;
        Ok(staged)
    }

    /// Gives a staged copy its name, if that is free: it appears whole or not at all.
    pub(super) fn publish(&self, staged: &Staged, to: &Spot) -> io::Result<()> {
        rename_to_free(&staged.folder, &staged.name, &self.dir(to)?, &to.name)
    }

    /// Removes a document if its content is what it was. `false` leaves it as it is.
    pub(super) fn remove_unchanged(&self, spot: &Spot, digest: &str) -> io::Result<bool> {
        let dir = self.dir(spot)?;
        if self.digest(&join(&spot.folder, &spot.name))? != digest {
            return Ok(false);
        }
        let aside = format!("{}{}", names::UNFINISHED, ids::random());
        // out of everyone's way, and looked at again: what is removed is what was looked at
        rename_to_free(&dir, &spot.name, &dir, &aside)?;
        if self.digest(&join(&spot.folder, &aside)).is_ok_and(|found| found == digest) {
            dir.remove_file(&aside)?;
            return Ok(true);
        }
        // somebody wrote in between; should even its name be taken by now, it gets one that is shown
        if rename_to_free(&dir, &aside, &dir, &spot.name).is_err() {
            rename_to_free(&dir, &aside, &dir, &format!("restored-{}", ids::random()))?;
        }
        Ok(false)
    }

    /// The folder of a place, if it is still the one that was meant.
    fn dir(&self, spot: &Spot) -> io::Result<Dir> {
        let Some(inode) = spot.inode else { return self.root.try_clone() };
        let dir = self.root.open_dir(&spot.folder)?;
        if self::inode(&dir.dir_metadata()?) == inode { Ok(dir) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
    }
}

/// A copy that nobody sees yet. Dropped without a name, it is gone.
pub(super) struct Staged {
    folder: Dir,
    name: String,
    pub(super) digest: String,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // once published there is nothing of this name
        let _ = self.folder.remove_file(&self.name);
    }
}

/// A name in the folder of this path.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Gone, or something else, since it was listed.
fn is_passing(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied)
}

fn expect(dir: &Dir, name: &str, inode: i64) -> io::Result<()> {
    let found = dir.symlink_metadata(name)?;
    if self::inode(&found) == inode { Ok(()) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
}

/// Renames to a name that nothing has, in one step where the system can.
fn rename_to_free(old: &Dir, from: &str, new: &Dir, to: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::{fs::RenameFlags, io::Errno};
        // INVARIANT: both names are single components, so that the handles alone say where
        let plain = |name: &str| !name.contains('/') && name != "." && name != "..";
        if !plain(from) || !plain(to) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        match rustix::fs::renameat_with(old, from, new, to, RenameFlags::NOREPLACE) {
            // a file system that can't: checked, then renamed
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return done.map_err(io::Error::from),
        }
    }
    if new.symlink_metadata(to).is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists));
    }
    old.rename(from, new, to)
}

fn digest_to(from: &mut impl Read, to: &mut impl Write) -> io::Result<String> {
    let mut digest = Context::new(&SHA256);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { break };
        digest.update(part);
        to.write_all(part)?;
    }
    Ok(toolgate_core::hex(digest.finish().as_ref()))
}

fn seen(parent: Option<usize>, path: &str, name: String, metadata: &Metadata) -> Seen {
    let time = |time: io::Result<SystemTime>| time.map_or(0, nanoseconds);
    Seen {
        parent,
        path: join(path, &name),
        name,
        folder: metadata.is_dir(),
        inode: inode(metadata),
        born: time(metadata.created().map(cap_std::time::SystemTime::into_std)),
        // what a folder takes on disk says nothing about it
        size: if metadata.is_dir() { 0 } else { i64::try_from(metadata.len()).unwrap_or(i64::MAX) },
        modified: time(metadata.modified().map(cap_std::time::SystemTime::into_std)),
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> i64 {
    use cap_std::fs::MetadataExt;
    metadata.ino().cast_signed()
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> i64 {
    0
}

#[cfg(unix)]
fn is_same_folder(now: &std::fs::Metadata, opened: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (now.dev(), now.ino()) == (cap_std::fs::MetadataExt::dev(opened), cap_std::fs::MetadataExt::ino(opened))
}

#[cfg(not(unix))]
fn is_same_folder(now: &std::fs::Metadata, opened: &Metadata) -> bool {
    now.created().ok() == opened.created().map(cap_std::time::SystemTime::into_std).ok()
}

pub(super) fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
