//! `ledger verify|tail|export|checkpoint|archive|verify-archive`: what was recorded, and whether it still is what was recorded.
//!
//! INVARIANT: these commands read the ledger; only `archive` is one of its writers.

mod archive;
mod checkpoint;
mod export;
mod otel;
mod tail;
mod verify;

use toolgate_store::{
    Store,
    ledger::{Filter, LedgerReader},
};

pub(super) use self::checkpoint::checkpoint_settings;
use super::{books, when};
use crate::{
    CommandResult, Misuse,
    cli::{FilterArgs, LedgerCommand, Place},
    ground,
};

/// What is said where no process ever opened a ledger.
pub(super) const NO_LEDGER: &str = "there is no ledger here: nothing was ever recorded, or it was removed";

pub async fn run(command: LedgerCommand) -> CommandResult {
    books::ended(match command {
        LedgerCommand::Verify { checkpoints, since_last, archives, public_key, place, output } => {
            let public_key = public_key.map(verify::checked_key).transpose()?;
            let against = checkpoints.map(|file| verify::Against { file, since_last, public_key: public_key.clone() });
            verify::run(&place, against, verify::Archived { folder: archives, public_key }, output).await
        }
        LedgerCommand::Archive { before, to, place, output } => archive::run(&place, &before, to, output).await,
        LedgerCommand::VerifyArchive { path, public_key, place, output } => {
            archive::verify_archive(&path, public_key, &place, output).await
        }
        LedgerCommand::Tail { follow, all, limit, filter, place, output } => {
            let shown = tail::Shown { limit, all, output };
            tail::run(&place, filter.filter()?, shown, follow).await
        }
        LedgerCommand::Export { format, filter, place, output: _ } => {
            export::run(&place, filter.filter()?, format).await
        }
        LedgerCommand::Checkpoint { to, place, output } => checkpoint::run(&place, to.as_deref(), output).await,
    })
}

/// A ledger that is read, if there is one, and the store it belongs to.
pub(super) struct Open {
    store: Store,
    pub(super) ledger: Option<LedgerReader>,
}

impl Open {
    pub(super) async fn at(place: &Place) -> Result<Self, Misuse> {
        let store = books::store(place).await?;
        let ledger = store.ledger_reader().await?;
        Ok(Self { store, ledger })
    }

    pub(super) async fn close(self) {
        self.store.close().await;
    }
}

impl FilterArgs {
    pub(super) fn filter(self) -> Result<Filter, Misuse> {
        let now = ground::now();
        let time = |option: &str, text: Option<String>| text.map(|text| when::at(option, &text, now)).transpose();
        Ok(Filter {
            since: time("--since", self.since)?,
            until: time("--until", self.until)?,
            tool: self.tool,
            principal: self.principal,
            outcome: self.outcome,
            flow: self.flow,
            tenant: self.tenant,
            call: self.call,
        })
    }
}
