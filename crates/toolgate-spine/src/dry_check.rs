//! A look at a call before a person is asked about it: what its own source says can't work is refused at once, and uses up
//! no approval.

use std::{sync::Arc, time::Duration};

use crate::{Guarded, Outcome, ToolSource, answer::said, offload::contained, receipts::is_error};

/// How long a source may take; one that takes longer is not waited for.
const WITHIN: Duration = Duration::from_secs(5);

/// Refuses a call whose native dry run fails, in the words of its source.
pub(crate) async fn dry_check(guarded: &Guarded, source: &dyn ToolSource) -> Result<(), Box<Outcome>> {
    let previewed = guarded.previewed();
    let preview = contained(source.preview(&previewed));
    let Ok(Ok(Some(answer))) = tokio::time::timeout(WITHIN, preview).await else { return Ok(()) };
    let result = answer.clone().into_bytes();
    if !is_error(&result) {
        return Ok(());
    }
    let message = said(&result).unwrap_or_else(|| "the dry run failed".to_owned());
    let tool = Arc::clone(&guarded.decided.tool);
    Err(Box::new(Outcome::Refused { tool, code: "dry_run_failed", message, answer }))
}
