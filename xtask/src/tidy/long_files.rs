//! A Rust file is one idea. Past 400 lines it hides a second, unless someone wrote down why not.

use super::{Breach, Source};

const LONGEST: usize = 400;
const EXCUSED: &str = "xtask/tidy-long-files.txt";

pub(super) fn breaches(sources: &[Source]) -> Vec<Breach> {
    let list = sources.iter().find(|source| source.file == EXCUSED).map_or("", |source| source.text.as_str());
    let mut breaches = Vec::new();
    let mut excused = Vec::new();
    for (number, line) in (1..).zip(list.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(':') {
            Some((file, reason)) if !reason.trim().is_empty() => excused.push((number, file.trim())),
            _ => breaches.push(Breach::new(EXCUSED, number, "write `path/to/file.rs: why it is one idea`")),
        }
    }
    let long = |source: &&Source| source.is_rust() && source.text.lines().count() > LONGEST;
    for source in sources.iter().filter(long) {
        if !excused.iter().any(|(_, file)| *file == source.file) {
            let lines = source.text.lines().count();
            let what = format!("{lines} lines, over {LONGEST}: split off the second idea, or excuse it in {EXCUSED}");
            breaches.push(Breach::new(&source.file, lines, what));
        }
    }
    for (number, file) in excused {
        if !sources.iter().filter(long).any(|source| source.file == file) {
            breaches.push(Breach::new(
                EXCUSED,
                number,
                format!("{file} is not over {LONGEST} lines: remove this line"),
            ));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::{super::source, *};

    #[test]
    fn a_long_file_needs_a_reason() {
        let long = "x\n".repeat(LONGEST + 1);
        assert_eq!(breaches(&[source("a.rs", &long)]).len(), 1);
        assert_eq!(breaches(&[source("a.rs", &"x\n".repeat(LONGEST))]), []);
        assert_eq!(breaches(&[source("a.md", &long)]), []);
        assert_eq!(breaches(&[source("a.rs", &long), source(EXCUSED, "# why\na.rs: a table\n")]), []);
        assert_eq!(breaches(&[source("a.rs", &long), source(EXCUSED, "a.rs:\n")]).len(), 2);
    }

    #[test]
    fn an_excuse_nobody_needs_goes() {
        assert_eq!(breaches(&[source("a.rs", "x\n"), source(EXCUSED, "a.rs: a table\n")]).len(), 1);
    }
}
