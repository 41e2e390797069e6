//! Python and the packages of the end-to-end tests, in a virtual environment of their own.

use std::path::{Path, PathBuf};

use crate::{
    cache,
    command::Program,
    fault::{Fault, Outcome, on_path},
    needs::debian,
};

/// The interpreter that has everything `requirements` names.
pub(crate) fn with(requirements: &Path) -> Outcome<PathBuf> {
    let version = version()?;
    let wanted = on_path(std::fs::read(requirements), "read", requirements)?;
    let place = cache::installed("python", &[version.as_bytes(), &wanted], |place| {
        Program::new("python3").args(["-m", "venv"]).args([place]).output()?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        let install = Program::new(interpreter(place)).args(pip).args([requirements]);
        install
            .output()
            .map(drop)
            .map_err(|fault| fault.remedy("see pip's own words above; most often its index is out of reach"))
    })?;
    Ok(interpreter(&place))
}

/// Where an interpreter's packages are.
pub(crate) fn site_packages(interpreter: &Path) -> Outcome<PathBuf> {
    let look = "import sysconfig; print(sysconfig.get_path('purelib'))";
    Ok(PathBuf::from(Program::new(interpreter).args(["-c", look]).output()?.trim()))
}

fn interpreter(place: &Path) -> PathBuf {
    place.join("bin/python")
}

/// The version of a `python3` that can make virtual environments.
fn version() -> Outcome<String> {
    // Debian ships `venv` without what it needs (`ensurepip`) unless asked.
    let probe = || {
        let look = "import ensurepip, sys, venv; print(sys.version); sys.exit(sys.version_info < (3, 10))";
        Program::new("python3").args(["-c", look]).output()
    };
    if let Ok(version) = probe() {
        return Ok(version);
    }
    debian::install("Python 3.10 or later with venv", &["python3", "python3-venv"])?;
    probe().map_err(|_| Fault::new("python3 is older than 3.10 or can't make virtual environments"))
}
