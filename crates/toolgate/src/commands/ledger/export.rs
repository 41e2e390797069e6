//! `ledger export`: everything that fits a filter, page by page, in bounded memory.

use toolgate_store::ledger::{Filter, LedgerReader};

use super::{NO_LEDGER, Open, otel};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{ExportFormat, Place},
    commands::books::put,
};

pub async fn run(place: &Place, filter: Filter, format: ExportFormat) -> CommandResult {
    let open = Open::at(place).await?;
    let written = match &open.ledger {
        Some(ledger) => write(ledger, filter, format).await,
        None => {
            eprintln!("toolgate: {NO_LEDGER}");
            Ok(())
        }
    };
    open.close().await;
    written.map(|()| Ending::Good)
}

async fn write(ledger: &LedgerReader, filter: Filter, format: ExportFormat) -> Result<(), Misuse> {
    let mut pages = ledger.pages(filter);
    loop {
        let page = pages.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        let text = match format {
            ExportFormat::Jsonl => page.iter().map(|record| record.to_line() + "\n").collect(),
            ExportFormat::Otel => otel::lines(&page)?,
        };
        if !put(&text)? {
            return Ok(());
        }
    }
}
