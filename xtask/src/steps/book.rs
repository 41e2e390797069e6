//! The book in `docs/`: it builds without a warning, and no link within it leads nowhere.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use super::Tally;
use crate::{
    command::Program,
    fault::{Fault, Outcome, on_path},
    needs::mdbook,
    repository::Repository,
};

/// Pages that mdBook makes by itself: all chapters on one page, the page for unknown addresses, the table of contents.
const MADE_BY_MDBOOK: [&str; 3] = ["print.html", "404.html", "toc.html"];

pub(super) fn build(repository: &Repository) -> Outcome<Tally> {
    let mdbook = mdbook::program()?;
    let folder = tempfile::tempdir().map_err(|error| Fault::new(format!("no temporary folder: {error}")))?;
    let program = Program::new(mdbook).args(["build", "--dest-dir"]).args([folder.path()]).within(repository.root());
    let said = program.everything_said()?;
    let warned: Vec<&str> = said.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
    if !warned.is_empty() {
        return Err(Fault::new(warned.join("\n")).remedy("mend the page or the entry of docs/SUMMARY.md named above"));
    }
    let mut pages = BTreeMap::new();
    read_pages(folder.path(), folder.path(), &mut pages)?;
    let broken = broken_links(&pages, |file| folder.path().join(file).is_file());
    if broken.is_empty() {
        return Ok(Tally::ONE);
    }
    let remedy =
        "the book holds only what is in docs/: link a page that docs/SUMMARY.md lists, or write the path as `code`";
    Err(Fault::new(broken.join("\n")).remedy(remedy))
}

/// Every chapter under `folder`, by its path relative to `root`.
fn read_pages(root: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Outcome<()> {
    for entry in on_path(fs::read_dir(folder), "read", folder)? {
        let path = on_path(entry, "read", folder)?.path();
        let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
        if path.is_dir() {
            read_pages(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html")
            && !MADE_BY_MDBOOK.iter().any(|name| relative == Path::new(name))
        {
            pages.insert(relative, on_path(fs::read_to_string(&path), "read", &path)?);
        }
    }
    Ok(())
}

/// A line for each link of a page to a file that `exists` does not know, or to a place that its page does not have.
fn broken_links(pages: &BTreeMap<PathBuf, String>, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut broken = Vec::new();
    for (page, html) in pages {
        for link in links(html) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { Some(page.clone()) } else { resolved(page, file) };
            let found = target.as_ref().is_some_and(|target| pages.contains_key(target) || exists(target));
            let text = target.as_ref().and_then(|target| pages.get(target));
            let has_place = place.is_empty() || text.is_none_or(|html| html.contains(&format!("id=\"{place}\"")));
            if !found || !has_place {
                broken.push(format!("{}: the link `{link}` leads nowhere", page.display()));
            }
        }
    }
    broken
}

/// The targets of a page's links, but for those that name a scheme.
fn links(html: &str) -> impl Iterator<Item = &str> {
    let targets = html.split("<a ").skip(1).filter_map(|rest| {
        let tag = rest.split('>').next()?;
        tag.split("href=\"").nth(1)?.split('"').next()
    });
    targets.filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
}

/// The path of `target` seen from `page`; nothing where it leaves the book.
fn resolved(page: &Path, target: &str) -> Option<PathBuf> {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::ParentDir if !path.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(pages: &[(&str, &str)]) -> Vec<String> {
        let pages = pages.iter().map(|(name, html)| (PathBuf::from(name), (*html).to_owned())).collect();
        broken_links(&pages, |file| file == Path::new("picture.svg"))
    }

    #[test]
    fn a_link_to_a_page_a_place_or_a_file_of_the_book_is_good() {
        let linking =
            r##"<a class="x" href="b/two.html#there">x</a> <a href="#here">y</a> <a href="picture.svg">z</a>"##;
        let first = format!(r#"<h2 id="here">h</h2> {linking} <a href="https://example.org">e</a>"#);
        let second = r##"<h2 id="there">h</h2> <a href="../one.html">back</a>"##;
        assert_eq!(book(&[("one.html", &first), ("b/two.html", second)]), Vec::<String>::new());
    }

    #[test]
    fn a_link_out_of_the_book_to_no_page_or_to_no_place_is_found() {
        for wrong in ["../examples/x/README.html", "none.html", "#none", "one.html#none"] {
            assert_eq!(book(&[("one.html", &format!(r#"<a href="{wrong}">x</a>"#))]).len(), 1, "{wrong}");
        }
    }
}
