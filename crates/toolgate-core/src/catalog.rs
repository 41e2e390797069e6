//! Every registered tool, in the order lists show them, grouped into classes that share their decisions.

use std::{collections::HashMap, sync::Arc};

use aws_lc_rs::digest;
use serde_json::value::RawValue;

use crate::{
    listing::{self, BadDefinition},
    rulebook::{Rulebook, ToolAttributes},
    suggest::hint,
    tool::{Facts, Tool},
};

#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

/// A tool with what lists need of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tool: Arc<Tool>,
    /// The definition under its wire name, bound arguments gone.
    pub(crate) listed: Arc<RawValue>,
    /// Of `listed`: equal bytes, equal digest.
    pub(crate) digest: [u8; 32],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogProblem {
    #[error(
        "the tools '{first}' of {first_source} and '{second}' of {second_source} have the same name '{name}' on the wire; \
         give one source a prefix: [packs.NAME] prefix = \"…\""
    )]
    Clash { name: String, first: String, first_source: String, second: String, second_source: String },
    #[error(transparent)]
    Definition(#[from] BadDefinition),
}

impl Catalog {
    /// In order of wire names. Canonical and wire names both lead to a tool, so neither may name two.
    pub fn new(tools: Vec<Tool>) -> Result<Self, CatalogProblem> {
        let mut tools = tools;
        tools.sort_by(|a, b| a.wire_name.cmp(&b.wire_name).then_with(|| a.name.cmp(&b.name)));
        let mut entries: Vec<Entry> = Vec::with_capacity(tools.len());
        let mut by_name: HashMap<String, usize> = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.into_iter().enumerate() {
            // the canonical and the wire form, whichever of them is listed
            let other_form = tool.name.to_wire();
            for name in [tool.wire_name.as_str(), tool.name.as_str(), other_form.as_str()] {
                let taken = by_name.insert(name.to_owned(), index).filter(|other| *other != index);
                if let Some(other) = taken.and_then(|other| entries.get(other)) {
                    return Err(CatalogProblem::Clash {
                        name: name.to_owned(),
                        first: other.tool.name.to_string(),
                        first_source: other.tool.source.to_string(),
                        second: tool.name.to_string(),
                        second_source: tool.source.to_string(),
                    });
                }
            }
            let listed = listing::listed(&tool)?;
            let digest = sha256(listed.get().as_bytes());
            entries.push(Entry { tool: Arc::new(tool), listed, digest });
        }
        Ok(Self { entries, by_name })
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// By canonical or wire name.
    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.index(name).and_then(|index| self.entries.get(index)).map(|entry| &entry.tool)
    }

    /// What to say of a name that no tool has, to an operator; never to a caller.
    pub fn not_registered(&self, name: &str) -> String {
        let near = hint(name, self.entries.iter().map(|entry| entry.tool.name.as_str()));
        format!("no tool '{name}' is registered{near}")
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Tools that no rule can tell apart.
#[derive(Debug)]
pub(crate) struct Classes {
    /// Class of each tool.
    pub(crate) of: Vec<usize>,
    pub(crate) attributes: Vec<ToolAttributes>,
}

impl Classes {
    /// `None` where a tool's facts can't be put to Cedar, which no checked fact causes.
    pub(crate) fn of(catalog: &Catalog, rulebook: &Rulebook) -> Option<Self> {
        let mut known: HashMap<(Arc<str>, Facts, Option<String>), usize> = HashMap::new();
        let mut classes = Self { of: Vec::with_capacity(catalog.len()), attributes: Vec::new() };
        for tool in catalog.tools() {
            let own_name = rulebook.singles_out(tool.name.as_str()).then(|| tool.name.to_string());
            let key = (Arc::clone(&tool.source), decided_facts(&tool.facts), own_name.clone());
            let next = classes.attributes.len();
            let class = *known.entry(key).or_insert(next);
            if class == next {
                classes.attributes.push(rulebook.attributes(tool, own_name.as_deref().unwrap_or(""))?);
            }
            classes.of.push(class);
        }
        Some(classes)
    }
}

/// The facts that rules see; the others do not make a class.
fn decided_facts(facts: &Facts) -> Facts {
    let unseen = Facts::default();
    Facts {
        when_denied: unseen.when_denied,
        help_names: unseen.help_names,
        limits: unseen.limits,
        example: unseen.example,
        descriptions: unseen.descriptions,
        ..facts.clone()
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    digest
}
