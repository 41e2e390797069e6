//! `check`: everything `serve` would refuse, and what it would only warn of, without serving.

use serde_json::json;
use toolgate_core::{Gate, RuleFile, line_escape};

use super::{books::counted, print, say};
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Output, Place},
    config::{Config, ConfigProblem, with_place},
    gateway_files::GatewayFiles,
    ground::Ground,
    program_search::missing_program,
    upstreams,
};

pub fn run(place: &Place, schema: bool, output: Output) -> CommandResult {
    if schema {
        say(&format!("{}\n", serde_json::to_string_pretty(&Config::schema())?))?;
        return Ok(Ending::Good);
    }
    match checked(place) {
        Ok(checked) => {
            checked.tell(output)?;
            Ok(Ending::Good)
        }
        // what can't be read can't be checked
        Err(problem) if is_unreadable(&problem) => Err(problem),
        Err(problem) => {
            let problem = with_place(place.config.as_deref(), &problem.to_string());
            print(output, &json!({"good": false, "problem": problem}), &format!("{problem}\n"))?;
            Ok(Ending::No)
        }
    }
}

/// Returns true if a command could not read its configuration at all.
pub fn is_unreadable(problem: &Misuse) -> bool {
    matches!(problem.downcast_ref::<ConfigProblem>(), Some(ConfigProblem::Unreadable { .. }))
}

/// A configuration that is good.
struct Checked {
    file: String,
    tools: usize,
    shipped_rules: usize,
    own_rules: usize,
    upstreams: usize,
    /// Upstreams none of whose tools was accepted.
    unaccepted: usize,
    warnings: Vec<String>,
    notes: Vec<String>,
}

fn checked(place: &Place) -> Result<Checked, Misuse> {
    let ground = Ground::of(place)?;
    let gate = ground.gate()?;
    super::serve::check(&ground)?;
    let mut warnings = GatewayFiles::of(&ground)?.exposures(&ground.config.upstreams);
    warnings.extend(ground.config.upstreams.iter().filter_map(missing_program));
    warnings.extend(ground.attribute_warnings()?);
    let lock = ground.lock_file().read()?;
    let pinned = upstreams::pinned(&ground.config, &lock);
    let shipped_rules = shipped_rules(&gate);
    Ok(Checked {
        tools: gate.catalog().len(),
        shipped_rules,
        own_rules: gate.rulebook().rules().len() - shipped_rules,
        upstreams: ground.config.upstreams.len(),
        unaccepted: pinned.iter().filter(|pinned| pinned.registered.is_empty()).count(),
        warnings,
        notes: gate.rulebook().notes().iter().map(ToString::to_string).collect(),
        file: ground
            .config_path
            .map_or_else(|| "the built-in configuration".to_owned(), |path| path.display().to_string()),
    })
}

/// The number of rules that come with Toolgate.
pub fn shipped_rules(gate: &Gate) -> usize {
    let shipped = RuleFile::shipped().name;
    gate.rulebook().rules().iter().filter(|rule| rule.file == shipped).count()
}

impl Checked {
    fn tell(&self, output: Output) -> Result<(), Misuse> {
        let rules = self.shipped_rules + self.own_rules;
        print(
            output,
            &json!({
                "good": true, "configuration": self.file, "tools": self.tools, "rules": rules,
                "own_rules": self.own_rules, "upstreams": self.upstreams, "unaccepted_upstreams": self.unaccepted,
                "warnings": self.warnings, "notes": self.notes,
            }),
            &self.text(),
        )
    }

    fn text(&self) -> String {
        let mut text: String =
            self.warnings.iter().map(|warning| format!("warning: {}\n", line_escape(warning))).collect();
        text.extend(self.notes.iter().map(|note| format!("note: {note}\n")));
        let (tools, rules) = (counted(self.tools, "tool"), counted(self.shipped_rules, "shipped rule"));
        text.push_str(&format!("{} is good: {tools}; {rules}, {} of yours", self.file, self.own_rules));
        if self.upstreams > 0 {
            text.push_str(&format!("; {}", counted(self.upstreams, "upstream")));
        }
        text.push_str(&match (self.upstreams, self.unaccepted) {
            (_, 0) => "\n".to_owned(),
            (1, _) => ", whose tools are not accepted yet: toolgate upstream accept --all\n".to_owned(),
            (all, some) if all == some => {
                ", none of whose tools is accepted yet: toolgate upstream accept --all\n".to_owned()
            }
            (_, some) => format!(", {some} of them without an accepted tool: toolgate upstream accept --all\n"),
        });
        text
    }
}
