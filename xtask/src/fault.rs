//! What went wrong, which command said so, and what to do about it.

use std::fmt;

use crate::steps::Tally;

pub(crate) type Outcome<T> = Result<T, Fault>;

#[derive(Debug, Default)]
pub(crate) struct Fault {
    what: String,
    command: Option<String>,
    remedy: Option<String>,
    /// What a suite counted; a fault is one failure at least.
    tally: Option<Tally>,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), ..Self::default() }
    }

    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// The first remedy given stays: it is from where the fault happened.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy.get_or_insert(remedy.into());
        self
    }

    pub(crate) fn counted(mut self, tally: Tally) -> Self {
        self.tally = Some(tally);
        self
    }

    pub(crate) fn tally(&self) -> Tally {
        let Tally { passed, failed } = self.tally.unwrap_or_default();
        Tally { passed, failed: failed.max(1) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.what)?;
        if let Some(command) = &self.command {
            write!(out, "\n  command:    {command}")?;
        }
        if let Some(remedy) = &self.remedy {
            write!(out, "\n  what to do: {remedy}")?;
        }
        Ok(())
    }
}

/// Says what was being done to which path when the system refused.
pub(crate) fn on_path<T>(result: std::io::Result<T>, doing: &str, path: &std::path::Path) -> Outcome<T> {
    result.map_err(|error| Fault::new(format!("can't {doing} {}: {error}", path.display())))
}
