//! Steps from state to state. A repository changes a state only by a [`Step`], and only the machine's own table makes one: a
//! step that is not in it can't be written down.

/// A closed set of states with the steps between them.
pub trait Machine: Copy + PartialEq + std::fmt::Display + 'static {
    /// What its states are called in a refusal.
    const WORD: &'static str;
    /// Every step there is.
    const STEPS: &'static [(Self, Self)];

    /// The step from here to there, if there is one. None leads from a state to itself.
    fn step(self, to: Self) -> Result<Step<Self>, NoStep> {
        if Self::STEPS.contains(&(self, to)) {
            Ok(Step { from: self, to })
        } else {
            Err(NoStep { word: Self::WORD, from: self.to_string(), to: to.to_string() })
        }
    }

    /// Nothing leads out of it.
    fn is_final(self) -> bool {
        Self::STEPS.iter().all(|(from, _)| *from != self)
    }
}

/// A step that its machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<S> {
    from: S,
    to: S,
}

impl<S: Machine> Step<S> {
    pub fn from(self) -> S {
        self.from
    }

    pub fn to(self) -> S {
        self.to
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid {word} transition from {from} to {to}")]
pub struct NoStep {
    word: &'static str,
    from: String,
    to: String,
}
