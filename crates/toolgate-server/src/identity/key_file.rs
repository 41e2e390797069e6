//! The seed on disk: one line of text, made once, readable by its owner alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    error::IdentityError,
    secret::{Secret, random},
};

/// The file's name under the data directory.
pub const FILE_NAME: &str = "signing.key";
const HEAD: &str = "toolgate-seed-1 ";

pub(super) fn load_or_create(dir: &Path) -> Result<Secret, IdentityError> {
    let path = dir.join(FILE_NAME);
    match load(&path) {
        Err(IdentityError::KeyFile { source, .. }) if source.kind() == ErrorKind::NotFound => {}
        found => return found,
    }
    create(dir, &path)?;
    // Read back even when just made: with two processes starting at once, the file decides, not the maker.
    load(&path)
}

pub(super) fn load(path: &Path) -> Result<Secret, IdentityError> {
    let failed = |source| IdentityError::KeyFile { doing: "read", path: path.to_owned(), source };
    let garbled = || IdentityError::KeyGarbled { path: path.to_owned() };
    if is_special(path) {
        return Err(garbled());
    }
    let file = File::open(path).map_err(failed)?;
    // Asked of the open file, so that it can't be swapped between the question and the reading.
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(garbled());
    }
    refuse_exposed(path, &about)?;
    let mut text = String::new();
    file.take(1024).read_to_string(&mut text).map_err(|_| garbled())?;
    let encoded = text.trim_end().strip_prefix(HEAD).ok_or_else(garbled)?;
    let seed = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| garbled())?;
    if seed.len() != 32 {
        return Err(garbled());
    }
    Ok(Secret::new(seed))
}

/// Returns true if there is something else than a regular file: opening a pipe would wait for ever.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file())
}

/// The fewest characters of a secret that its owner chose.
const LEAST_SECRET: usize = 32;

/// A secret that its owner wrote into a file: long enough that nobody guesses it, and readable by its owner alone.
pub fn read_shared_secret(path: &Path) -> Result<Secret, IdentityError> {
    let failed = |source| IdentityError::SecretFile { path: path.to_owned(), source };
    if is_special(path) {
        return Err(failed(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")));
    }
    let file = File::open(path).map_err(failed)?;
    refuse_exposed(path, &file.metadata().map_err(failed)?)?;
    let mut text = String::new();
    file.take(64 * 1024).read_to_string(&mut text).map_err(failed)?;
    let secret = text.trim_end();
    let found = secret.chars().count();
    if found < LEAST_SECRET {
        return Err(IdentityError::SecretWeak { path: path.to_owned(), found, least: LEAST_SECRET });
    }
    Ok(Secret::new(secret.as_bytes()))
}

/// Writes a whole file under another name and links it into place: linking fails where a key is already, so the
/// key is never half written and never replaced.
fn create(dir: &Path, path: &Path) -> Result<(), IdentityError> {
    let failed = |source| IdentityError::KeyFile { doing: "create", path: path.to_owned(), source };
    make_dir(dir).map_err(failed)?;
    let draft: PathBuf = dir.join(format!(".{FILE_NAME}.{}", URL_SAFE_NO_PAD.encode(random::<9>()?)));
    let line = format!("{HEAD}{}\n", URL_SAFE_NO_PAD.encode(random::<32>()?));
    let written = write_private(&draft, line.as_bytes()).and_then(|()| fs::hard_link(&draft, path));
    let cleaned = fs::remove_file(&draft);
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        other => other.and(cleaned).map_err(failed)?,
    }
    sync_dir(dir).map_err(failed)
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn make_dir(dir: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

#[cfg(unix)]
fn sync_dir(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(not(unix))]
fn sync_dir(_: &Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, about: &fs::Metadata) -> Result<(), IdentityError> {
    let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o7777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(IdentityError::KeyExposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn refuse_exposed(_: &Path, _: &fs::Metadata) -> Result<(), IdentityError> {
    Ok(())
}
