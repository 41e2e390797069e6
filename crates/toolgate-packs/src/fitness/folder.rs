//! A user's own folder of activity files.
//!
//! INVARIANT: a file is opened through the handle of that one folder, which nothing leads out of: its name is the user's,
//! written so that no two users share one and none is a path; no link is followed. All of this blocks.

use std::{
    fmt::Write,
    io::{self, Read},
    path::Path,
};

use aws_lc_rs::digest::{SHA256, digest};
use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};

use super::files::{self, MOST_BYTES, Refused};

/// Looked at in one import, by name.
pub(super) const MOST_FILES: usize = 1_000;
/// What file systems hold.
const LONGEST_NAME: usize = 255;

pub(super) struct Folder(Dir);

impl Folder {
    /// `None` if the user has none.
    pub(super) fn of(root: &Path, user: &str) -> io::Result<Option<Self>> {
        let root = match Dir::open_ambient_dir(root, ambient_authority()) {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
            root => root?,
        };
        let name = name_of(user);
        match root.symlink_metadata(&name) {
            Ok(found) if found.is_dir() => Ok(Some(Self(root.open_dir(&name)?))),
            Ok(_) => Ok(None),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Names of activity files, in order. Links, folders and other files are left out.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in self.0.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if files::is_named(&name) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The content, if it is not larger than a file may be.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
            options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        }
        let unopened = |fault: io::Error| {
            tracing::warn!(target: "toolgate::fitness", %fault, "an activity file can't be opened");
            Refused::Unopened
        };
        let file = self.0.open_with(name, &options).map_err(unopened)?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(Refused::Unopened);
        }
        let mut content = Vec::new();
        file.take(MOST_BYTES as u64 + 1).read_to_end(&mut content).map_err(unopened)?;
        if content.len() > MOST_BYTES { Err(Refused::TooLarge) } else { Ok(content) }
    }
}

/// The folder's name: small letters, digits, `-` and `_` stay, every other byte is `%` and two digits, so that no two users
/// share one where capitals do not count either. One that gets too long is known by its digest.
fn name_of(user: &str) -> String {
    let mut name = String::new();
    for byte in user.bytes() {
        if byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_') {
            name.push(char::from(byte));
        } else {
            // writing to a text does not fail
            let _ = write!(name, "%{byte:02x}");
        }
    }
    if name.len() > LONGEST_NAME {
        // no digit of a byte is an "s"
        return format!("%sha256-{}", toolgate_core::hex(digest(&SHA256, user.as_bytes()).as_ref()));
    }
    name
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_users_folder_has_their_name_and_is_never_a_path() {
        for (user, name) in [
            ("alice", "alice"),
            ("Alice", "%41lice"),
            ("corp/ann", "corp%2fann"),
            ("..", "%2e%2e"),
            ("a\\b\0", "a%5cb%00"),
            ("字", "%e5%ad%97"),
            ("%41", "%2541"),
        ] {
            assert_eq!(name_of(user), name);
        }
        let long = name_of(&"X".repeat(500));
        assert!(long.starts_with("%sha256-") && long.len() < LONGEST_NAME, "{long}");
    }

    proptest! {
        #[test]
        fn no_two_users_share_a_folder(one in ".{0,40}", other in ".{0,40}") {
            let (first, second) = (name_of(&one).to_lowercase(), name_of(&other).to_lowercase());
            prop_assert_eq!(one == other, first == second);
            prop_assert!(!first.contains(['/', '\\', '.']));
        }
    }

    #[test]
    fn only_plain_activity_files_of_ones_own_are_there() {
        let root = tempfile::tempdir().unwrap();
        assert!(Folder::of(&root.path().join("none"), "ann").unwrap().is_none());
        assert!(Folder::of(root.path(), "ann").unwrap().is_none());
        for folder in ["ann", "bob", "ann/sub.gpx"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        fs::write(root.path().join("outside.gpx"), "secret").unwrap();
        fs::write(root.path().join("ann/b.GPX"), "b").unwrap();
        fs::write(root.path().join("ann/a.fit"), "a").unwrap();
        fs::write(root.path().join("ann/notes.txt"), "x").unwrap();
        std::os::unix::fs::symlink("../outside.gpx", root.path().join("ann/link.gpx")).unwrap();
        std::os::unix::fs::symlink("ann", root.path().join("eve")).unwrap();
        let ann = Folder::of(root.path(), "ann").unwrap().unwrap();
        assert_eq!(ann.names().unwrap(), ["a.fit", "b.GPX"]);
        assert_eq!(ann.read("a.fit").unwrap(), b"a");
        for name in ["link.gpx", "../outside.gpx", "../bob", "/etc/passwd", "sub.gpx", "none.gpx"] {
            assert_eq!(ann.read(name), Err(Refused::Unopened), "{name}");
        }
        assert!(Folder::of(root.path(), "eve").unwrap().is_none(), "a link is no folder of one's own");
        assert_eq!(Folder::of(root.path(), "bob").unwrap().unwrap().names().unwrap(), [""; 0]);
    }
}
