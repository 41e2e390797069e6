//! Attributes of tools: what the configuration says over what a tool's source says. Lists, calls, `explain` and `matrix` all
//! read the result, so that this is the one place where attributes are made.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_core::{
    Pattern, Tool,
    caller::BadFact,
    rulebook::DeclaredType,
    suggest::hint,
    tool::{Approval, Effect, is_of_more},
};

use crate::{
    config::{Config, DISABLED_TOOLS, ToolConfig, Writes},
    logging,
    raise::{RaiseProblem, longest},
};

/// The `[tools]` tables of a configuration, in the order in which they apply: patterns first, the one that fixes more
/// characters later, and names last. A later table has the last word.
pub struct AttributeTables<'c> {
    patterns: Vec<(Pattern, &'c str, &'c ToolConfig)>,
    names: Vec<(&'c str, &'c ToolConfig)>,
}

impl<'c> AttributeTables<'c> {
    pub fn of(config: &'c Config) -> Self {
        let (patterns, names): (Vec<_>, Vec<_>) =
            config.tools.iter().map(|(key, table)| (key.as_str(), table)).partition(|(key, _)| is_pattern(key));
        let mut patterns: Vec<_> = patterns.into_iter().map(|(key, table)| (Pattern::glob(key), key, table)).collect();
        patterns.sort_by_key(|(pattern, ..)| pattern.plain());
        Self { patterns, names }
    }

    /// The tables about a tool, in the order in which they apply.
    pub fn about(&self, tool: &Tool) -> Vec<(&'c str, &'c ToolConfig)> {
        let forms = forms(tool);
        let patterns = self.patterns.iter().filter(|(pattern, ..)| forms.iter().any(|name| pattern.matches(name)));
        let patterns = patterns.map(|(_, key, table)| (*key, *table));
        let all = patterns.chain(self.names.iter().copied().filter(|(key, _)| is_named(tool, key)));
        let is_meant = |table: &ToolConfig| table.source.as_deref().is_none_or(|source| source == &*tool.source);
        all.filter(|(_, table)| is_meant(table)).collect()
    }
}

/// Puts configured attributes and disables in. A name that no tool has would silently do nothing, so it is refused; with
/// upstreams it may be a tool that is not accepted yet, and is logged instead.
pub fn configure(config: &Config, tools: &mut [Tool], absent: &mut [Tool]) -> Result<(), RaiseProblem> {
    let has_upstreams = config.upstreams.iter().any(|upstream| upstream.enabled);
    for problem in unknown_names(config, tools.iter().chain(absent.iter())) {
        if !has_upstreams {
            return Err(problem);
        }
        logging::warn_once(&problem.to_string());
    }
    for (flow, wanted) in &config.flows {
        longest(flow, wanted)?;
    }
    let tables = AttributeTables::of(config);
    let asking = asking_upstreams(config);
    for tool in tools.iter_mut().chain(absent.iter_mut()) {
        let about = tables.about(tool);
        for (key, table) in &about {
            table.apply(&mut tool.facts).map_err(|fault| bad_attribute(key, fault))?;
        }
        let says_approval = about.iter().any(|(_, table)| table.approval.is_some());
        if asking.contains(&*tool.source) && tool.facts.effect != Effect::Read && !says_approval {
            tool.facts.approval = Approval::Required;
        }
        tool.facts.disabled |= config.disabled_tools.iter().any(|name| is_named(tool, name));
    }
    Ok(())
}

/// The types of arguments that the configuration declares, by canonical name.
pub fn declared_types<'t>(
    config: &Config,
    tools: impl Iterator<Item = &'t Tool>,
) -> Result<BTreeMap<String, BTreeMap<String, DeclaredType>>, RaiseProblem> {
    for (key, table) in &config.tools {
        table.declared().map_err(|fault| bad_attribute(key, fault))?;
    }
    let tables = AttributeTables::of(config);
    let mut declared: BTreeMap<String, BTreeMap<String, DeclaredType>> = BTreeMap::new();
    for tool in tools {
        for (key, table) in tables.about(tool) {
            let types = table.declared().map_err(|fault| bad_attribute(key, fault))?;
            declared.entry(tool.name.to_string()).or_default().extend(types);
        }
    }
    Ok(declared)
}

/// Names and patterns in the configuration that none of the tools has.
pub fn unknown_names<'t>(config: &Config, tools: impl Iterator<Item = &'t Tool>) -> Vec<RaiseProblem> {
    let tools: Vec<&Tool> = tools.collect();
    let mut problems = Vec::new();
    let mut look_up = |place: &'static str, name: &str| {
        if !tools.iter().any(|tool| is_named(tool, name)) {
            let hint = hint(name, tools.iter().map(|tool| tool.name.as_str()));
            problems.push(RaiseProblem::UnknownTool { place, name: name.to_owned(), hint });
        }
    };
    config.tools.keys().filter(|key| !is_pattern(key)).for_each(|name| look_up("[tools]", name));
    for counterpart in config.tools.values().flat_map(ToolConfig::counterparts) {
        look_up("undo or preview in [tools]", counterpart);
    }
    for flow in config.flows.values() {
        let names = flow.allowlist.iter().flatten().filter(|name| !is_of_more(name));
        names.for_each(|name| look_up("allowlist in [flows]", name));
    }
    config.disabled_tools.iter().for_each(|name| look_up(place_of_disabled(name), name));
    for key in config.tools.keys().filter(|key| is_pattern(key)) {
        let pattern = Pattern::glob(key);
        let is_matched = tools.iter().any(|tool| forms(tool).iter().any(|name| pattern.matches(name)));
        if !is_matched {
            problems.push(RaiseProblem::NoMatch { pattern: key.clone() });
        }
    }
    problems
}

/// The upstreams whose tools require approval unless they are known to read.
fn asking_upstreams(config: &Config) -> BTreeSet<&str> {
    let asking = config.upstreams.iter().filter(|upstream| upstream.writes == Writes::Ask);
    asking.map(|upstream| upstream.name.as_str()).collect()
}

/// No tool has a star in its name.
pub fn is_pattern(key: &str) -> bool {
    key.contains('*')
}

/// By canonical or wire name.
fn is_named(tool: &Tool, name: &str) -> bool {
    tool.name.as_str() == name || tool.wire_name.as_str() == name || tool.name.to_wire().as_str() == name
}

/// The canonical name and both forms of the wire name.
fn forms(tool: &Tool) -> [String; 3] {
    [tool.name.to_string(), tool.wire_name.to_string(), tool.name.to_wire().to_string()]
}

/// The variable adds to the key of the configuration.
fn place_of_disabled(name: &str) -> &'static str {
    let variable = std::env::var(DISABLED_TOOLS).unwrap_or_default();
    if variable.split(',').any(|named| named.trim() == name) { DISABLED_TOOLS } else { "disabled_tools" }
}

fn bad_attribute(key: &str, fault: BadFact) -> RaiseProblem {
    RaiseProblem::BadFact { tool: format!("[tools.\"{key}\"]"), fault }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::value::RawValue;
    use toolgate_core::Facts;
    use toolgate_spine::ToolOffer;

    use super::*;
    use crate::{catalog::Catalog, raise, upstreams::Pinned};

    fn files(prefix: &str, names: &[&str]) -> Pinned {
        let offer = |name: &&str| ToolOffer {
            name: (*name).to_owned(),
            definition: RawValue::from_string(format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#))
                .unwrap(),
            facts: Facts::default(),
        };
        Pinned {
            upstream: "files".to_owned(),
            prefix: prefix.to_owned(),
            registered: names.iter().map(offer).collect(),
            absent: Vec::new(),
            more: Vec::new(),
        }
    }

    /// The effect and approval of each tool, as `NAME EFFECT APPROVAL`.
    fn attributes(config: &str, prefix: &str) -> Vec<String> {
        let config: Config = toml::from_str(config).unwrap();
        let pinned = files(prefix, &["read_text", "read_secret", "write"]);
        let gate = raise::gate(&config, &[pinned], &Catalog::default()).unwrap();
        let shown = |tool: &std::sync::Arc<Tool>| {
            format!("{} {} {}", tool.name, tool.facts.effect.as_str(), tool.facts.approval.as_str())
        };
        gate.catalog().tools().map(shown).collect()
    }

    const FILES: &str = "[[upstreams]]\nname = \"files\"\ncommand = \"x\"\n";

    #[test]
    fn the_more_particular_of_two_patterns_wins_and_a_name_wins_over_both() {
        let config = format!(
            "{FILES}[tools.\"*\"]\neffect = \"log\"\napproval = \"required\"\n[tools.\"files_read_*\"]\neffect = \"read\"\napproval = \"none\"\n\
             [tools.files_read_secret]\napproval = \"required\"\n"
        );
        let expected = ["files_read_secret read required", "files_read_text read none", "files_write log required"];
        assert_eq!(attributes(&config, "files_"), expected);
    }

    #[test]
    fn a_pattern_matches_the_name_with_dots_and_the_name_on_the_wire() {
        for pattern in ["files.read_*", "files_read_*", "*read_*"] {
            let config = format!("{FILES}[tools.\"{pattern}\"]\neffect = \"read\"\n");
            let expected = ["files.read_secret read none", "files.read_text read none", "files.write write none"];
            assert_eq!(attributes(&config, "files."), expected, "{pattern}");
        }
    }

    #[test]
    fn an_upstream_that_asks_requires_approval_of_all_that_is_not_known_to_read() {
        let config = format!("{FILES}writes = \"ask\"\n[tools.\"read_t*\"]\neffect = \"read\"\n");
        assert_eq!(
            attributes(&config, ""),
            ["read_secret write required", "read_text read none", "write write required"]
        );
        let config = format!("{FILES}writes = \"ask\"\n[tools.write]\napproval = \"none\"\n");
        let expected = ["read_secret write required", "read_text write required", "write write none"];
        assert_eq!(attributes(&config, ""), expected, "the operator's own word on one tool counts");
        let expected = ["read_secret write none", "read_text write none", "write write none"];
        assert_eq!(attributes(FILES, ""), expected);
    }

    #[test]
    fn a_pattern_without_a_tool_is_refused_where_there_are_only_packs_and_a_warning_where_there_are_upstreams() {
        let pattern = "[tools.\"nothing_*\"]\neffect = \"read\"\n";
        let alone: Config = toml::from_str(&format!("[packs.todo]\n{pattern}")).unwrap();
        let problem = raise::gate(&alone, &[], &Catalog::default()).unwrap_err().to_string();
        assert_eq!(problem, "[tools.\"nothing_*\"] matches no tool that is built in or accepted");
        let beside: Config = toml::from_str(&format!("{FILES}{pattern}")).unwrap();
        raise::gate(&beside, &[], &Catalog::default()).unwrap();
        assert_eq!(raise::attribute_warnings(&beside, &[]).unwrap(), [problem]);
    }
}
