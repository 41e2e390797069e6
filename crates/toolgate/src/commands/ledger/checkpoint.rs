//! `ledger checkpoint`: one signed line, to be kept where the ledger is not.

use std::path::Path;

use serde_json::json;
use toolgate_server::checkpoints::{CheckpointSettings, append_line};
use toolgate_store::ledger::NotSigned;

use super::{NO_LEDGER, Open};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    commands::{
        books::{counted, json as parsed},
        print,
    },
    config::Config,
    ground::{self, duration},
};

pub async fn run(place: &Place, to: Option<&Path>, output: Output) -> CommandResult {
    let open = Open::at(place).await?;
    let Some(ledger) = &open.ledger else {
        open.close().await;
        print(output, &json!({"checkpoint": null, "message": NO_LEDGER}), &format!("{NO_LEDGER}\n"))?;
        return Ok(Ending::No);
    };
    let key = open.store.ledger_key().await?;
    let made = ledger.checkpoint(&key, ground::now()).await;
    open.close().await;
    let checkpoint = match made {
        Ok(checkpoint) => checkpoint,
        Err(NotSigned::Store(fault)) => return Err(fault.into()),
        Err(fault @ NotSigned::Unsound(_)) => {
            let message = fault.to_string();
            print(output, &json!({"checkpoint": null, "message": message}), &format!("{message}\n"))?;
            return Ok(Ending::No);
        }
    };
    let (line, public) = (checkpoint.to_line(), key.public());
    let text = match to {
        None => format!("{line}\n"),
        Some(file) => {
            let failed = |fault: std::io::Error| format!("'{}' can't be appended to: {fault}", file.display());
            append_line(file, &line).map_err(failed)?;
            format!(
                "A checkpoint of {} was added to {}.\nKeep the file and this public key away from the database: {public}\n",
                counted(checkpoint.heads().len(), "writer"),
                file.display()
            )
        }
    };
    let to = to.map(|file| file.display().to_string());
    print(output, &json!({"checkpoint": parsed(&line), "public_key": public, "to": to}), &text)?;
    Ok(Ending::Good)
}

/// Where checkpoints go, if somewhere.
pub fn checkpoint_settings(config: &Config) -> Result<Option<CheckpointSettings>, Misuse> {
    let given = &config.ledger;
    let every = given.checkpoint_every.as_deref().unwrap_or("1h");
    let every = duration(every).map_err(|fault| format!("[ledger] checkpoint_every: {fault}"))?;
    let settings = CheckpointSettings::new(every, given.checkpoint_file.clone(), given.checkpoint_url.as_deref());
    Ok(settings.map_err(|fault| format!("[ledger] {fault}"))?)
}
