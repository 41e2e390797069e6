//! A difference as text for people, in no language: signs, places, values.

use super::{
    canonical::Json,
    diff::{Change, Diff},
    visible::{code_point, visible},
};

/// What stays of the text on either side of a change, in characters.
const CONTEXT: usize = 40;

/// A value longer than this is laid out over several lines.
const WIDE: usize = 100;

impl Diff {
    /// `+`, `-` or `~` and the place, then the old and the new value. Nothing new is ever left out; of a long text, what
    /// both have in common is.
    pub fn render(&self) -> String {
        self.changes.iter().map(render).collect()
    }
}

fn render(change: &Change) -> String {
    let path = visible(&change.path);
    let read =
        |json: &Option<String>| json.as_ref().map(|json| Json::read(json).unwrap_or_else(|_| Json::Text(json.clone())));
    match (read(&change.before), read(&change.after)) {
        (Some(Json::Text(before)), Some(Json::Text(after))) => render_texts(&path, &before, &after),
        (Some(before), Some(after)) => format!("~ {path}\n{}{}", lines('-', &before), lines('+', &after)),
        (Some(before), None) => format!("- {path}\n{}", lines('-', &before)),
        (None, Some(after)) => format!("+ {path}\n{}", lines('+', &after)),
        (None, None) => String::new(),
    }
}

fn render_texts(path: &str, before: &str, after: &str) -> String {
    let (old, new): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let same = |(one, other): &(&char, &char)| one == other;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (old.iter().skip(head).rev(), new.iter().skip(head).rev());
    let tail = old_rest.zip(new_rest).take_while(same).count();
    let mut out = format!("~ {path}\n    - {}\n    + {}\n", cut(&old, head, tail), cut(&new, head, tail));
    // Two letters may look alike that no table knows.
    if let (Some(was), Some(is)) = (old.get(head), new.get(head))
        && !(was.is_ascii() && is.is_ascii())
    {
        out.push_str(&format!("    {} → {}\n", code_point(*was), code_point(*is)));
    }
    out
}

/// The text, quoted, without most of the `head` and `tail` characters that did not change.
fn cut(text: &[char], head: usize, tail: usize) -> String {
    let (front, back) = (head.saturating_sub(CONTEXT), tail.saturating_sub(CONTEXT));
    let kept: String = text.iter().take(text.len() - back).skip(front).collect();
    let same = |count: usize| if count == 0 { String::new() } else { format!("⟨{count} same⟩") };
    format!("\"{}{}{}\"", same(front), quoted(&kept), same(back))
}

fn quoted(text: &str) -> String {
    visible(text).replace('"', "\\\"")
}

/// The value on one line, or on a line for each of its parts where that would be long.
fn lines(sign: char, json: &Json) -> String {
    let mut laid_out = Vec::new();
    lay_out("", json, "", 0, &mut laid_out);
    laid_out.iter().map(|line| format!("    {sign} {line}\n")).collect()
}

fn lay_out(before: &str, json: &Json, after: &str, depth: usize, out: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let line = format!("{indent}{before}{}{after}", value(json));
    let comma = |at: usize, count: usize| if at + 1 == count { "" } else { "," };
    let wide = line.chars().nth(WIDE).is_some();
    match json {
        Json::Object(members) if wide => {
            out.push(format!("{indent}{before}{{"));
            for (at, (key, inner)) in members.iter().enumerate() {
                let key = format!("\"{}\": ", quoted(key));
                lay_out(&key, inner, comma(at, members.len()), depth + 1, out);
            }
            out.push(format!("{indent}}}{after}"));
        }
        Json::List(items) if wide => {
            out.push(format!("{indent}{before}["));
            for (at, item) in items.iter().enumerate() {
                lay_out("", item, comma(at, items.len()), depth + 1, out);
            }
            out.push(format!("{indent}]{after}"));
        }
        _ => out.push(line),
    }
}

fn value(json: &Json) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match json {
        Json::Word(word) => word.clone(),
        Json::Text(text) => format!("\"{}\"", quoted(text)),
        Json::List(items) => format!("[{}]", list(items.iter().map(value).collect())),
        Json::Object(members) => {
            let member = |(key, inner): &(String, Json)| format!("\"{}\": {}", quoted(key), value(inner));
            format!("{{{}}}", list(members.iter().map(member).collect()))
        }
    }
}
