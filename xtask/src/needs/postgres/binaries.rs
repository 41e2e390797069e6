//! Where the server's programs are. Debian keeps them off the path, one directory per version.

use std::path::{Path, PathBuf};

use crate::{
    command::{self, Program},
    fault::{Fault, Outcome},
    needs::debian,
};

/// The directory of the newest server on this machine, installed if there is none.
pub(super) fn directory() -> Outcome<PathBuf> {
    if let Some(found) = found() {
        return Ok(found);
    }
    debian::install("a PostgreSQL server", &["postgresql"])?;
    found()
        .ok_or_else(|| Fault::new("the postgresql package brought no server").remedy("put initdb's directory on PATH"))
}

fn found() -> Option<PathBuf> {
    let is_server = |directory: &PathBuf| directory.join("initdb").is_file() && directory.join("postgres").is_file();
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_string_lossy().parse::<u32>().ok());
    let mut packaged: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    packaged.sort_by_key(version);
    let packaged = packaged.into_iter().rev().map(|path| path.join("bin"));
    let configured = || {
        let said = Program::new("pg_config").args(["--bindir"]).output().ok()?;
        Some(PathBuf::from(said.trim_end()))
    };
    let on_path = || command::on_path("initdb")?.parent().map(Path::to_path_buf);
    packaged.chain(configured()).chain(on_path()).find(is_server)
}
