//! Names of tools that are taken. A tool of an upstream whose name another tool has is left out rather than let down all the
//! others: its name is somebody else's to choose.

use std::collections::HashMap;

use toolgate_core::Tool;
use toolgate_spine::check_tool;

/// Every form of the names of some tools, with the source that has each.
#[derive(Default)]
pub struct TakenNames {
    sources: HashMap<String, String>,
}

impl TakenNames {
    pub fn of<'t>(tools: impl Iterator<Item = &'t Tool>) -> Self {
        let mut taken = Self::default();
        tools.for_each(|tool| taken.take(tool));
        taken
    }

    fn take(&mut self, tool: &Tool) {
        for name in forms(tool) {
            self.sources.insert(name, tool.source.to_string());
        }
    }

    /// The name that another tool has already, and the source of that tool.
    pub fn clash(&self, tool: &Tool) -> Option<(String, &str)> {
        forms(tool).into_iter().find_map(|name| {
            let source = self.sources.get(&name)?;
            Some((name, source.as_str()))
        })
    }

    /// Puts a foreign tool where it belongs: among the tools, or, where it can't be one of them, among those that rules may
    /// still name.
    pub fn admit(&mut self, tool: Tool, tools: &mut Vec<Tool>, absent: &mut Vec<Tool>) {
        match check_tool(&tool) {
            Ok(()) if self.clash(&tool).is_some() => self.leave_out(tool, absent),
            Ok(()) => {
                self.take(&tool);
                tools.push(tool);
            }
            Err(problem) => {
                tracing::warn!(upstream = &*tool.source, "a tool is left out: {problem}");
                absent.push(tool);
            }
        }
    }

    /// Says that a tool is left out. Rules may not name it if its very name is the other tool's.
    fn leave_out(&self, tool: Tool, absent: &mut Vec<Tool>) {
        if let Some((name, source)) = self.clash(&tool) {
            let upstream = tool.source.to_string();
            tracing::warn!(
                upstream,
                name,
                "a tool is left out: {source} has a tool of that name; give the upstream a prefix"
            );
        }
        if !self.sources.contains_key(tool.name.as_str()) {
            absent.push(tool);
        }
    }
}

fn forms(tool: &Tool) -> [String; 3] {
    [&tool.wire_name, &tool.name, &tool.name.to_wire()].map(ToString::to_string)
}
