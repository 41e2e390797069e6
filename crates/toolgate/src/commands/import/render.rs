//! Upstreams as people write them: one line for each key, nothing that is the default.

use toml::Value;

use crate::config::{Given, Upstream, Writes};

pub fn upstreams(upstreams: &[Upstream]) -> String {
    upstreams.iter().map(upstream).collect::<Vec<_>>().join("\n")
}

fn upstream(upstream: &Upstream) -> String {
    let mut text = "[[upstreams]]\n".to_owned();
    let mut line = |key: &str, value: Value| text.push_str(&format!("{key} = {value}\n"));
    line("name", Value::String(upstream.name.clone()));
    if !upstream.prefix.is_empty() {
        line("prefix", Value::String(upstream.prefix.clone()));
    }
    if !upstream.enabled {
        line("enabled", Value::Boolean(false));
    }
    for (key, value) in [("command", &upstream.command), ("url", &upstream.url)] {
        value.iter().for_each(|value| line(key, Value::String(value.clone())));
    }
    if let Some(cwd) = &upstream.cwd {
        line("cwd", Value::String(cwd.display().to_string()));
    }
    for (key, values) in [("args", &upstream.args), ("include", &upstream.include), ("exclude", &upstream.exclude)] {
        if !values.is_empty() {
            line(key, Value::Array(values.iter().cloned().map(Value::String).collect()));
        }
    }
    if upstream.writes == Writes::Ask {
        line("writes", Value::String("ask".to_owned()));
    }
    for (section, values) in [("env", &upstream.env), ("headers", &upstream.headers)] {
        for (key, given) in values {
            line(&format!("{section}.{}", quoted(key)), value(given));
        }
    }
    text
}

fn value(given: &Given) -> Value {
    let table = |key: &str, value: String| Value::Table([(key.to_owned(), Value::String(value))].into_iter().collect());
    match given {
        Given::Text(text) => Value::String(text.clone()),
        Given::Env(from) => table("env", from.env.clone()),
        Given::File(from) => table("file", from.file.display().to_string()),
    }
}

/// A key of TOML, in quotes where it needs them.
pub fn quoted(key: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !key.is_empty() && key.bytes().all(bare) {
        return key.to_owned();
    }
    // a value may go over several lines, a key may not; a text of JSON is one of TOML, but for this character
    serde_json::Value::String(key.to_owned()).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn what_is_rendered_is_read_back_the_same() {
        let hostile = "a \"b\" \\ 'c' '''\n\t#]\u{7f}\u{1}é";
        let text = format!(
            "[[upstreams]]\nname = \"x\"\ncommand = {0}\nargs = [{0}, \"\"]\nenv.{1} = {0}\n",
            Value::String(hostile.to_owned()),
            quoted(hostile)
        );
        let read: Config = toml::from_str(&text).unwrap();
        let again: Config = toml::from_str(&upstreams(&read.upstreams)).unwrap();
        assert_eq!(again.upstreams, read.upstreams);
        assert_eq!(read.upstreams[0].args[0], hostile);
    }
}
