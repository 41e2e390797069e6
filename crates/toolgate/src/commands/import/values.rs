//! Values of variables and headers: text, a variable of our own environment, or a secret in a file of its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde_json::Value;

use super::{
    secret::is_secret,
    translate::{Secret, Work, normalised},
    variable::{self, Reading, shouted},
};
use crate::config::{FromEnv, FromFile, Given};

impl Work<'_> {
    pub fn values(
        &mut self,
        own: &str,
        name: &str,
        key: &str,
        values: &Value,
    ) -> Result<BTreeMap<String, Given>, String> {
        let values = values.as_object().ok_or_else(|| format!("'{key}' is not an object of texts"))?;
        let mut given = BTreeMap::new();
        for (key, value) in values {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                Value::Null => {
                    self.note(own, format!("left out: '{key}', which is null"));
                    continue;
                }
                _ => return Err(format!("'{key}' is not a text")),
            };
            given.insert(key.clone(), self.given(own, name, key, text));
        }
        Ok(given)
    }

    fn given(&mut self, own: &str, name: &str, key: &str, text: String) -> Given {
        match variable::read(&text) {
            Reading::One(found) => {
                let variable = found.name;
                if let Some(id) = found.input {
                    let asked =
                        self.inputs.get(id).filter(|words| !words.is_empty()).map_or(id, |words| words).to_owned();
                    self.note(own, format!("set the variable {variable} for '{key}': {asked}"));
                }
                if found.has_default {
                    self.note(own, format!("left out: the default of {variable} for '{key}'; set the variable"));
                }
                Given::Env(FromEnv { env: variable })
            }
            Reading::Mixed => {
                let variable = shouted(&format!("{name}_{key}"));
                let template = if is_harmless(&text) { format!(" to {text}") } else { String::new() };
                self.note(
                    own,
                    format!("set the variable {variable} for '{key}'{template}: it is made of several parts"),
                );
                Given::Env(FromEnv { env: variable })
            }
            Reading::Plain if is_secret(key, &text) => Given::File(FromFile { file: self.keep(name, key, text) }),
            Reading::Plain => Given::Text(text),
        }
    }

    /// The file a secret goes to. INVARIANT: no two secrets share one.
    fn keep(&mut self, name: &str, key: &str, content: String) -> PathBuf {
        let taken: BTreeSet<&str> = self.imported.secrets.iter().map(|secret| secret.name.as_str()).collect();
        let plain = format!("{name}.{}", normalised(key));
        let numbered = (2_u32..).map(|number| format!("{plain}-{number}"));
        let file = std::iter::once(plain.clone()).chain(numbered).find(|file| !taken.contains(file.as_str()));
        let file = file.unwrap_or(plain);
        self.imported.secrets.push(Secret { name: file.clone(), content });
        self.secrets.join(file)
    }
}

/// Whether text around variables may be shown: a word such as Bearer, a path, but no default and no secret.
fn is_harmless(text: &str) -> bool {
    let literal: String = text.split("${").map(|part| part.split_once('}').map_or(part, |(_, after)| after)).collect();
    let literal = literal.trim();
    !text.contains(":-")
        && (["bearer", "basic", "token"].contains(&literal.to_ascii_lowercase().as_str()) || literal.starts_with('/'))
}
