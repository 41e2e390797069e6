//! `ledger checkpoint`: one signed line, to be kept where the ledger is not.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use serde_json::json;

use super::{NO_LEDGER, Open};
use crate::{
    CommandResult, Ending,
    cli::{Output, Place},
    commands::{books::json as parsed, print},
    ground,
};

pub async fn run(place: &Place, to: Option<&Path>, output: Output) -> CommandResult {
    let open = Open::at(place).await?;
    let Some(ledger) = &open.ledger else {
        open.close().await;
        print(output, &json!({"checkpoint": null, "message": NO_LEDGER}), &format!("{NO_LEDGER}\n"))?;
        return Ok(Ending::No);
    };
    let key = open.store.ledger_key().await?;
    let checkpoint = ledger.checkpoint(&key, ground::now()).await?;
    open.close().await;
    let (line, public) = (checkpoint.to_line(), key.public());
    let text = match to {
        None => format!("{line}\n"),
        Some(file) => {
            let failed = |fault: std::io::Error| format!("'{}' can't be appended to: {fault}", file.display());
            append(file, &line).map_err(failed)?;
            format!(
                "{} has a checkpoint of {} writer(s) more.\nKeep the file and this public key away from the database: {public}\n",
                file.display(),
                checkpoint.heads().len()
            )
        }
    };
    let to = to.map(|file| file.display().to_string());
    print(output, &json!({"checkpoint": parsed(&line), "public_key": public, "to": to}), &text)?;
    Ok(Ending::Good)
}

/// On a line of its own, also after a line that was cut off, and on the disk.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let begin = if ends_within_a_line(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes())?;
    file.sync_all()
}

fn ends_within_a_line(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 || !file.metadata()?.is_file() {
        return Ok(false);
    }
    let mut last = [0; 1];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
