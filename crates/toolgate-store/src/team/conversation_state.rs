//! The life of a conversation of two agents.

use super::machine::Machine;

words! {
    ConversationState {
        /// Begun by one; the other has not taken it up.
        Pending = "pending",
        Active = "active",
        /// One side ended it, the other does not know yet.
        Terminating = "terminating",
        /// Both know.
        Ended = "ended",
        /// Nobody took it up, or nobody said anything, for too long.
        Expired = "expired",
    }
}

use ConversationState::{Active, Ended, Expired, Pending, Terminating};

impl Machine for ConversationState {
    const WORD: &'static str = "conversation state";
    const STEPS: &'static [(Self, Self)] = &[
        (Pending, Active),
        // who began it may end it before it is taken up
        (Pending, Terminating),
        (Pending, Expired),
        (Active, Terminating),
        (Active, Expired),
        (Terminating, Ended),
    ];
}

/// How long a conversation waits to be taken up.
pub const PENDING_MS: i64 = 5 * 60 * 1000;
/// How long it lasts after the last word.
pub const ACTIVE_MS: i64 = 10 * 60 * 1000;

impl ConversationState {
    pub fn is_open(self) -> bool {
        matches!(self, Pending | Active)
    }

    /// What it is at a time: the clock ends what nobody ends.
    pub fn at(self, last_at: i64, now: i64) -> Self {
        let quiet = now.saturating_sub(last_at);
        match self {
            Pending if quiet >= PENDING_MS => Expired,
            Active if quiet >= ACTIVE_MS => Expired,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_one_way_only() {
        let rank = |state: &ConversationState| ConversationState::ALL.iter().position(|known| known == state).unwrap();
        assert!(ConversationState::STEPS.iter().all(|(from, to)| rank(from) < rank(to)));
        assert!(Ended.is_final() && Expired.is_final());
    }

    #[test]
    fn every_way_leads_to_an_end() {
        for start in ConversationState::ALL {
            let mut reached = vec![*start];
            for _ in ConversationState::ALL {
                let next =
                    ConversationState::STEPS.iter().filter(|(from, _)| reached.contains(from)).map(|(_, to)| *to);
                reached.extend(next.collect::<Vec<_>>());
            }
            assert!(reached.iter().any(|state| state.is_final()), "{start}");
        }
    }

    #[test]
    fn time_ends_what_is_open_and_nothing_else() {
        for state in ConversationState::ALL {
            for (quiet, long) in [(0, false), (PENDING_MS - 1, false), (PENDING_MS, true), (ACTIVE_MS, true)] {
                let later = state.at(1_000, 1_000 + quiet);
                let over = match state {
                    Pending => long,
                    Active => quiet >= ACTIVE_MS,
                    _ => false,
                };
                assert_eq!(later, if over { Expired } else { *state }, "{state} after {quiet}");
                assert!(later == *state || state.step(later).is_ok(), "the clock takes no step that the table lacks");
            }
        }
    }
}
