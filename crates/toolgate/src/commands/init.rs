//! `init`: a configuration to start from. Never overwrites one.

use std::{fs::OpenOptions, io::Write, path::PathBuf};

use super::{next_steps, print};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    sample,
};

pub fn run(place: &Place, output: Output) -> CommandResult {
    let path = place.config.clone().unwrap_or_else(|| PathBuf::from("toolgate.toml"));
    let shown = path.display().to_string();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(|fault| format!("{shown} can't be made: {fault}; an existing file is never overwritten"))?;
    file.write_all(sample::CONFIG.as_bytes())?;
    print(
        output,
        &serde_json::json!({ "written": shown }),
        &format!("Wrote {shown}.\n{}", next_steps::after_init(place)),
    )?;
    Ok(Ending::Good)
}
