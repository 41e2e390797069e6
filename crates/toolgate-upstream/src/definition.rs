//! A tool as its upstream defines it.

use std::{collections::HashMap, sync::Arc};

use serde_json::value::RawValue;

use crate::mirror::Mirror;

#[derive(Debug, Clone)]
pub struct Definition {
    /// The name its upstream knows it by.
    pub name: String,
    /// Byte for byte as it came.
    pub raw: Arc<RawValue>,
    pub(crate) mirrors: Arc<[Mirror]>,
}

/// The tools last heard of, in their order and by their names.
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
