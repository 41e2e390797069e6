//! Everything registered, kind by kind in the order lists show it, grouped into classes that share their decisions.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

use aws_lc_rs::digest;
use serde_json::value::RawValue;

use crate::{
    address::normal_address,
    listing::{self, BadDefinition},
    pattern::Pattern,
    rulebook::{Rulebook, ToolAttributes},
    suggest::hint,
    tool::{Facts, Kind, Tool},
};

#[derive(Debug, Default)]
pub struct Catalog {
    /// Tools first, then the other kinds.
    entries: Vec<Entry>,
    /// Where each kind begins and ends.
    shelves: BTreeMap<Kind, Range<usize>>,
    /// Tools by either form of their names.
    by_name: HashMap<String, usize>,
    prompts: HashMap<String, usize>,
    resources: HashMap<String, usize>,
    /// Templates and addresses, the more particular first.
    patterns: Vec<(Pattern, Option<Pattern>, usize)>,
}

/// A tool with what lists need of it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tool: Arc<Tool>,
    /// The definition under its wire name, bound arguments gone.
    pub(crate) listed: Arc<RawValue>,
    /// Of `listed` and its translations: equal in every language, equal digest.
    pub(crate) digest: [u8; 32],
}

/// Where a request leads.
pub(crate) struct Meant {
    pub(crate) index: usize,
    /// By a pattern: rules may still tell one address of it from another.
    pub(crate) by_pattern: bool,
}

impl Meant {
    fn itself(index: usize) -> Self {
        Self { index, by_pattern: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogProblem {
    #[error(
        "the tools '{first}' of {first_source} and '{second}' of {second_source} have the same name '{name}' on the wire; \
         give one of them a prefix: [packs.{second_source}] prefix = \"{second_source}_\""
    )]
    Clash { name: String, first: String, first_source: String, second: String, second_source: String },
    #[error(transparent)]
    Definition(#[from] BadDefinition),
}

impl Catalog {
    /// In order of wire names. Canonical and wire names both lead to a tool, so neither may name two.
    pub fn new(tools: Vec<Tool>) -> Result<Self, CatalogProblem> {
        let mut tools = tools;
        tools.sort_by(|a, b| (a.kind, &a.wire_name, &a.name).cmp(&(b.kind, &b.wire_name, &b.name)));
        // the first of two prompts or resources of one name is the one: nobody can rename what servers call theirs
        tools.dedup_by(|b, a| {
            a.kind != Kind::Tool && a.kind == b.kind && a.wire_name == b.wire_name && leads_alike(a, b)
        });
        let mut catalog = Self::default();
        for (index, tool) in tools.into_iter().enumerate() {
            catalog.shelves.entry(tool.kind).or_insert(index..index).end = index + 1;
            match tool.kind {
                Kind::Tool => catalog.name(&tool, index)?,
                Kind::Prompt => drop(catalog.prompts.insert(tool.wire_name.to_string(), index)),
                Kind::Resource => drop(catalog.resources.insert(tool.name.to_string(), index)),
                Kind::Template => catalog.patterns.push((Pattern::template(tool.name.as_str()), None, index)),
                Kind::Address => {
                    // one that is about what a template or a wider address leads to leads nowhere else
                    let within = (tool.own_name != tool.name).then(|| within(tool.own_name.as_str()));
                    catalog.patterns.push((Pattern::address(tool.name.as_str()), within, index));
                }
            }
            let listed = listing::listed(&tool)?;
            let digest = digest_of(&listed, &tool.facts);
            catalog.entries.push(Entry { tool: Arc::new(tool), listed, digest });
        }
        catalog.patterns.sort_by_key(|(pattern, _, index)| (std::cmp::Reverse(pattern.plain()), *index));
        Ok(catalog)
    }

    fn name(&mut self, tool: &Tool, index: usize) -> Result<(), CatalogProblem> {
        // the canonical and the wire form, whichever of them is listed
        let other_form = tool.name.to_wire();
        for name in [tool.wire_name.as_str(), tool.name.as_str(), other_form.as_str()] {
            let taken = self.by_name.insert(name.to_owned(), index).filter(|other| *other != index);
            if let Some(other) = taken.and_then(|other| self.entries.get(other)) {
                return Err(CatalogProblem::Clash {
                    name: name.to_owned(),
                    first: other.tool.name.to_string(),
                    first_source: other.tool.source.to_string(),
                    second: tool.name.to_string(),
                    second_source: tool.source.to_string(),
                });
            }
        }
        Ok(())
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.shelf(Kind::Tool).len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.entries.iter().map(|entry| &entry.tool).take(self.len())
    }

    /// Tools, prompts, resources: whatever is decided.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    /// Where in the order of all a kind stands.
    pub(crate) fn shelf(&self, kind: Kind) -> Range<usize> {
        self.shelves.get(&kind).cloned().unwrap_or_default()
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

    /// What a request of this kind and name is for. A resource that is on no list may be one of a template's; an address
    /// the operator has facts about is taken before the template that leads there.
    pub(crate) fn meant(&self, kind: Kind, name: &str) -> Option<Meant> {
        let index = match kind {
            Kind::Tool => self.by_name.get(name),
            Kind::Prompt => self.prompts.get(name),
            Kind::Resource => self.resources.get(name),
            Kind::Template | Kind::Address => {
                return self.shelf(Kind::Template).find(|at| self.is_called(*at, name)).map(Meant::itself);
            }
        };
        match index {
            Some(index) => Some(Meant::itself(*index)),
            // INVARIANT: only an address in normal form is found by a pattern, so that no other spelling passes one by
            None if kind == Kind::Resource && normal_address(name) == name => self.by_pattern(name),
            None => None,
        }
    }

    /// Whether a request of this kind and name leads anywhere.
    pub fn has(&self, kind: Kind, name: &str) -> bool {
        self.meant(kind, name).is_some()
    }

    fn is_called(&self, index: usize, name: &str) -> bool {
        self.entries.get(index).is_some_and(|entry| entry.tool.name.as_str() == name)
    }

    fn by_pattern(&self, address: &str) -> Option<Meant> {
        let is_meant = |(pattern, within, _): &&(Pattern, Option<Pattern>, usize)| {
            pattern.matches(address) && within.as_ref().is_none_or(|within| within.matches(address))
        };
        let matching = self.patterns.iter().filter(is_meant).map(|(.., index)| *index);
        let kind = |index: &usize| self.entries.get(*index).map(|entry| entry.tool.kind);
        let index =
            matching.clone().find(|index| kind(index) == Some(Kind::Address)).or_else(|| matching.clone().next());
        index.map(|index| Meant { index, by_pattern: true })
    }

    pub(crate) fn entry(&self, index: usize) -> Option<&Entry> {
        self.entries.get(index)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// What the operator says of an address is said within each template that leads there.
fn leads_alike(a: &Tool, b: &Tool) -> bool {
    a.kind != Kind::Address || a.own_name == b.own_name
}

/// A server's template, or an operator's address.
fn within(text: &str) -> Pattern {
    if text.contains('{') { Pattern::template(text) } else { Pattern::address(text) }
}

/// What must be equal for two to be one class: type, source, facts, and the name where a rule reads it.
type Alike<'a> = (&'a str, Arc<str>, Facts, Option<String>);

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
        let mut known: HashMap<Alike<'_>, usize> = HashMap::new();
        let mut classes = Self { of: Vec::with_capacity(catalog.entries.len()), attributes: Vec::new() };
        for tool in catalog.all() {
            let own_name = rulebook.singles_out(tool.name.as_str()).then(|| tool.name.to_string());
            let key = (tool.kind.entity(), Arc::clone(&tool.source), decided_facts(&tool.facts), own_name.clone());
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
        redact: unseen.redact,
        four_eyes: unseen.four_eyes,
        undo: unseen.undo,
        preview: unseen.preview,
        example: unseen.example,
        descriptions: unseen.descriptions,
        phrases: unseen.phrases,
        ..facts.clone()
    }
}

/// Whoever reads a list in another language hears when that language's texts change.
fn digest_of(listed: &RawValue, facts: &Facts) -> [u8; 32] {
    if facts.descriptions.is_empty() && facts.phrases.is_empty() {
        return sha256(listed.get().as_bytes());
    }
    let texts = serde_json::to_vec(&(&facts.descriptions, &facts.phrases)).unwrap_or_default();
    sha256(&[listed.get().as_bytes(), &texts].concat())
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(digest::digest(&digest::SHA256, bytes).as_ref());
    digest
}
