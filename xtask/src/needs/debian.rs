//! Debian's packages, where this is Debian and we are root.

use crate::{
    command::{Program, on_path},
    fault::{Fault, Outcome},
};

/// Installs `packages`, or says that `needed` is missing and how a person gets it.
pub(crate) fn install(needed: &str, packages: &[&str]) -> Outcome<()> {
    let missing = || {
        Fault::new(format!("{needed} is missing"))
            .remedy(format!("install it (on Debian: apt-get install {})", packages.join(" ")))
    };
    if on_path("apt-get").is_none() || !is_root() {
        return Err(missing());
    }
    println!("      installing {needed} (apt-get install {})", packages.join(" "));
    apt_get(&["update"])?;
    let install = ["install", "--yes", "--no-install-recommends"];
    apt_get(&[&install, packages].concat())
}

pub(crate) fn is_root() -> bool {
    Program::new("id").args(["-u"]).output().is_ok_and(|id| id.trim() == "0")
}

fn apt_get(arguments: &[&str]) -> Outcome<()> {
    let program = Program::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    program.output().map(drop).map_err(|fault| fault.remedy("see what apt-get says when run by hand"))
}
