//! Nothing of one machine is in the repository: no home directory, no address that packages were fetched from.

use super::{Breach, Source};

/// Put together here so that this file does not break its own rule.
const DIRECTORIES: [&str; 3] = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];

/// What `Cargo.lock` says of a crate that comes from where crates come from by default.
const DEFAULT_SOURCE: &str = "registry+https://github.com/";

pub(super) fn breaches(sources: &[Source]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for source in sources {
        for (number, line) in source.lines() {
            if let Some(directory) = DIRECTORIES.iter().find(|directory| is_absolute(line, directory)) {
                let what = format!("`{directory}…` is a directory of one machine: use a relative path or a variable");
                breaches.push(Breach::new(&source.file, number, what));
            }
            if let Some(found) = address(&source.file, line) {
                let what =
                    format!("`{found}` is where one machine fetches packages: leave it to each machine's settings");
                breaches.push(Breach::new(&source.file, number, what));
            }
        }
    }
    breaches
}

/// Whether the directory stands at the start of a path, not within a longer one (`tests/…`, `~/…`, `$HOME/…`).
fn is_absolute(line: &str, directory: &str) -> bool {
    line.match_indices(directory).any(|(start, _)| {
        let before = line.get(..start).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !(c.is_alphanumeric() || "._-~}*])>".contains(c)))
    })
}

/// An address in a lock file: where one machine fetched a package.
fn address<'a>(file: &str, line: &'a str) -> Option<&'a str> {
    let value = line.trim_start();
    let npm = file.ends_with("package-lock.json") && value.starts_with("\"resolved\": \"http");
    let source = value.strip_prefix("source = \"").and_then(|rest| rest.strip_suffix('"'));
    let cargo = file.ends_with("Cargo.lock")
        && source.is_some_and(|source| !source.starts_with(DEFAULT_SOURCE) && !source.starts_with("git+"));
    (npm || cargo).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::{super::source, *};

    #[test]
    fn a_home_directory_is_found_and_a_path_that_only_looks_like_one_is_not() {
        for directory in DIRECTORIES {
            assert_eq!(breaches(&[source("a.md", &format!("see {directory}x"))]).len(), 1, "{directory}");
            assert_eq!(breaches(&[source("a.md", &format!("file://{directory}x"))]).len(), 1, "{directory}");
            assert_eq!(breaches(&[source("a.md", &format!("see tests{directory}x"))]), [], "{directory}");
        }
    }

    #[test]
    fn a_lock_file_names_no_address() {
        let npm = "      \"resolved\": \"https://packages.example/a.tgz\",";
        assert_eq!(breaches(&[source("tests/package-lock.json", npm)]).len(), 1);
        let mirror = "source = \"sparse+https://packages.example/\"";
        assert_eq!(breaches(&[source("Cargo.lock", mirror)]).len(), 1);
        assert_eq!(breaches(&[source("Cargo.lock", &format!("source = \"{DEFAULT_SOURCE}a/b\""))]), []);
    }

    #[test]
    fn a_line_may_be_allowed() {
        let line = format!("{}alice // a path in a test; tidy: allow", concat!("/ho", "me/"));
        assert_eq!(breaches(&[source("a.rs", &line)]), []);
    }
}
