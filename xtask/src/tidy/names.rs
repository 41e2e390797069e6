//! A module is named for what it is. These names say only that nobody knew.

use std::path::Path;

use super::{Breach, Source};

const EMPTY: [&str; 8] = ["util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"];

pub(super) fn breaches(sources: &[Source]) -> Vec<Breach> {
    let rust = sources.iter().filter(|source| source.is_rust());
    rust.filter_map(|source| {
        let name = empty_name(&source.file)?;
        Some(Breach::new(&source.file, 1, format!("`{name}` says nothing: name the module for the one idea in it")))
    })
    .collect()
}

/// The part of the path that is such a name: the file's own stem or a directory above it.
fn empty_name(file: &str) -> Option<&str> {
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str());
    let directories = Path::new(file).parent().into_iter().flat_map(Path::iter).filter_map(|part| part.to_str());
    directories.chain(stem).find(|name| EMPTY.contains(name))
}

#[cfg(test)]
mod tests {
    use super::empty_name;

    #[test]
    fn a_file_or_directory_with_an_empty_name_is_found() {
        assert_eq!(empty_name("crates/a/src/utils.rs"), Some("utils"));
        assert_eq!(empty_name("crates/a/tests/common/mod.rs"), Some("common"));
        assert_eq!(empty_name("crates/a/src/manager_only.rs"), None);
        assert_eq!(empty_name("crates/a/src/ledger.rs"), None);
    }
}
