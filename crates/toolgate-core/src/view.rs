//! The view: what one class of callers sees and may do, decided once per class of tools and serialised once.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use aws_lc_rs::digest;
use bytes::Bytes;
use quick_cache::{Weighter, sync::Cache};
use serde_json::value::RawValue;

use crate::{
    caller::Caller,
    decision::{Denial, Lang, Verdict},
    gate::Gate,
    listing,
    rulebook::{CallFacts, Subject},
    tool::Kind,
    translation::translated,
};

/// One caller class at one revision of the gate.
#[derive(Debug)]
pub struct View {
    /// Its own among all views.
    id: u64,
    pub(crate) revision: u64,
    /// The facts this class shares; who exactly asks is not among them unless a rule reads it.
    pub(crate) class: Caller,
    pub(crate) subject: Subject,
    /// By tool class: verdicts for each combination of call facts, filled when first asked.
    verdicts: Vec<OnceLock<Box<[OnceLock<Verdict>; COMBINATIONS]>>>,
    lists: [OnceLock<List>; LISTED.len()],
}

/// What there are lists of.
const LISTED: [Kind; 4] = [Kind::Tool, Kind::Prompt, Kind::Resource, Kind::Template];

/// allowlisted × approved × dry run × (no switch, off, on)
const COMBINATIONS: usize = 24;

/// The tools this class is shown, or the prompts, …
#[derive(Debug)]
pub(crate) struct List {
    /// The index of the first of its kind.
    first: usize,
    /// From there on.
    shown: Vec<Shown>,
    /// Indexes of the shown tools, in order.
    order: Vec<usize>,
    digest: [u8; 32],
}

#[derive(Debug)]
pub(crate) enum Shown {
    No,
    Callable,
    /// Listed but not callable, for this reason.
    Marked(Box<Denial>),
}

/// A page of a list, ready to send.
#[derive(Debug, Clone)]
pub struct Page {
    /// A JSON array of definitions.
    pub items: Bytes,
    pub last: bool,
}

/// Pages of all views, as many as fit.
#[derive(Debug)]
pub(crate) struct Pages(Cache<PageKey, Page, Size>);

/// The view, what it is a list of, the language, and the page's number.
type PageKey = (u64, Kind, Lang, usize);

#[derive(Debug, Clone)]
struct Size;

impl Weighter<PageKey, Page> for Size {
    fn weight(&self, _: &PageKey, page: &Page) -> u64 {
        u64::try_from(page.items.len()).unwrap_or(u64::MAX).max(1)
    }
}

impl Pages {
    pub(crate) fn new(kept_views: usize, kept_bytes: u64) -> Self {
        Self(Cache::with_weighter(kept_views, kept_bytes, Size))
    }

    fn get(&self, key: PageKey, make: impl FnOnce() -> Page) -> Page {
        self.0.get(&key).unwrap_or_else(|| {
            let page = make();
            self.0.insert(key, page.clone());
            page
        })
    }
}

impl View {
    pub(crate) fn new(revision: u64, class: Caller, subject: Subject, tool_classes: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            revision,
            class,
            subject,
            verdicts: (0..tool_classes).map(|_| OnceLock::new()).collect(),
            lists: [const { OnceLock::new() }; LISTED.len()],
        }
    }

    pub(crate) fn remember(&self, tool_class: usize, facts: CallFacts, decide: impl FnOnce() -> Verdict) -> Verdict {
        let slot = self
            .verdicts
            .get(tool_class)
            .map(|class| class.get_or_init(|| Box::new([const { OnceLock::new() }; COMBINATIONS])))
            .and_then(|slots| slots.get(combination(facts)));
        match slot {
            Some(slot) => slot.get_or_init(decide).clone(),
            None => decide(),
        }
    }

    fn list(&self, gate: &Gate, kind: Kind) -> Option<&List> {
        let place = LISTED.iter().position(|listed| *listed == kind)?;
        self.lists.get(place).map(|list| list.get_or_init(|| List::of(gate, self, kind)))
    }

    /// Returns true if the caller's list has the tool. One tool is decided, not the whole list, unless the list is there.
    pub(crate) fn shows(&self, gate: &Gate, index: usize) -> bool {
        let kind = gate.catalog().entry(index).map(|entry| entry.tool.kind);
        let place = LISTED.iter().position(|listed| Some(*listed) == kind);
        match place.and_then(|place| self.lists.get(place)).map(OnceLock::get) {
            None => false,
            Some(Some(list)) => list.shows(index),
            Some(None) => gate.lists(self, index, &gate.verdict(self, index, false, false)),
        }
    }

    /// How many verdicts the view remembers.
    #[cfg(test)]
    pub(crate) fn decisions(&self) -> usize {
        let slots = self.verdicts.iter().filter_map(OnceLock::get).flat_map(|class| class.iter());
        slots.filter(|slot| slot.get().is_some()).count()
    }

    #[cfg(test)]
    pub(crate) fn has_list(&self, kind: Kind) -> bool {
        LISTED.iter().position(|listed| *listed == kind).is_some_and(|place| self.lists[place].get().is_some())
    }

    /// Decides the whole list of tools, for who asks about many of them.
    pub(crate) fn list_tools(&self, gate: &Gate) {
        let _ = self.list(gate, Kind::Tool);
    }
}

fn combination(facts: CallFacts) -> usize {
    let switched = match facts.switched {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    };
    usize::from(facts.allowlisted) + 2 * usize::from(facts.approved) + 4 * usize::from(facts.dry_run) + 8 * switched
}

impl List {
    fn of(gate: &Gate, view: &View, kind: Kind) -> Self {
        let shelf = gate.catalog().shelf(kind);
        let first = shelf.start;
        let entries = gate.catalog().entries().get(shelf).unwrap_or_default();
        let mut shown = Vec::with_capacity(entries.len());
        let mut order = Vec::with_capacity(entries.len());
        let mut hash = digest::Context::new(&digest::SHA256);
        // list decisions repeat within a class: remember them by what they depend on
        let mut listed: HashMap<(usize, bool, bool), bool> = HashMap::new();
        for (index, entry) in (first..).zip(entries) {
            let verdict = gate.verdict(view, index, false, false);
            let key = (gate.class_of(index), verdict.is_callable(), verdict.is_concealed());
            if !*listed.entry(key).or_insert_with(|| gate.lists(view, index, &verdict)) {
                shown.push(Shown::No);
                continue;
            }
            order.push(index);
            hash.update(&entry.digest);
            if verdict.is_callable() {
                shown.push(Shown::Callable);
            } else {
                let denial = gate.denial(&verdict, &view.class, &entry.tool, gate.lang());
                hash.update(denial.code.as_bytes());
                hash.update(denial.message.as_bytes());
                shown.push(Shown::Marked(Box::new(denial)));
            }
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.finish().as_ref());
        Self { first, shown, order, digest }
    }

    fn pages(&self, gate: &Gate) -> usize {
        self.order.len().div_ceil(gate.page_size()).max(1)
    }

    fn serialise(&self, gate: &Gate, view: &View, number: usize, lang: Lang) -> Page {
        let on_page = self.order.chunks(gate.page_size()).nth(number).unwrap_or_default();
        let entries =
            || on_page.iter().filter_map(|index| Some((*index, gate.catalog().entry(*index)?, self.at(*index)?)));
        let size = entries().map(|(_, entry, _)| entry.listed.get().len() + 1).sum::<usize>();
        let mut items = Vec::with_capacity(2 + size);
        items.push(b'[');
        for (index, entry, shown) in entries() {
            let definition = match lang {
                Lang::En => None,
                lang => translated(&entry.tool, &entry.listed, lang),
            };
            let definition = definition.as_deref().unwrap_or(&entry.listed);
            let marked = match shown {
                Shown::Marked(denial) => {
                    let elsewhere = (lang != gate.lang())
                        .then(|| gate.denial(&gate.verdict(view, index, false, false), &view.class, &entry.tool, lang));
                    match listing::marked(definition, elsewhere.as_ref().unwrap_or(&**denial)) {
                        Ok(marked) => Some(marked),
                        // INVARIANT: what can't be marked is not shown
                        Err(_) => continue,
                    }
                }
                Shown::Callable | Shown::No => None,
            };
            if items.len() > 1 {
                items.push(b',');
            }
            items.extend_from_slice(marked.as_deref().unwrap_or(definition).get().as_bytes());
        }
        items.push(b']');
        Page { items: Bytes::from(items), last: number + 1 == self.pages(gate) }
    }

    fn at(&self, index: usize) -> Option<&Shown> {
        self.shown.get(index.checked_sub(self.first)?)
    }

    fn shows(&self, index: usize) -> bool {
        self.at(index).is_some_and(|shown| !matches!(shown, Shown::No))
    }
}

/// A view together with the gate it belongs to: what the wire asks.
#[derive(Debug, Clone)]
pub struct Listing {
    gate: Arc<Gate>,
    view: Arc<View>,
}

impl Listing {
    pub(crate) fn new(gate: Arc<Gate>, view: Arc<View>) -> Self {
        Self { gate, view }
    }

    pub fn revision(&self) -> u64 {
        self.view.revision
    }

    /// Of the list: the same list has the same digest, at whatever revision.
    pub fn digest(&self, kind: Kind) -> [u8; 32] {
        self.list(kind).map(|list| list.digest).unwrap_or_default()
    }

    /// Serialised when first asked for, and again when it had to make room: who takes one page does not wait for all.
    pub fn page(&self, kind: Kind, number: usize) -> Option<Page> {
        self.page_in(kind, number, self.gate.lang())
    }

    /// The same in another language. Its pages hold the same tools, so that a cursor is good in every language.
    pub fn page_in(&self, kind: Kind, number: usize, lang: Lang) -> Option<Page> {
        let list = self.list(kind).filter(|list| number < list.pages(&self.gate))?;
        let make = || list.serialise(&self.gate, &self.view, number, lang);
        Some(self.gate.pages().get((self.view.id, kind, lang, number), make))
    }

    /// How many tools are listed.
    pub fn len(&self) -> usize {
        self.list(Kind::Tool).map_or(0, |list| list.order.len())
    }

    fn list(&self, kind: Kind) -> Option<&List> {
        self.view.list(&self.gate, kind)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The definition of a listed tool under its wire name, without the mark it may have; by wire or canonical name.
    pub fn definition(&self, name: &str) -> Option<&RawValue> {
        let index = self.gate.catalog().index(name)?;
        let entry = self.gate.catalog().entry(index)?;
        self.view.shows(&self.gate, index).then_some(&*entry.listed)
    }
}
