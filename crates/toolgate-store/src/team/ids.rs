//! The ids that people choose for agents and projects.

use crate::StoreError;

const LONGEST: usize = 128;
/// Who holds the coordinator's token goes by this name.
const TAKEN: &str = "coordinator";

/// Refuses what could not stand in an address, a log line or a message.
pub(super) fn check(operation: &'static str, id: &str) -> Result<(), StoreError> {
    let refused = |reason: String| Err(StoreError::Invalid { operation, reason });
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@');
    if id.is_empty() || id.len() > LONGEST || !id.chars().all(plain) {
        return refused(format!(
            "an id is 1 to {LONGEST} of letters, digits and '-', '_', '.', ':', '@'; choose another"
        ));
    }
    if id == TAKEN {
        return refused(format!("the id '{TAKEN}' is the coordinator's own; choose another"));
    }
    Ok(())
}
