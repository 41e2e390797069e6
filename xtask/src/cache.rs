//! Tools that outlive a clone: installed once per content of the files that describe them.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use crate::fault::{Fault, Outcome, on_path};

/// `TOOLGATE_TOOLS`, else the user's cache.
pub(crate) fn directory() -> Outcome<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("TOOLGATE_TOOLS")
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("toolgate")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/toolgate")))
        .ok_or_else(|| Fault::new("no place for tools").remedy("set TOOLGATE_TOOLS to a directory"))
}

/// The directory of this tool for exactly this `recipe`, made by `install` if it is not there yet.
///
/// INVARIANT: a directory is used only once `install` has succeeded in it; an interrupted one is removed and made anew.
pub(crate) fn installed(tool: &str, recipe: &[&[u8]], install: impl FnOnce(&Path) -> Outcome<()>) -> Outcome<PathBuf> {
    let tools = directory()?;
    on_path(fs::create_dir_all(&tools), "make", &tools)?;

    // Two clones may test at once: the second waits and finds the first one's work.
    let lock = tools.join(format!("{tool}.lock"));
    let held = on_path(File::create(&lock), "open", &lock)?;
    on_path(held.lock(), "lock", &lock)?;

    let place = tools.join(format!("{tool}-{:016x}", digest(recipe)));
    let complete = place.join("complete");
    if !complete.is_file() {
        println!("      installing {tool} into {}", place.display());
        if place.exists() {
            on_path(fs::remove_dir_all(&place), "remove", &place)?;
        }
        on_path(fs::create_dir_all(&place), "make", &place)?;
        install(&place)?;
        on_path(fs::write(&complete, ""), "write", &complete)?;
    }
    Ok(place)
}

/// Names a directory, guards nothing: a digest that changes with the compiler only means one more install.
fn digest(recipe: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    recipe.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn a_recipe_is_its_parts_in_order() {
        assert_eq!(digest(&[b"a", b"b"]), digest(&[b"a", b"b"]));
        assert_ne!(digest(&[b"a", b"b"]), digest(&[b"b", b"a"]));
        assert_ne!(digest(&[b"ab", b""]), digest(&[b"a", b"b"]));
    }
}
