//! A difference as text for people, in no language: signs, places, values.

use super::{
    canonical::Json,
    diff::{Change, Diff},
    visible::{code_point, visible},
};

/// What stays of the text on either side of a change, in characters.
const CONTEXT: usize = 40;

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
        (Some(before), Some(after)) => format!("~ {path}\n    - {}\n    + {}\n", value(&before), value(&after)),
        (Some(before), None) => format!("- {path}\n    - {}\n", value(&before)),
        (None, Some(after)) => format!("+ {path}\n    + {}\n", value(&after)),
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
    let left_out = |count: usize| if count > CONTEXT { count - CONTEXT } else { 0 };
    let (front, back) = (left_out(head), left_out(tail));
    let kept: String = text.iter().take(text.len() - back).skip(front).collect();
    let same = |count: usize| if count == 0 { String::new() } else { format!("⟨{count} same⟩") };
    format!("\"{}{}{}\"", same(front), quoted(&kept), same(back))
}

fn quoted(text: &str) -> String {
    visible(text).replace('"', "\\\"")
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
