//! `store accept-restore`: lets a database that was restored from an older copy count as the newest, on record.

use serde_json::json;
use toolgate_store::ledger::LedgerSettings;

use super::{books, operator_name, print};
use crate::{CommandResult, Ending, cli::StoreCommand, ground::now};

pub async fn run(command: StoreCommand) -> CommandResult {
    let StoreCommand::AcceptRestore { by, place, output } = command;
    let by = operator_name(by)?;
    let store = books::store(&place).await?;
    let Some(restored) = store.restored() else {
        store.close().await;
        print(
            output,
            &json!({ "accepted": false }),
            "The database is as new as its ledger: there is nothing to accept.\n",
        )?;
        return Ok(Ending::Good);
    };
    let ledger = store.ledger(LedgerSettings::default()).await?;
    // On record first: an acceptance that nobody can find later must not be.
    let recorded = ledger.record_restore(restored, &by, now()).await;
    let accepted = match recorded {
        Ok(_) => store.accept_restore().await.map_err(Into::into),
        Err(unavailable) => Err(unavailable.into()),
    };
    ledger.close().await;
    store.close().await;
    accepted.and_then(|()| {
        let missing = restored.missing().map_or_else(|| "an unknown number of".to_owned(), |count| count.to_string());
        print(
            output,
            &json!({ "accepted": true, "writes": restored.writes, "known": restored.known }),
            &format!("Accepted, and on record: the database goes on without {missing} writes.\n"),
        )?;
        Ok(Ending::Good)
    })
}
