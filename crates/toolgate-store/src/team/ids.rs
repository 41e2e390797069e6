//! The ids that people choose for agents and projects.

use crate::StoreError;

/// Who holds the coordinator's token goes by this name.
const TAKEN: &str = "coordinator";

pub(super) fn check(operation: &'static str, id: &str) -> Result<(), StoreError> {
    crate::ids::check(operation, id)?;
    if id == TAKEN {
        let reason = format!("the id '{TAKEN}' is the coordinator's own; choose another");
        return Err(StoreError::Invalid { operation, reason });
    }
    Ok(())
}
