//! Reading the file: unknown keys are refused with a suggestion, variables override, every fault names its place.

use std::path::{Path, PathBuf};

use toolgate_core::suggest::closest;

use crate::bounded_file::read_text;

use super::{Config, Pack, Upstream, place::line_and_column};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    #[error("the configuration '{path}' can't be read: {reason}; name it with --config, or write one: toolgate init")]
    Unreadable { path: String, reason: String },
    #[error("{path}:{line}:{column}: {message}")]
    Wrong { path: String, line: usize, column: usize, message: String },
    #[error("the variable {variable} is wrong: {message}")]
    Variable { variable: String, message: String },
}

/// Tools that are switched off for everybody, beside those of the file.
pub const DISABLED_TOOLS: &str = "TOOLGATE_DISABLED_TOOLS";

/// A variable that overrides a key: `TOOLGATE_SERVER__LISTEN`, or `TOOLGATE__LANG` for a key of no section.
const PREFIX: &str = "TOOLGATE_";

/// The configuration of `path`, or the built-in one; variables in `environment` override either.
pub fn load(path: Option<&Path>, environment: impl Iterator<Item = (String, String)>) -> Result<Config, ConfigProblem> {
    let config = match path {
        None => Config::without_file(),
        Some(path) => {
            let name = path.display().to_string();
            let text = read_text(path)
                .map_err(|fault| ConfigProblem::Unreadable { path: name.clone(), reason: fault.to_string() })?;
            let mut config: Config = toml::from_str(&text).map_err(|fault| wrong(&name, &text, &fault))?;
            anchor(&mut config, path.parent().unwrap_or(Path::new("")));
            config
        }
    };
    let mut config = overridden(config, environment)?;
    config.disabled_tools.sort();
    config.disabled_tools.dedup();
    Ok(config)
}

/// Paths in the file are relative to the file.
fn anchor(config: &mut Config, base: &Path) {
    let place = |path: &mut PathBuf| *path = base.join(&*path);
    config.rules.iter_mut().for_each(place);
    config.packs.values_mut().flat_map(Pack::paths).for_each(place);
    config.identity.issuers.iter_mut().filter_map(|issuer| issuer.jwks_file.as_mut()).for_each(place);
    config.identity.key_file.iter_mut().for_each(place);
    config.identity.coordinator_token_file.iter_mut().for_each(place);
    config.approvals.paths().for_each(place);
    config.ledger.checkpoint_file.iter_mut().for_each(place);
    config.upstreams.iter_mut().flat_map(Upstream::paths).for_each(place);
}

fn overridden(config: Config, environment: impl Iterator<Item = (String, String)>) -> Result<Config, ConfigProblem> {
    let mut config = config;
    let mut variables: Vec<(String, String)> = environment.filter(|(name, _)| name.starts_with(PREFIX)).collect();
    variables.sort();
    for (variable, value) in variables {
        if variable == DISABLED_TOOLS {
            config
                .disabled_tools
                .extend(value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
            continue;
        }
        // a key has two underscores after its section, or after the prefix where it has none
        let Some(keys) = variable.strip_prefix(PREFIX).filter(|rest| rest.contains("__") || rest.starts_with('_'))
        else {
            continue;
        };
        let keys: Vec<String> = keys
            .trim_start_matches('_')
            .split("__")
            .filter(|key| !key.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let bad = |message: String| ConfigProblem::Variable { variable: variable.clone(), message };
        let mut table = toml::Table::try_from(&config).map_err(|fault| bad(fault.to_string()))?;
        insert(&mut table, &keys, typed(&value)).ok_or_else(|| bad("it names no key".to_owned()))?;
        config = table.try_into().map_err(|fault: toml::de::Error| bad(explained(fault.message())))?;
    }
    Ok(config)
}

/// A TOML value where it reads as one, else the text itself.
fn typed(value: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {value}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()))
}

fn insert(table: &mut toml::Table, keys: &[String], value: toml::Value) -> Option<()> {
    match keys {
        [] => None,
        [last] => {
            table.insert(last.clone(), value);
            Some(())
        }
        [first, rest @ ..] => {
            let inner = table.entry(first.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            insert(inner.as_table_mut()?, rest, value)
        }
    }
}

fn wrong(path: &str, text: &str, fault: &toml::de::Error) -> ConfigProblem {
    let (line, column) = line_and_column(text, fault.span().map_or(0, |span| span.start));
    let message = match fault.message().trim() {
        "duplicate key" => duplicate(text, line),
        message => explained(message),
    };
    ConfigProblem::Wrong { path: path.to_owned(), line, column, message }
}

/// A key or table that stands in the file twice, with the line of the first.
fn duplicate(text: &str, line: usize) -> String {
    let written = |line: &str| line.split(['=', '#']).next().unwrap_or_default().trim().to_owned();
    let name = line.checked_sub(1).and_then(|index| text.lines().nth(index)).map(written).unwrap_or_default();
    let before = text.lines().take(line.saturating_sub(1)).position(|earlier| written(earlier) == name);
    match before {
        Some(index) => format!("{name} is there already, at line {}; keep one of them, with all its keys", index + 1),
        None => format!("{name} is there twice; keep one of them"),
    }
}

/// An unknown key with the known one nearest to it.
fn explained(message: &str) -> String {
    let mut words = message.split('`').skip(1).step_by(2);
    let Some(unknown) = words.next().filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    match closest(unknown, words) {
        Some(near) => format!("unknown key '{unknown}'; did you mean '{near}'?"),
        None => format!(
            "unknown key '{unknown}'; {}",
            message.split(", ").skip(1).collect::<Vec<_>>().join(", ").replace('`', "'")
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn from_text(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("toolgate.toml");
        fs::write(&path, text).unwrap();
        let shown = dir.path().display().to_string();
        load(Some(&path), std::iter::empty()).map_err(|problem| problem.to_string().replace(&shown, "DIR"))
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_place_and_a_suggestion() {
        let problem = from_text("[server]\nlisten = \"127.0.0.1:1\"\nlistn = 1\n").unwrap_err();
        assert_eq!(problem, "DIR/toolgate.toml:3:1: unknown key 'listn'; did you mean 'listen'?");
        let problem = from_text("[tools.add_task]\npermision = \"signed_in\"\n").unwrap_err();
        assert!(problem.contains("did you mean 'permission'?"), "{problem}");
    }

    #[test]
    fn a_wrong_word_is_refused_with_its_place_and_a_suggestion() {
        let problem = from_text("[tools.get_my_profile]\npermission = \"workeronly\"\n").unwrap_err();
        assert!(problem.starts_with("DIR/toolgate.toml:2:14: permission 'workeronly' is not one of: "), "{problem}");
        assert!(problem.ends_with("; did you mean 'worker_only'?"), "{problem}");
        let problem = from_text("\n[tools.x]\nruntimes = [\"server\", \"cleint\"]\n").unwrap_err();
        assert!(problem.starts_with("DIR/toolgate.toml:3:") && problem.contains("did you mean 'client'?"), "{problem}");
        let problem = from_text("[tools.x.limits]\nresult = \"shorten\"\n").unwrap_err();
        assert!(problem.starts_with("DIR/toolgate.toml:2:10: result 'shorten' is not one of: refuse cut"), "{problem}");
    }

    #[test]
    fn a_wrong_type_is_refused_with_its_place() {
        let problem = from_text("[server]\nlisten = 8484\n").unwrap_err();
        assert!(problem.starts_with("DIR/toolgate.toml:2:10: invalid type: integer"), "{problem}");
    }

    #[test]
    fn a_table_that_is_there_twice_is_named_with_its_first_line() {
        let problem = from_text("[approvals]\nwait = \"45s\"\n\n[approvals]\nttl = \"1h\"\n").unwrap_err();
        assert!(problem.contains("toolgate.toml:4:2: [approvals] is there already, at line 1"), "{problem}");
        let problem = from_text("lang = \"en\"\nlang = \"ja\"\n").unwrap_err();
        assert!(problem.contains("toolgate.toml:2:1: lang is there already, at line 1"), "{problem}");
    }

    #[test]
    fn a_file_loads_only_the_packs_it_names() {
        assert!(from_text("").unwrap().packs.is_empty());
        assert_eq!(from_text("[packs.todo]").unwrap().packs.len(), 1);
        let built_in = load(None, std::iter::empty()).unwrap().packs;
        let all = ["admin", "gate", "spine", "todo"];
        assert_eq!(built_in.keys().collect::<Vec<_>>(), all);
    }

    #[test]
    fn variables_override_and_wrong_ones_are_refused() {
        let variables = |pairs: &[(&str, &str)]| {
            load(
                None,
                pairs
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect::<Vec<_>>()
                    .into_iter(),
            )
        };
        let config = variables(&[
            ("TOOLGATE_SERVER__LISTEN", "127.0.0.1:1"),
            ("TOOLGATE__LANG", "ja"),
            ("TOOLGATE_LIMITS__DEPTH", "7"),
            ("TOOLGATE_DISABLED_TOOLS", "add_task, delete_task"),
            ("TOOLGATE_TOKEN", "not a key"),
            ("PATH", "x"),
        ])
        .unwrap();
        assert_eq!(
            (config.server.listen.as_str(), config.lang.as_str(), config.limits.depth),
            ("127.0.0.1:1", "ja", 7)
        );
        assert_eq!(config.disabled_tools, ["add_task", "delete_task"]);
        let problem = variables(&[("TOOLGATE_SERVER__LISTN", "x")]).unwrap_err().to_string();
        assert_eq!(
            problem,
            "the variable TOOLGATE_SERVER__LISTN is wrong: unknown key 'listn'; did you mean 'listen'?"
        );
    }
}
