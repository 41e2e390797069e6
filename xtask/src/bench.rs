//! The benchmark, given the binary that is shipped.

use crate::{
    fault::{Fault, Outcome},
    repository::Repository,
};

pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Outcome<()> {
    let manifest = repository.join("bench/Cargo.toml");
    if !manifest.is_file() {
        return Err(Fault::new("bench/Cargo.toml is not there").remedy("the benchmark lives in bench/"));
    }
    repository.cargo().args(["build", "--profile", "dist", "--package", "toolgate"]).run()?;
    let toolgate = repository.binary("dist", "toolgate")?;
    repository
        .cargo()
        .args(["run", "--release", "--manifest-path", "bench/Cargo.toml", "--"])
        .args(["--toolgate".as_ref(), toolgate.as_os_str()])
        .args(arguments)
        .run()
}
