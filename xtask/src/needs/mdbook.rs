//! mdBook, which builds the book in `docs/`.

use std::path::PathBuf;

use crate::{
    cache,
    command::{self, Program},
    fault::Outcome,
};

const VERSION: &str = "0.5.4";

/// The program: the one on the path if it has this version, else one of our own.
pub(crate) fn program() -> Outcome<PathBuf> {
    if let Some(found) = command::on_path("mdbook")
        && Program::new(&found).args(["--version"]).output().is_ok_and(|said| is_wanted(&said))
    {
        return Ok(found);
    }
    let place = cache::installed("mdbook", &[VERSION.as_bytes()], |place| {
        // Without what only a reader at a browser needs (watching, serving, searching), and not optimised: the book is small.
        let install =
            ["install", "mdbook", "--locked", "--debug", "--no-default-features", "--version", VERSION, "--root"];
        let cargo = Program::cargo().args(install).args([place]);
        cargo.output().map(drop).map_err(|fault| {
            fault.remedy(
                "see cargo's own words above; or install mdbook yourself, in the version that the command names",
            )
        })
    })?;
    Ok(place.join("bin").join(format!("mdbook{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns true if `mdbook --version` (`mdbook v0.5.4`) names the version above.
fn is_wanted(said: &str) -> bool {
    said.split_whitespace().nth(1).map(|version| version.trim_start_matches('v')) == Some(VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_version_is_taken_from_the_path() {
        assert!(is_wanted(&format!("mdbook v{VERSION}\n")));
        assert!(!is_wanted("mdbook v0.1.0\n"));
        assert!(!is_wanted(""));
    }
}
