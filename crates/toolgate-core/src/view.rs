//! The view: what one class of callers sees and may do, decided once per class of tools and serialised once.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use aws_lc_rs::digest;
use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    caller::Caller,
    catalog::Catalog,
    decision::Verdict,
    gate::Gate,
    listing,
    rulebook::{CallFacts, Subject},
};

/// One caller class at one revision of the gate.
#[derive(Debug)]
pub struct View {
    pub(crate) revision: u64,
    /// The facts this class shares; who exactly asks is not among them unless a rule reads it.
    pub(crate) class: Caller,
    pub(crate) subject: Subject,
    /// By tool class: verdicts for each combination of call facts, filled when first asked.
    verdicts: Vec<OnceLock<Box<[OnceLock<Verdict>; COMBINATIONS]>>>,
    list: OnceLock<List>,
}

/// allowlisted × approved × dry run × (no switch, off, on)
const COMBINATIONS: usize = 24;

/// The tools this class is shown.
#[derive(Debug)]
pub(crate) struct List {
    /// By tool index, the JSON each listed tool is shown as; marked where it can't be called.
    shown: HashMap<usize, Shown>,
    pages: Vec<Page>,
    digest: [u8; 32],
}

#[derive(Debug)]
pub(crate) enum Shown {
    Callable,
    Marked(Box<RawValue>),
}

/// A page of a list, ready to send.
#[derive(Debug, Clone)]
pub struct Page {
    /// A JSON array of tool definitions.
    pub tools: Bytes,
    pub last: bool,
}

impl View {
    pub(crate) fn new(revision: u64, class: Caller, subject: Subject, tool_classes: usize) -> Self {
        Self {
            revision,
            class,
            subject,
            verdicts: (0..tool_classes).map(|_| OnceLock::new()).collect(),
            list: OnceLock::new(),
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

    pub(crate) fn list(&self, gate: &Gate) -> &List {
        self.list.get_or_init(|| List::of(gate, self))
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
    fn of(gate: &Gate, view: &View) -> Self {
        let catalog: &Catalog = gate.catalog();
        let mut shown = HashMap::new();
        let mut pages = Vec::new();
        let mut hash = digest::Context::new(&digest::SHA256);
        let mut page: Vec<u8> = Vec::new();
        let mut on_page = 0_usize;
        // list decisions repeat within a class: remember them by what they depend on
        let mut listed: HashMap<(usize, bool, bool), bool> = HashMap::new();
        for (index, entry) in catalog.entries().iter().enumerate() {
            let verdict = gate.verdict(view, index, false, false);
            let key = (gate.class_of(index), verdict.is_callable(), verdict.is_concealed());
            if !*listed.entry(key).or_insert_with(|| gate.lists(view, index, &verdict)) {
                continue;
            }
            let how = match verdict.is_callable() {
                true => Shown::Callable,
                false => {
                    match listing::marked(&entry.listed, &gate.denial(&verdict, &view.class, &entry.tool, gate.lang()))
                    {
                        Ok(marked) => Shown::Marked(marked),
                        // INVARIANT: what can't be marked is not shown
                        Err(_) => continue,
                    }
                }
            };
            if on_page == gate.page_size() {
                pages.push(finish(&mut page, false));
                on_page = 0;
            }
            page.push(if on_page == 0 { b'[' } else { b',' });
            on_page += 1;
            match &how {
                Shown::Callable => {
                    page.extend_from_slice(entry.listed.get().as_bytes());
                    hash.update(&entry.digest);
                }
                Shown::Marked(definition) => {
                    page.extend_from_slice(definition.get().as_bytes());
                    hash.update(definition.get().as_bytes());
                }
            }
            shown.insert(index, how);
        }
        if on_page == 0 {
            page.push(b'[');
        }
        pages.push(finish(&mut page, true));
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.finish().as_ref());
        Self { shown, pages, digest }
    }

    pub(crate) fn shows(&self, index: usize) -> bool {
        self.shown.contains_key(&index)
    }

    pub(crate) fn how(&self, index: usize) -> Option<&Shown> {
        self.shown.get(&index)
    }

    pub(crate) fn len(&self) -> usize {
        self.shown.len()
    }
}

fn finish(page: &mut Vec<u8>, last: bool) -> Page {
    page.push(b']');
    Page { tools: Bytes::from(std::mem::take(page)), last }
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

    /// Of the tools as listed: the same list has the same digest, at whatever revision.
    pub fn digest(&self) -> [u8; 32] {
        self.view.list(&self.gate).digest
    }

    pub fn page(&self, number: usize) -> Option<&Page> {
        self.view.list(&self.gate).pages.get(number)
    }

    pub fn len(&self) -> usize {
        self.view.list(&self.gate).len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The definition a listed tool is shown as, by wire or canonical name.
    pub fn definition(&self, name: &str) -> Option<&RawValue> {
        let index = self.gate.catalog().index(name)?;
        match self.view.list(&self.gate).how(index)? {
            Shown::Callable => self.gate.catalog().entry(index).map(|entry| &*entry.listed),
            Shown::Marked(definition) => Some(definition),
        }
    }
}
