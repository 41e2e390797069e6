//! Who runs the server: PostgreSQL refuses to run as root.

use std::path::Path;

use crate::{
    command::{self, Program},
    fault::Outcome,
    needs::debian,
};

pub(super) enum Account {
    Ours,
    Postgres,
}

impl Account {
    pub(super) fn fit() -> Self {
        if debian::is_root() { Self::Postgres } else { Self::Ours }
    }

    /// A program of the server's, run by this account, that ends when we do, however we end.
    pub(super) fn program(&self, program: &Path, directory: &Path) -> Program {
        let line = match self {
            Self::Postgres => {
                let other = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=INT"];
                Program::new("setpriv").args(other).args([program])
            }
            Self::Ours if command::on_path("setpriv").is_some() => {
                Program::new("setpriv").args(["--pdeathsig=INT".as_ref(), program.as_os_str()])
            }
            Self::Ours => Program::new(program),
        };
        // Our own directory may be closed to the other account.
        line.within(directory)
    }

    pub(super) fn own(&self, directory: &Path) -> Outcome<()> {
        match self {
            Self::Postgres => Program::new("chown").args(["postgres:postgres"]).args([directory]).output().map(drop),
            Self::Ours => Ok(()),
        }
    }
}
