//! Names of tools that are taken. A tool of an upstream whose name another tool has is left out rather than let down all the
//! others: its name is somebody else's to choose.
//!
//! INVARIANT: a name leads to the tool that it led to, or to none. A pack's tool keeps its name. Of two tools of upstreams
//! neither has it, whatever their order and whether or not one of them is offered at the moment: rules and attributes that
//! were written for one must not come to hold for the other.

use std::collections::{HashMap, HashSet};

use toolgate_core::{Tool, pin::visible};
use toolgate_spine::check_tool;

use crate::{config::suggested_prefix, logging};

/// A tool that was accepted of an upstream.
pub struct ForeignTool {
    pub tool: Tool,
    /// The upstream offers the tool as it was accepted, or has not answered yet.
    pub is_offered: bool,
}

/// Every form of the names of some tools, with the tools that have it.
#[derive(Default)]
pub struct TakenNames {
    holders: HashMap<String, Vec<NameHolder>>,
}

#[derive(PartialEq, Eq)]
struct NameHolder {
    source: String,
    own_name: String,
    is_pack: bool,
}

/// A name that another tool has as well.
pub struct NameClash<'n> {
    name: String,
    source: &'n str,
    with_pack: bool,
}

impl TakenNames {
    pub fn of<'t>(packs: &[Tool], foreign: impl Iterator<Item = &'t Tool>) -> Self {
        let mut taken = Self::default();
        packs.iter().for_each(|tool| taken.take(tool, true));
        foreign.for_each(|tool| taken.take(tool, false));
        taken
    }

    fn take(&mut self, tool: &Tool, is_pack: bool) {
        for name in forms(tool) {
            let holders = self.holders.entry(name).or_default();
            let holder = NameHolder { source: tool.source.to_string(), own_name: tool.own_name.to_string(), is_pack };
            if !holders.contains(&holder) {
                holders.push(holder);
            }
        }
    }

    /// Takes the names of tools that an upstream offers and that nobody has accepted yet.
    pub fn take_offered(&mut self, tool: &Tool) {
        self.take(tool, false);
    }

    /// A name of an upstream's tool that another tool has. A pack's tool comes first: it alone stays.
    pub fn clash(&self, tool: &Tool) -> Option<NameClash<'_>> {
        let is_other =
            |holder: &&NameHolder| *holder.source != *tool.source || holder.own_name != tool.own_name.as_str();
        let others = forms(tool).into_iter().flat_map(|name| {
            let holders = self.holders.get(&name).map(Vec::as_slice).unwrap_or_default();
            holders.iter().filter(is_other).map(move |holder| (name.clone(), holder))
        });
        let (name, holder) = others.min_by_key(|(_, holder)| !holder.is_pack)?;
        Some(NameClash { name, source: &holder.source, with_pack: holder.is_pack })
    }

    /// Puts each tool where it belongs: among the tools, or, where it can't be one of them, among those that rules may still
    /// name.
    pub fn admit(&self, packs: Vec<Tool>, foreign: Vec<ForeignTool>) -> (Vec<Tool>, Vec<Tool>) {
        let (mut tools, mut absent) = (packs, Vec::new());
        for ForeignTool { tool, is_offered } in foreign {
            let is_admitted = is_offered && self.may_stand(&tool);
            if is_admitted { &mut tools } else { &mut absent }.push(tool);
        }
        // rules name one tool by a name
        let mut named: HashSet<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
        absent.retain(|tool| named.insert(tool.name.to_string()));
        (tools, absent)
    }

    /// Whether a tool that is offered can be registered; says why not.
    fn may_stand(&self, tool: &Tool) -> bool {
        let (upstream, name) = (&*tool.source, tool.name.as_str());
        if let Err(problem) = check_tool(tool) {
            logging::warn_once(&format!("a tool of the upstream {upstream} is left out: {problem}"));
            return false;
        }
        if let Some(clash) = self.clash(tool) {
            let (holder, remedy) = (clash.holder(), clash.remedy(tool));
            logging::warn_once(&format!(
                "the tool '{name}' of the upstream {upstream} is left out: {holder} has a tool of that name; {remedy}"
            ));
            return false;
        }
        true
    }
}

impl NameClash<'_> {
    fn holder(&self) -> String {
        if self.with_pack { self.source.to_owned() } else { format!("the upstream {}", self.source) }
    }

    /// The key of the configuration that settles it.
    fn remedy(&self, tool: &Tool) -> String {
        let upstream = &*tool.source;
        if self.source == upstream {
            return format!("in [[upstreams]] name = \"{upstream}\" add exclude = [\"{}\"]", tool.own_name);
        }
        let prefix = suggested_prefix(upstream);
        let exclude = if self.with_pack { "" } else { ", or exclude one of the tools" };
        format!("in [[upstreams]] name = \"{upstream}\" add prefix = \"{prefix}\"{exclude}")
    }

    /// The warning for a person who is about to accept the tool.
    pub fn warning(&self, tool: &Tool) -> String {
        let gone = if self.with_pack { "this one is" } else { "both are" };
        let (holder, name, remedy) = (self.holder(), visible(&self.name), self.remedy(tool));
        format!("name_clash: {holder} has a tool '{name}', so that {gone} left out; {remedy}")
    }
}

fn forms(tool: &Tool) -> [String; 3] {
    [&tool.wire_name, &tool.name, &tool.name.to_wire()].map(ToString::to_string)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::value::RawValue;
    use toolgate_core::Facts;
    use toolgate_spine::ToolOffer;

    use crate::{catalog::Catalog, config::Config, raise, upstreams::Pinned};

    fn offer(name: &str) -> ToolOffer {
        let definition = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        ToolOffer {
            name: name.to_owned(),
            definition: RawValue::from_string(definition).unwrap(),
            facts: Facts::default(),
        }
    }

    fn pinned(upstream: &str, registered: &[&str], absent: &[&str]) -> Pinned {
        let offers = |names: &[&str]| names.iter().map(|name| offer(name)).collect();
        Pinned {
            upstream: upstream.to_owned(),
            prefix: String::new(),
            registered: offers(registered),
            absent: offers(absent),
            more: Vec::new(),
        }
    }

    /// The tools of a gate over some upstreams, each as `SOURCE NAME`.
    fn tools(upstreams: Vec<Pinned>) -> Vec<String> {
        let gate = raise::gate(&Config::default(), &upstreams, &Catalog::default()).unwrap();
        let foreign = gate.catalog().tools().filter(|tool| tool.source.len() == 1);
        foreign.map(|tool| format!("{} {}", tool.source, tool.name)).collect()
    }

    #[test]
    fn neither_of_two_upstreams_has_a_name_that_both_have() {
        let (a, b) = (|| pinned("a", &["read_file", "x"], &[]), || pinned("b", &["read_file", "y"], &[]));
        assert_eq!(tools(vec![a(), b()]), ["a x", "b y"]);
        assert_eq!(tools(vec![b(), a()]), ["a x", "b y"]);
    }

    #[test]
    fn a_name_is_free_for_nobody_while_its_tool_waits_to_be_accepted_again() {
        let (a, b) = (|| pinned("a", &["read_file", "x"], &[]), || pinned("b", &["y"], &["read_file"]));
        assert_eq!(tools(vec![a(), b()]), ["a x", "b y"]);
        assert_eq!(tools(vec![b(), a()]), ["a x", "b y"]);
    }

    #[test]
    fn names_that_are_one_on_the_wire_clash_also_within_one_upstream() {
        assert_eq!(tools(vec![pinned("a", &["read.file", "x"], &[]), pinned("b", &["read_file"], &[])]), ["a x"]);
        assert_eq!(tools(vec![pinned("a", &["read.file", "read_file", "x"], &[])]), ["a x"]);
    }
}
