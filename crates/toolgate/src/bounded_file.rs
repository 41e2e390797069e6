//! Files that somebody else may have put there: a pipe or a device would be waited on for ever, and a file without end read
//! until the memory is full.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

/// Bytes of the largest file that is read.
pub const LARGEST: u64 = 16 << 20;

/// The text of a regular file of at most [`LARGEST`] bytes.
pub fn read_text(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    if about.len() <= LARGEST {
        // more may have been written meanwhile
        File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    }
    if about.len().max(u64::try_from(bytes.len()).unwrap_or(u64::MAX)) > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {LARGEST} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_bounds_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("text"), "é").unwrap();
        assert_eq!(read_text(&path("text")).unwrap(), "é");
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        for other in [path("pipe"), path(""), "/dev/zero".into()] {
            assert!(read_text(&other).unwrap_err().to_string().contains("not a regular file"), "{}", other.display());
        }
        File::create(path("large")).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(read_text(&path("large")).unwrap_err().to_string().contains("more than"));
        assert_eq!(read_text(&path("missing")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
