//! Every decision is in the index, so that nobody has to guess which were made.

use super::{Breach, Source};

const DECISIONS: &str = "docs/decisions/";
const INDEX: &str = "README.md";

pub(super) fn breaches(sources: &[Source]) -> Vec<Breach> {
    let decisions = || sources.iter().filter_map(|source| Some((source, source.file.strip_prefix(DECISIONS)?)));
    let Some((index, _)) = decisions().find(|(_, name)| *name == INDEX) else {
        return Vec::new();
    };
    decisions()
        .filter(|(_, name)| name.ends_with(".md") && *name != INDEX)
        .filter(|(_, name)| !index.text.contains(&format!("({name}")) && !index.text.contains(&format!("(./{name}")))
        .map(|(source, _)| Breach::new(&source.file, 1, format!("not linked from {DECISIONS}{INDEX}: add it there")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{super::source, *};

    #[test]
    fn a_decision_the_index_does_not_link_is_found() {
        let index = source("docs/decisions/README.md", "- [One](0001-one.md)\n");
        let decisions = [index, source("docs/decisions/0001-one.md", ""), source("docs/decisions/0002-two.md", "")];
        let found = breaches(&decisions);
        assert_eq!(found.iter().map(|breach| breach.file.as_str()).collect::<Vec<_>>(), ["docs/decisions/0002-two.md"]);
    }
}
