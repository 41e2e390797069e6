//! `upstream list|diff|accept`: what stands behind the gate, and which of it someone has looked at.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use toolgate_core::{
    Facts, Tool,
    pin::{self, Choice, Judged, Lock, State, visible},
};
use toolgate_spine::ToolOffer;
use toolgate_upstream::Definition;

use super::print;
use crate::{
    CommandResult, Ending, Misuse,
    cli::{Place, UpstreamCommand},
    config::{Config, Upstream},
    gateway_files::GatewayFiles,
    ground::Ground,
    raise,
    upstreams::{self, Upstreams},
};

/// How long an upstream has to answer a command.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn run(command: UpstreamCommand) -> CommandResult {
    match command {
        UpstreamCommand::List { place, output } => {
            let looked = Look::at(&place, None).await?;
            let mut text = String::new();
            for seen in &looked {
                text.push_str(&format!("{}: {}\n", seen.name, seen.summary()));
            }
            if looked.is_empty() {
                text.push_str("There are no upstreams. Add one: [[upstreams]] in toolgate.toml\n");
            }
            print(output, &looked.iter().map(Look::json).collect::<Vec<_>>(), &text)?;
            Ok(Ending::Good)
        }
        UpstreamCommand::Diff { name, place, output } => {
            let looked = Look::at(&place, name.as_deref()).await?;
            let text: String = looked.iter().map(Look::difference).collect();
            let waits = looked.iter().any(Look::waits);
            let text = if waits { text } else { format!("{text}Nothing waits to be accepted.\n") };
            print(output, &looked.iter().map(Look::json).collect::<Vec<_>>(), &text)?;
            Ok(if waits { Ending::No } else { Ending::Good })
        }
        UpstreamCommand::Accept { name, tools, all, place, output } => {
            let ground = Ground::of(&place)?;
            let looked = Look::at(&place, Some(&name)).await?;
            let Some(seen) = looked.first() else { return Err(format!("there is no upstream '{name}'").into()) };
            if let Some(fault) = &seen.fault {
                return Err(format!("the upstream '{name}' does not answer: {fault}").into());
            }
            let file = ground.lock_file();
            let mut lock = file.read()?;
            let names: Vec<&str> = tools.iter().map(String::as_str).collect();
            let choice = if all { Choice::All } else { Choice::Named(&names) };
            let acceptance = lock.accept(&name, choice, &upstreams::named(&seen.offered));
            file.write(&lock)?;
            // what is accepted is what was shown
            let mut text = seen.difference();
            for (what, tools) in [
                ("accepted", &acceptance.added),
                ("accepted as changed", &acceptance.changed),
                ("forgotten", &acceptance.removed),
            ] {
                text.extend(tools.iter().map(|tool| format!("{what}: {}\n", visible(tool))));
            }
            text.extend(acceptance.refused.iter().map(|refused| format!("{refused}\n")));
            text.push_str(&format!("{} is written; keep it with the configuration\n", file.path().display()));
            let value = json!({"added": acceptance.added, "changed": acceptance.changed, "removed": acceptance.removed,
                "refused": acceptance.refused.iter().map(ToString::to_string).collect::<Vec<_>>()});
            print(output, &value, &text)?;
            Ok(if acceptance.refused.is_empty() { Ending::Good } else { Ending::No })
        }
    }
}

/// One upstream, asked now.
struct Look {
    name: String,
    offered: Vec<Definition>,
    judged: Vec<Judged>,
    fault: Option<String>,
    /// Warnings of names that other tools have, by tool.
    clashes: BTreeMap<String, String>,
}

impl Look {
    async fn at(place: &Place, only: Option<&str>) -> Result<Vec<Self>, Misuse> {
        let ground = Ground::of(place)?;
        let lock: Lock = ground.lock_file().read()?;
        let mut config = ground.config.clone();
        config.upstreams.retain(|upstream| only.is_none_or(|only| upstream.name == only));
        if let Some(only) = only.filter(|_| config.upstreams.is_empty()) {
            return Err(format!("there is no upstream '{only}' in the configuration").into());
        }
        let mut running = Upstreams::beside(GatewayFiles::of(&ground)?);
        running.follow(&config).await?;
        let mut looked = Vec::new();
        for upstream in &config.upstreams {
            let Some(connection) = running.get(&upstream.name) else { continue };
            let fault = connection.ready(PATIENCE).await.err().map(|fault| fault.to_string());
            let offered = connection.definitions();
            let judged = if fault.is_none() { upstreams::judge(&lock, &upstream.name, &offered) } else { Vec::new() };
            let clashes = clashes(&ground.config, &lock, upstream, &offered)?;
            looked.push(Self { name: upstream.name.clone(), offered, judged, fault, clashes });
        }
        running.stop().await;
        Ok(looked)
    }

    fn definition(&self, tool: &str) -> Option<&Definition> {
        self.offered.iter().find(|definition| definition.name == tool)
    }

    fn waits(&self) -> bool {
        self.fault.is_some() || self.judged.iter().any(|judged| judged.state != State::Accepted)
    }

    fn summary(&self) -> String {
        if let Some(fault) = &self.fault {
            return format!("does not answer: {fault}");
        }
        let count = |wanted: &str| self.judged.iter().filter(|judged| word(&judged.state) == wanted).count();
        let words = ["accepted", "new", "changed", "gone", "unusable"];
        let parts: Vec<String> = words
            .iter()
            .map(|word| (count(word), word))
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        if parts.is_empty() { "no tools".to_owned() } else { parts.join(", ") }
    }

    fn difference(&self) -> String {
        let mut text = match &self.fault {
            Some(fault) => format!("{} does not answer: {fault}\n", self.name),
            None => String::new(),
        };
        for judged in self.judged.iter().filter(|judged| judged.state != State::Accepted) {
            text.push_str(&format!("{} {}: {}\n", self.name, visible(&judged.name), word(&judged.state)));
            let now = self.definition(&judged.name);
            match (&judged.state, now) {
                (State::Changed { before }, Some(now)) => {
                    if let Ok(difference) = pin::diff(before, now.raw.get()) {
                        text.push_str(&indented(&difference.render()));
                    }
                }
                (State::New, Some(now)) => {
                    if let Ok(whole) = pin::diff("{}", now.raw.get()) {
                        text.push_str(&indented(&whole.render()));
                    }
                }
                (State::Unusable { reason }, _) => text.push_str(&indented(reason)),
                _ => {}
            }
            for warning in now.map(|now| self.warnings(now)).unwrap_or_default() {
                text.push_str(&format!("    look: {warning}\n"));
            }
        }
        text
    }

    /// What a person should look at twice before accepting.
    fn warnings(&self, now: &Definition) -> Vec<String> {
        let warned = pin::warnings(now.raw.get()).into_iter();
        let warned =
            warned.map(|warning| format!("{} at {}: {}", warning.kind, visible(&warning.path), warning.excerpt));
        warned.chain(self.clashes.get(&now.name).cloned()).collect()
    }

    fn json(&self) -> Value {
        let tools: Vec<Value> = self
            .judged
            .iter()
            .map(|judged| {
                let warnings = self.definition(&judged.name).map(|now| self.warnings(now)).unwrap_or_default();
                json!({"name": judged.name, "state": word(&judged.state),
                    "warnings": warnings})
            })
            .collect();
        json!({"upstream": self.name, "fault": self.fault, "tools": tools})
    }
}

/// Warnings of tools of an upstream whose names other tools have, by tool.
fn clashes(
    config: &Config,
    lock: &Lock,
    upstream: &Upstream,
    offered: &[Definition],
) -> Result<BTreeMap<String, String>, Misuse> {
    let tool = |definition: &Definition| {
        let offer = ToolOffer {
            name: definition.name.clone(),
            definition: (*definition.raw).to_owned(),
            facts: Facts::default(),
        };
        // a name that is none can't be accepted either, and is said as such
        raise::registered(&upstream.name, &upstream.prefix, config, offer).ok()
    };
    let tools: Vec<Tool> = offered.iter().filter_map(tool).collect();
    let mut taken = raise::taken_names(config, &upstreams::pinned(config, lock))?;
    tools.iter().for_each(|tool| taken.take_offered(tool));
    let warning = |tool: &Tool| Some((tool.own_name.to_string(), taken.clash(tool)?.warning()));
    Ok(tools.iter().filter_map(warning).collect())
}

fn word(state: &State) -> &'static str {
    match state {
        State::Accepted => "accepted",
        State::New => "new",
        State::Changed { .. } => "changed",
        State::Gone => "gone",
        State::Unusable { .. } => "unusable",
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
