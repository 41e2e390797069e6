//! Dependencies between the crates point downward. Core does no I/O, and only the store knows a database.

use serde_json::Value;

use super::Breach;
use crate::{
    fault::{Fault, Outcome},
    repository::Repository,
};

/// From the bottom up: a crate may know those before it.
const LAYERS: [&str; 8] = [
    "toolgate-core",
    "toolgate-store",
    "toolgate-spine",
    "toolgate-packs",
    "toolgate-upstream",
    "toolgate-mcp",
    "toolgate-server",
    "toolgate",
];

/// How the name of a dependency begins that would bring I/O or async into core.
const NOT_IN_CORE: [&str; 14] = [
    "tokio",
    "async-",
    "futures",
    "hyper",
    "axum",
    "reqwest",
    "tower",
    "smol",
    "rmcp",
    "tonic",
    "rusqlite",
    "sqlx",
    "http-body",
    "mio",
];

const DATABASES: [&str; 2] = ["rusqlite", "sqlx"];

/// A crate and one thing it depends on, as its manifest says.
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    for_tests: bool,
}

pub(super) fn breaches(repository: &Repository) -> Outcome<Vec<Breach>> {
    let metadata = repository.metadata()?;
    let root = repository.root().to_string_lossy().into_owned();
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.ok_or_else(|| Fault::new("cargo metadata lists no packages"))?;
    let mut breaches = Vec::new();
    for package in packages {
        let text = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
        let manifest = text("manifest_path").strip_prefix(&root).unwrap_or_default().trim_start_matches('/');
        if !manifest.starts_with("crates/") {
            continue;
        }
        let source = repository.text(manifest)?.unwrap_or_default();
        let mut told = |name: &str, what: String| {
            let line = (1..).zip(source.lines()).find(|(_, line)| line.contains(name)).map_or(1, |(number, _)| number);
            breaches.push(Breach::new(manifest, line, what));
        };
        if !LAYERS.contains(&text("name")) {
            told(text("name"), format!("{} has no place: add it to LAYERS in xtask/src/tidy/layers.rs", text("name")));
            continue;
        }
        for dependency in package.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
            let edge = Edge {
                from: text("name"),
                to: dependency.get("name").and_then(Value::as_str).unwrap_or_default(),
                for_tests: dependency.get("kind").and_then(Value::as_str) == Some("dev"),
            };
            if let Some(what) = wrong(&edge) {
                told(edge.to, what);
            }
        }
    }
    Ok(breaches)
}

/// Why this dependency may not be, if it may not.
fn wrong(Edge { from, to, for_tests }: &Edge<'_>) -> Option<String> {
    let layer = |name: &str| LAYERS.iter().position(|layer| *layer == name);
    if let (Some(above), Some(below)) = (layer(from), layer(to))
        && below > above
    {
        return Some(format!("{from} must not know {to}: dependencies point downward ({})", LAYERS.join(" < ")));
    }
    if *from == "toolgate-core" && !for_tests && NOT_IN_CORE.iter().any(|start| to.starts_with(start)) {
        return Some(format!("core does no I/O and nothing async: {to} belongs in a crate above it"));
    }
    if *from != "toolgate-store" && DATABASES.contains(to) {
        return Some(format!("only toolgate-store knows a database: {from} must not use {to}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_wrong(from: &str, to: &str, for_tests: bool) -> bool {
        wrong(&Edge { from, to, for_tests }).is_some()
    }

    #[test]
    fn dependencies_point_downward() {
        assert!(!is_wrong("toolgate-server", "toolgate-mcp", false));
        assert!(is_wrong("toolgate-mcp", "toolgate-server", false));
        assert!(is_wrong("toolgate-store", "toolgate-spine", true));
    }

    #[test]
    fn core_stays_pure_and_databases_stay_in_the_store() {
        assert!(is_wrong("toolgate-core", "tokio", false));
        assert!(!is_wrong("toolgate-core", "tokio", true));
        assert!(!is_wrong("toolgate-core", "cedar-policy", false));
        assert!(is_wrong("toolgate-packs", "rusqlite", false));
        assert!(!is_wrong("toolgate-store", "sqlx", false));
    }
}
