//! The text of `toolgate.lock`: a version, then two lines for each pin, sorted, so that a change is a small difference.

use super::{
    canonical::{Canonical, Digest, write_text},
    invisible::unseen,
    lock::Lock,
};

const VERSION: &str = "version 1";
const HEADER: &str = "\
# The definitions of upstream tools that someone accepted. `toolgate upstream accept` writes this file; keep it with
# the configuration. A tool that is not here as it is offered is listed to nobody.
";
const INDENT: &str = "    ";

/// Why a text is no lock. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadLock {
    /// From one.
    pub line: usize,
    pub reason: String,
}

impl Lock {
    pub fn parse(text: &str) -> Result<Self, BadLock> {
        let mut lock = Self::new();
        let lines = (1..).zip(text.lines());
        let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let bad = |line: usize, reason: String| BadLock { line, reason };
        match lines.next() {
            Some((_, VERSION)) => {}
            Some((line, other)) if other.starts_with("version ") => {
                let reason = format!("this Toolgate reads '{VERSION}' and not '{}'", shown(other));
                return Err(bad(line, reason));
            }
            Some((line, other)) => {
                return Err(bad(line, format!("expected '{VERSION}' and found '{}'", shown(other))));
            }
            None => {
                return Err(bad(1, format!("expected '{VERSION}' and found nothing: delete the file or restore it")));
            }
        }
        while let Some((line, head)) = lines.next() {
            let (upstream, name, digest) = parse_head(head).map_err(|reason| bad(line, reason))?;
            let Some((below, definition)) = lines.next().filter(|(_, next)| next.starts_with(INDENT)) else {
                return Err(bad(line, "the definition is missing: it stands indented on the next line".to_owned()));
            };
            let definition = Canonical::of(definition)
                .map_err(|unreadable| bad(below, format!("the definition can't be used: {unreadable}")))?;
            if definition.digest() != digest {
                let reason = format!("this definition's digest is {}, not the one above it", definition.digest());
                return Err(bad(below, reason));
            }
            if lock.pins.entry(upstream).or_default().insert(name, definition).is_some() {
                return Err(bad(line, "this tool is pinned twice: keep one of the two".to_owned()));
            }
        }
        Ok(lock)
    }

    /// Equal locks have equal texts.
    pub fn render(&self) -> String {
        let mut out = format!("{HEADER}{VERSION}\n");
        for (upstream, pins) in &self.pins {
            out.push('\n');
            for (name, definition) in pins {
                let head = format!("{} {} {}\n", written(upstream), written(name), definition.digest());
                out.push_str(&head);
                out.push_str(INDENT);
                escape(definition.as_str(), &mut out);
                out.push('\n');
            }
        }
        out
    }
}

fn parse_head(line: &str) -> Result<(String, String, Digest), String> {
    if line.starts_with(char::is_whitespace) {
        return Err("a definition without its line 'upstream tool sha256:…' above".to_owned());
    }
    if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].iter().any(|marker| line.starts_with(marker)) {
        return Err("a merge was left unfinished here: keep the pins you mean to accept".to_owned());
    }
    let expected = || format!("expected 'upstream tool sha256:…' and found '{}'", shown(line));
    let (upstream, rest) = parse_name(line).ok_or_else(expected)?;
    let (name, rest) = parse_name(rest).ok_or_else(expected)?;
    Ok((upstream, name, rest.parse()?))
}

/// A name and what follows the space behind it.
fn parse_name(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        let mut names = serde_json::Deserializer::from_str(text).into_iter::<String>();
        let name = names.next()?.ok()?;
        return Some((name, text.get(names.byte_offset()..)?.strip_prefix(' ')?));
    }
    let (name, rest) = text.split_once(' ')?;
    is_plain(name).then(|| (name.to_owned(), rest))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@".contains(c))
}

/// As it is where it is plain, else as a JSON string.
fn written(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let (mut quoted, mut out) = (String::new(), String::new());
    write_text(name, &mut quoted);
    escape(&quoted, &mut out);
    out
}

/// JSON text with what nobody sees written as `\uXXXX`: the same JSON, and a difference under version control shows it.
fn escape(json: &str, out: &mut String) {
    for c in json.chars() {
        if unseen(c).is_some() {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
}

/// The start of a line, for a message.
fn shown(line: &str) -> String {
    super::visible(&line.chars().take(60).collect::<String>())
}
