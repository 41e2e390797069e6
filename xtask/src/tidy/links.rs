//! Relative links in Markdown lead to a file, and to a heading that is there. Every page of `docs/` is in the book.

use std::collections::BTreeMap;

use super::{Breach, Source};

const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

pub(super) fn breaches(sources: &[Source], files: &[String]) -> Vec<Breach> {
    let pages: BTreeMap<&str, &Source> = sources
        .iter()
        .filter(|source| source.file.ends_with(".md"))
        .map(|source| (source.file.as_str(), source))
        .collect();
    let is_there = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        files.iter().any(|file| file == path || file.starts_with(&folder))
    };
    let mut breaches = Vec::new();
    for source in pages.values() {
        for (number, target) in links(source) {
            let (file, place) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { Some(source.file.clone()) } else { resolved(&source.file, file) };
            let Some(path) = path.filter(|path| is_there(path)) else {
                breaches.push(Breach::new(&source.file, number, format!("`{target}` leads to no file: mend the link")));
                continue;
            };
            if let Some(page) = pages.get(path.as_str()).filter(|_| !place.is_empty())
                && !headings(&page.text).iter().any(|heading| heading == place)
            {
                let what = format!("`{target}`: {path} has no heading with that name: mend the link");
                breaches.push(Breach::new(&source.file, number, what));
            }
        }
    }
    if let Some(summary) = pages.get(SUMMARY) {
        let listed: Vec<String> =
            links(summary).into_iter().filter_map(|(_, target)| resolved(SUMMARY, target)).collect();
        let in_book = |page: &&&str| page.starts_with(BOOK) && **page != SUMMARY;
        for page in pages.keys().filter(in_book).filter(|page| !listed.iter().any(|listed| listed == *page)) {
            breaches.push(Breach::new(page, 1, format!("not in the book: add it to {SUMMARY}")));
        }
    }
    breaches
}

/// The relative targets of a page's links with their lines; those within code are none.
fn links(source: &Source) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in outside_fences(&source.text) {
        // every second part is code; a part after it may still end a link, as in [`name`](target)
        for part in line.split('`').step_by(2) {
            let targets = part.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            found.extend(targets.map(|target| (number, target)));
        }
    }
    let is_relative = |target: &str| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
    found.into_iter().filter(|(_, target)| is_relative(target)).collect()
}

fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// The names by which a page's headings can be linked, as GitHub and mdBook make them.
fn headings(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, line) in outside_fences(text) {
        let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) else {
            continue;
        };
        let base = slug(title);
        let same = names.iter().filter(|name| **name == base || name.starts_with(&format!("{base}-"))).count();
        names.push(if names.contains(&base) { format!("{base}-{same}") } else { base });
    }
    names
}

fn slug(title: &str) -> String {
    // of a link only its text is read
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let kept = text.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The path from the root of what `target` names in `file`; nothing where it leaves the repository.
fn resolved(file: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{super::source, *};

    fn found(pages: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = pages.iter().map(|(file, text)| source(file, text)).collect();
        let files: Vec<String> = pages.iter().map(|(file, _)| (*file).to_owned()).collect();
        breaches(&sources, &files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_link_to_a_file_a_folder_or_a_heading_is_good() {
        let one = "# One `two`\n[a](docs/b.md#c-d-1) [b](#one-two) [c](docs) [`d`](docs/b.md) <x> [e](https://e.example/f.md)\n";
        assert_eq!(found(&[("a.md", one), ("docs/b.md", "## C, d\n## c d\n[up](../a.md)\n")]), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_nothing_is_found() {
        for wrong in ["none.md", "#none", "b.md#none", "../b.md"] {
            assert_eq!(found(&[("a.md", &format!("see [x]({wrong})\n")), ("b.md", "# B\n")]).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(
            found(&[("a.md", "`[x](none.md)`\n```text\n[x](none.md)\n# no heading\n```\n")]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_page_that_the_book_does_not_list_is_found() {
        let book = [("docs/SUMMARY.md", "- [A](a.md)\n"), ("docs/a.md", ""), ("docs/b.md", "")];
        assert_eq!(found(&book), ["docs/b.md:1: not in the book: add it to docs/SUMMARY.md"]);
    }
}
