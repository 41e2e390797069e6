//! A diff without secrets: the lines around our entry are other servers', with their keys in them.

use serde_json::Value;

use crate::commands::{
    client_file::{self, without_mark},
    import::secret::{is_secret, secret_arguments},
};

const MASK: &str = "…";

/// `diff` with every secret of the texts, and `token`, masked.
pub fn masked(diff: &str, texts: &[&str], token: Option<&str>) -> String {
    let mut secrets: Vec<String> = token.map(str::to_owned).into_iter().collect();
    for text in texts {
        let (_, text) = without_mark(text);
        if let Ok(root) = client_file::object(std::path::Path::new(""), text) {
            collect("", &Value::Object(client_file::members(&root)), &mut secrets);
        }
    }
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.iter().fold(diff.to_owned(), |diff, secret| {
        // as it is written in the file, where some characters have another form
        let written = Value::String(secret.clone()).to_string();
        let written = written.trim_matches('"');
        if secret.len() < 4 { diff } else { diff.replace(written, MASK).replace(secret.as_str(), MASK) }
    })
}

fn collect(key: &str, value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::String(text) if is_secret(key, text) => secrets.push(text.clone()),
        Value::Object(members) => members.iter().for_each(|(key, value)| collect(key, value, secrets)),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            secrets.extend(secret_arguments(&texts).into_iter().filter_map(|index| texts.get(index).cloned()));
            items.iter().for_each(|item| collect(key, item, secrets));
        }
        _ => {}
    }
}
