//! The subschemas of a schema and how validation goes from one to another: at the same place of the value, or one level
//! into it.

use std::{collections::HashMap, ptr};

use serde_json::{Map, Value};

use crate::schema_weight::NodeWeight;

/// Every subschema that validation can reach; the first is the schema itself.
#[derive(Debug, Default)]
pub(crate) struct SchemaGraph {
    nodes: Vec<SchemaNode>,
}

#[derive(Debug, Default)]
struct SchemaNode {
    /// Subschemas for the same value.
    in_place: Vec<usize>,
    /// True where `unevaluatedProperties` or `unevaluatedItems` goes through those a second time.
    twice: bool,
    /// Subschemas for the member of a name.
    named: Vec<(String, usize)>,
    /// Subschemas for any member, and for its key.
    members: Vec<usize>,
    /// Subschemas for the item at a place.
    placed: Vec<usize>,
    /// Subschemas for any item.
    items: Vec<usize>,
    weight: NodeWeight,
}

/// The reason why a schema has no graph.
#[derive(Debug)]
pub(crate) enum GraphFault {
    NestedId,
    TooMany,
}

const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const MEMBERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "propertyNames"];
const ITEMS: [&str; 4] = ["items", "additionalItems", "unevaluatedItems", "contains"];
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

impl SchemaGraph {
    /// `most` is the number of subschemas from which on a schema has no graph.
    pub(crate) fn of(schema: &Value, most: usize) -> Result<Self, GraphFault> {
        let mut maker = Maker { root: schema, anchors: anchors(schema), places: HashMap::new(), reached: Vec::new() };
        maker.place(schema);
        let (mut nodes, mut refers, mut nested_id) = (Vec::new(), false, false);
        while let Some(next) = maker.reached.get(nodes.len()).copied() {
            if nodes.len() > most {
                return Err(GraphFault::TooMany);
            }
            if let Some(members) = next.as_object() {
                refers |= REFERENCES.iter().any(|keyword| members.contains_key(*keyword));
                nested_id |= !nodes.is_empty() && has_own_id(schema, members);
            }
            nodes.push(next.as_object().map(|members| maker.node(members)).unwrap_or_default());
        }
        if refers && nested_id { Err(GraphFault::NestedId) } else { Ok(Self { nodes }) }
    }

    /// The most subschemas for one value at one place; `None` if one leads back to itself there.
    pub(crate) fn in_place_expansion(&self) -> Option<usize> {
        (0..self.nodes.len())
            .try_fold(vec![None; self.nodes.len()], |mut costs, start| {
                self.costs(start, &mut costs, |node| node.in_place.clone(), |_| 1, false).then_some(costs)
            })?
            .into_iter()
            .flatten()
            .max()
            .or(Some(0))
    }

    /// Subschemas of the whole with references followed. One that leads back to a subschema which is being followed is
    /// recursion into the value.
    pub(crate) fn expansion(&self) -> usize {
        self.weighed(|_| 1)
    }

    /// The sum of a weight over that expansion.
    pub(crate) fn weighed(&self, weight: impl Fn(&NodeWeight) -> usize) -> usize {
        let mut costs = vec![None; self.nodes.len()];
        self.costs(0, &mut costs, SchemaNode::edges, |node| weight(&node.weight), true);
        costs.first().copied().flatten().unwrap_or_default()
    }

    /// True if some subschema leads back to itself further down in the value.
    pub(crate) fn is_recursive(&self) -> bool {
        let mut costs = vec![None; self.nodes.len()];
        !self.costs(0, &mut costs, SchemaNode::edges, |_| 1, false)
    }

    /// The length of the longest chain of subschemas for one value, for a graph without loops in place.
    pub(crate) fn in_place_height(&self) -> usize {
        let mut heights: Vec<usize> = vec![0; self.nodes.len()];
        // as many rounds as the chain is long
        loop {
            let mut changed = false;
            for (index, node) in self.nodes.iter().enumerate() {
                let below = node.in_place.iter().filter_map(|child| heights.get(*child)).max().map_or(0, |max| max + 1);
                if let Some(height) = heights.get_mut(index).filter(|height| **height < below) {
                    *height = below;
                    changed = true;
                }
            }
            if !changed {
                return heights.into_iter().max().unwrap_or_default();
            }
        }
    }

    /// Costs of a node and of everything below it. False at a loop, unless `cut` says that a way back costs nothing.
    fn costs(
        &self,
        start: usize,
        costs: &mut [Option<usize>],
        edges: impl Fn(&SchemaNode) -> Vec<usize>,
        own: impl Fn(&SchemaNode) -> usize,
        cut: bool,
    ) -> bool {
        let mut open = vec![false; self.nodes.len()];
        // a node, what is left of its edges, and what they cost so far
        let mut stack: Vec<(usize, Vec<usize>, usize)> = Vec::new();
        let mut next = costs.get(start).is_some_and(Option::is_none).then_some(start);
        loop {
            if let Some(node) = next.take() {
                if let Some(open) = open.get_mut(node) {
                    *open = true;
                }
                stack.push((node, self.nodes.get(node).map(&edges).unwrap_or_default(), 0));
            }
            let Some((node, rest, sum)) = stack.last_mut() else { return true };
            match rest.pop() {
                Some(child) => match costs.get(child).copied().flatten() {
                    Some(cost) => *sum = sum.saturating_add(cost),
                    None if open.get(child).is_some_and(|open| *open) => {
                        if !cut {
                            return false;
                        }
                    }
                    None => next = Some(child),
                },
                None => {
                    let (node, sum) = (*node, *sum);
                    stack.pop();
                    let (times, own) = self.nodes.get(node).map_or((1, 1), |node| (node.times(), own(node)));
                    let cost = sum.saturating_mul(times).saturating_add(own);
                    if let (Some(open), Some(place)) = (open.get_mut(node), costs.get_mut(node)) {
                        (*open, *place) = (false, Some(cost));
                    }
                    if let Some((_, _, above)) = stack.last_mut() {
                        *above = above.saturating_add(cost);
                    }
                }
            }
        }
    }

    /// The steps that a validator takes for a value if the validator remembers nothing; `None` if the number is larger
    /// than `most`. Counting takes no more steps than that either.
    pub(crate) fn steps(&self, value: &Value, most: usize) -> Option<usize> {
        let mut left = most;
        self.spend(0, value, &mut left)?;
        Some(most - left)
    }

    fn spend(&self, node: usize, value: &Value, left: &mut usize) -> Option<()> {
        let at = self.nodes.get(node)?;
        *left = left.checked_sub(at.weight.steps(value, *left)?)?;
        for child in &at.in_place {
            (0..at.times()).try_for_each(|_| self.spend(*child, value, left))?;
        }
        match value {
            Value::Object(members) => {
                for (name, child) in &at.named {
                    if let Some(member) = members.get(name) {
                        self.spend(*child, member, left)?;
                    }
                }
                for child in &at.members {
                    members.values().try_for_each(|member| self.spend(*child, member, left))?;
                }
            }
            Value::Array(items) => {
                for (child, item) in at.placed.iter().zip(items) {
                    self.spend(*child, item, left)?;
                }
                for child in &at.items {
                    items.iter().try_for_each(|item| self.spend(*child, item, left))?;
                }
            }
            _ => {}
        }
        Some(())
    }
}

impl SchemaNode {
    /// How often the subschemas for the same value are gone through.
    fn times(&self) -> usize {
        if self.twice { 2 } else { 1 }
    }

    fn edges(&self) -> Vec<usize> {
        let named = self.named.iter().map(|(_, child)| child);
        let others = [&self.in_place, &self.members, &self.placed, &self.items].into_iter().flatten();
        named.chain(others).copied().collect()
    }
}

/// Numbers subschemas as they are reached.
struct Maker<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    places: HashMap<*const Value, usize>,
    reached: Vec<&'a Value>,
}

impl<'a> Maker<'a> {
    fn place(&mut self, schema: &'a Value) -> usize {
        let next = self.reached.len();
        let place = *self.places.entry(ptr::from_ref(schema)).or_insert(next);
        if place == next {
            self.reached.push(schema);
        }
        place
    }

    fn list(&mut self, schemas: &'a Value) -> Vec<usize> {
        schemas.as_array().into_iter().flatten().map(|schema| self.place(schema)).collect()
    }

    fn map(&mut self, schemas: &'a Value) -> Vec<(String, usize)> {
        let members = schemas.as_object().into_iter().flatten();
        members.map(|(name, schema)| (name.clone(), self.place(schema))).collect()
    }

    fn node(&mut self, members: &'a Map<String, Value>) -> SchemaNode {
        let mut node = SchemaNode::default();
        for (keyword, value) in members {
            match keyword.as_str() {
                word if IN_PLACE.contains(&word) => node.in_place.push(self.place(value)),
                word if IN_PLACE_LISTS.contains(&word) => node.in_place.extend(self.list(value)),
                word if IN_PLACE_MAPS.contains(&word) => {
                    node.in_place.extend(self.map(value).into_iter().map(|(_, schema)| schema));
                }
                word if REFERENCES.contains(&word) => {
                    let targets = value.as_str().map(|reference| self.targets(reference)).unwrap_or_default();
                    node.in_place.extend(targets.into_iter().map(|target| self.place(target)));
                }
                "properties" => node.named = self.map(value),
                "patternProperties" => node.members.extend(self.map(value).into_iter().map(|(_, schema)| schema)),
                "prefixItems" => node.placed = self.list(value),
                "items" if value.is_array() => node.placed = self.list(value),
                word if MEMBERS.contains(&word) => node.members.push(self.place(value)),
                word if ITEMS.contains(&word) => node.items.push(self.place(value)),
                _ => {}
            }
        }
        node.weight = NodeWeight::of(members);
        node.twice = UNEVALUATED.iter().any(|keyword| members.contains_key(*keyword));
        node
    }

    /// The subschemas that a reference within the schema may mean.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let Some(fragment) = reference.strip_prefix('#') else { return Vec::new() };
        let decoded = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
        if decoded.is_empty() || decoded.starts_with('/') {
            return self.root.pointer(&decoded).into_iter().collect();
        }
        self.anchors.get(&*decoded).cloned().unwrap_or_default()
    }
}

/// All names that parts of a schema have within it.
fn anchors(schema: &Value) -> HashMap<&str, Vec<&Value>> {
    let (mut found, mut left) = (HashMap::<&str, Vec<&Value>>::new(), vec![schema]);
    while let Some(value) = left.pop() {
        match value {
            Value::Object(members) => {
                let name = |keyword| members.get(keyword).and_then(Value::as_str);
                let older = ["$id", "id"].map(|keyword| name(keyword).and_then(|id| id.strip_prefix('#')));
                for name in ["$anchor", "$dynamicAnchor"].map(name).into_iter().chain(older).flatten() {
                    found.entry(name).or_default().push(value);
                }
                left.extend(members.values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    found
}

/// True for a subschema that references within it may start from.
fn has_own_id(root: &Value, members: &Map<String, Value>) -> bool {
    let of = |keyword: &str| members.get(keyword).and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'));
    let is_oldest = root.get("$schema").and_then(Value::as_str).is_some_and(|schema| schema.contains("draft-04"));
    of("$id") || is_oldest && of("id")
}
