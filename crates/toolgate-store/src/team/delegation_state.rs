//! The life of what a task session hands to its agent's chat session.

use super::machine::Machine;

words! {
    DelegationStatus { Pending = "pending", Processing = "processing", Completed = "completed", Failed = "failed" }
}

use DelegationStatus::{Completed, Failed, Pending, Processing};

impl Machine for DelegationStatus {
    const WORD: &'static str = "delegation status";
    const STEPS: &'static [(Self, Self)] = &[
        (Pending, Processing),
        // settled before anybody was asked to: there was nothing left to do
        (Pending, Completed),
        (Pending, Failed),
        (Processing, Completed),
        (Processing, Failed),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_completed_or_failed_and_stays_so() {
        for status in DelegationStatus::ALL {
            assert_eq!(status.is_final(), matches!(status, Completed | Failed), "{status}");
            assert_eq!(status.step(Completed).is_ok(), !status.is_final());
            assert_eq!(status.step(Failed).is_ok(), !status.is_final());
            assert!(status.step(Pending).is_err(), "nothing goes back");
        }
    }
}
