//! What an upstream offers, as it defines it.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;
use serde_json::value::RawValue;

use crate::{listed::Listed, mirror::Mirror};

#[derive(Debug, Clone)]
pub struct Definition {
    /// What its upstream knows it by: the name of a tool or prompt, the address of a resource, the pattern of a template.
    pub name: String,
    /// Byte for byte as it came.
    pub raw: Arc<RawValue>,
    pub(crate) mirrors: Arc<[Mirror]>,
}

/// The entries of one list as last heard of, in their order and by their names.
#[derive(Default)]
pub(crate) struct Known {
    all: Vec<Definition>,
    by_name: HashMap<String, usize>,
}

impl Known {
    pub(crate) fn new(all: Vec<Definition>) -> Self {
        let by_name = all.iter().enumerate().map(|(place, definition)| (definition.name.clone(), place)).collect();
        Self { all, by_name }
    }

    pub(crate) fn all(&self) -> &[Definition] {
        &self.all
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Definition> {
        self.by_name.get(name).and_then(|place| self.all.get(*place))
    }
}

/// All lists of an upstream. Each stays as last heard of while a newer one can't be had.
#[derive(Default)]
pub(crate) struct Offers {
    tools: ArcSwap<Known>,
    prompts: ArcSwap<Known>,
    resources: ArcSwap<Known>,
    templates: ArcSwap<Known>,
}

impl Offers {
    pub(crate) fn of(&self, listed: Listed) -> &ArcSwap<Known> {
        match listed {
            Listed::Tools => &self.tools,
            Listed::Prompts => &self.prompts,
            Listed::Resources => &self.resources,
            Listed::Templates => &self.templates,
        }
    }

    /// Whether these are other bytes than before.
    pub(crate) fn replace(&self, listed: Listed, now: Vec<Definition>) -> bool {
        let list = self.of(listed);
        let texts = |all: &[Definition]| all.iter().map(|one| Arc::clone(&one.raw)).collect::<Vec<_>>();
        let (before, after) = (texts(list.load().all()), texts(&now));
        let same = before.iter().map(|raw| raw.get()).eq(after.iter().map(|raw| raw.get()));
        if !same {
            list.store(Arc::new(Known::new(now)));
        }
        !same
    }
}
