//! The ids that people choose: for tenants, agents and projects.

use crate::StoreError;

const LONGEST: usize = 128;

/// Refuses what could not stand in an address, a log line or a message.
pub(crate) fn check(operation: &'static str, id: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '@');
    if id.is_empty() || id.len() > LONGEST || !id.chars().all(plain) {
        let reason = format!("an id is 1 to {LONGEST} of letters, digits and '-', '_', '.', ':', '@'; choose another");
        return Err(StoreError::Invalid { operation, reason });
    }
    Ok(())
}
