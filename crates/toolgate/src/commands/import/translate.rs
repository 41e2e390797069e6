//! From a client's server to an upstream. What can't be said in the configuration is noted, never dropped in silence.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    secret::{looks_secret, secret_arguments},
    servers::Servers,
    variable::{self, Reading},
};
use crate::config::{Upstream, Writes, is_name, suggested_prefix};

/// Everything that came of a file.
#[derive(Default)]
pub struct Imported {
    pub upstreams: Vec<Upstream>,
    pub secrets: Vec<Secret>,
    pub notes: Vec<Note>,
}

/// A value that gets a file of its own. No Debug: it is never shown.
pub struct Secret {
    pub name: String,
    pub content: String,
}

/// What a person should know about a server.
#[derive(Debug, Serialize)]
pub struct Note {
    pub server: String,
    pub what: String,
}

#[derive(Debug, thiserror::Error)]
pub enum CannotImport {
    #[error("the server '{name}' in {file}: {what}")]
    Wrong { file: String, name: String, what: String },
    #[error("the servers '{one}' and '{other}' in {file} would both be named '{name}'; rename one there")]
    Clash { file: String, one: String, other: String, name: String },
}

const MASK: &str = "<secret>";
const KNOWN: [&str; 12] = [
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "serverUrl",
    "httpUrl",
    "headers",
    "type",
    "disabled",
    "enabled",
    "disabledTools",
];

impl Imported {
    /// The upstreams as they may be printed: what is secret in arguments and addresses is not.
    pub fn shown(&self) -> Vec<Upstream> {
        let mut shown = self.upstreams.clone();
        for upstream in &mut shown {
            for index in secret_arguments(&upstream.args) {
                upstream.args.get_mut(index).into_iter().for_each(|argument| *argument = MASK.to_owned());
            }
            let texts = upstream.url.iter_mut().chain(&mut upstream.command);
            texts.filter(|text| looks_secret(text)).for_each(|text| *text = MASK.to_owned());
        }
        shown
    }
}

/// `secrets`: their folder, as the configuration will name it.
pub fn all(file: &str, servers: Servers, secrets: &Path, writes: Writes) -> Result<Imported, CannotImport> {
    let mut work = Work { secrets, inputs: servers.inputs, imported: Imported::default() };
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (own, fields) in servers.servers {
        if own == "toolgate" {
            work.note(&own, "left out: it is the entry of Toolgate itself");
            continue;
        }
        let wrong = |what: String| CannotImport::Wrong { file: file.to_owned(), name: own.clone(), what };
        let name = normalised(&own);
        if !is_name(&name) {
            return Err(wrong("its name has no letter a-z or digit, or too many; rename it there".to_owned()));
        }
        if let Some(one) = names.insert(name.clone(), own.clone()) {
            return Err(CannotImport::Clash { file: file.to_owned(), one, other: own, name });
        }
        if let Some(mut upstream) = work.upstream(&own, &name, &fields).map_err(wrong)? {
            upstream.writes = writes;
            work.imported.upstreams.push(upstream);
        }
    }
    Ok(work.imported)
}

impl Imported {
    /// Gives every upstream a prefix of its own, so that no two tools have one name.
    pub fn add_prefixes(&mut self) {
        let mut taken = BTreeSet::new();
        for upstream in &mut self.upstreams {
            let prefix = suggested_prefix(&upstream.name);
            // `a-b` beside `a_b`
            upstream.prefix = if taken.contains(&prefix) { format!("{prefix}_") } else { prefix };
            taken.insert(upstream.prefix.clone());
        }
    }
}

/// Lower case; whatever else is not taken is one dash.
pub fn normalised(own: &str) -> String {
    let mut name = String::new();
    for character in own.chars().flat_map(char::to_lowercase) {
        if character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_' {
            name.push(character);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_end_matches('-').to_owned()
}

/// An import under way.
pub struct Work<'w> {
    pub secrets: &'w Path,
    pub inputs: BTreeMap<String, String>,
    pub imported: Imported,
}

impl Work<'_> {
    pub fn note(&mut self, server: &str, what: impl Into<String>) {
        self.imported.notes.push(Note { server: server.to_owned(), what: what.into() });
    }

    pub fn upstream(&mut self, own: &str, name: &str, fields: &Map<String, Value>) -> Result<Option<Upstream>, String> {
        let url = ["url", "serverUrl", "httpUrl"].iter().find_map(|key| fields.get(*key).map(|value| (*key, value)));
        let url = url.map(|(key, value)| text(key, value)).transpose()?;
        let command = fields.get("command").map(|value| text("command", value)).transpose()?;
        match (&command, &url) {
            (None, None) => {
                self.note(own, "left out: it has neither a command nor a url");
                return Ok(None);
            }
            (Some(_), Some(_)) => return Err("it has both a command and a url; keep one there".to_owned()),
            _ => {}
        }
        let is_command = command.is_some();
        let unused: &[&str] = if is_command { &["headers"] } else { &["args", "env", "cwd"] };
        for key in fields.keys().filter(|key| !KNOWN.contains(&key.as_str()) || unused.contains(&key.as_str())) {
            self.note(own, format!("left out: '{key}', which an upstream of this kind does not have"));
        }
        let list = |key: &str| fields.get(key).map_or(Ok(Vec::new()), |value| texts(key, value));
        let given = |work: &mut Self, key: &str, wanted: bool| match fields.get(key).filter(|_| wanted) {
            Some(values) => work.values(own, name, key, values),
            None => Ok(BTreeMap::new()),
        };
        let upstream = Upstream {
            name: name.to_owned(),
            prefix: String::new(),
            args: if is_command { list("args")? } else { Vec::new() },
            env: given(self, "env", is_command)?,
            cwd: fields
                .get("cwd")
                .filter(|_| is_command)
                .map(|value| text("cwd", value))
                .transpose()?
                .map(PathBuf::from),
            headers: given(self, "headers", !is_command)?,
            include: Vec::new(),
            exclude: list("disabledTools")?,
            auth: None,
            addresses: Vec::new(),
            ask: None,
            writes: Writes::default(),
            timeout_ms: None,
            concurrency: None,
            caller_concurrency: None,
            enabled: switch(fields, "enabled", true)? && !switch(fields, "disabled", false)?,
            command,
            user: None,
            sandbox: None,
            url,
        };
        self.look_over(own, &upstream);
        Ok(Some(upstream))
    }

    /// What stays in the configuration as it is and perhaps should not.
    fn look_over(&mut self, own: &str, upstream: &Upstream) {
        let cwd = upstream.cwd.as_ref().map(|cwd| cwd.display().to_string());
        let mut texts: Vec<(String, &str)> =
            upstream.args.iter().enumerate().map(|(index, text)| (format!("args[{index}]"), text.as_str())).collect();
        texts.extend(upstream.command.iter().map(|text| ("command".to_owned(), text.as_str())));
        texts.extend(upstream.url.iter().map(|text| ("url".to_owned(), text.as_str())));
        texts.extend(cwd.iter().map(|text| ("cwd".to_owned(), text.as_str())));
        let secret = secret_arguments(&upstream.args);
        let mut notes = Vec::new();
        for (index, (place, text)) in texts.iter().enumerate() {
            if variable::read(text) != Reading::Plain {
                notes.push(format!("{place} has a variable, which is not filled there: write its value instead"));
            }
            if secret.contains(&index) || (index >= upstream.args.len() && looks_secret(text)) {
                notes.push(format!(
                    "{place} looks like a secret and can't be moved out: not shown, but written by --write"
                ));
            }
        }
        notes.into_iter().for_each(|what| self.note(own, what));
    }
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("'{key}' is not a text"))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or_else(|| format!("'{key}' is not a list of texts"))?;
    list.iter().map(|item| text(key, item)).collect()
}

fn switch(fields: &Map<String, Value>, key: &str, usual: bool) -> Result<bool, String> {
    fields
        .get(key)
        .map_or(Ok(usual), |value| value.as_bool().ok_or_else(|| format!("'{key}' is neither true nor false")))
}
