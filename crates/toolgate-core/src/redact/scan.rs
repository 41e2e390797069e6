//! The pass over the text: copies what is harmless, writes a placeholder where a secret was.

use super::{
    Redactor,
    approver_names::approver_name_kind,
    is_placeholder,
    names::{NameKind, name_kind},
    pairs::{EarlyValue, Label, Pair, Role, can_name_second, is_second},
    pointer::Way,
    reader::compact,
    secret::Secret,
    userinfo,
};

/// As deep as the JSON reader of the rest of the gate goes. What lies deeper is redacted whole.
const DEEPEST: usize = 128;
/// JSON within strings is looked into this often: results repeat their JSON as text, and that text may do so again.
const NESTED: usize = 3;

pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// What comes before is in the output already. Harmless text is copied from here in one piece, when it must be.
    pub(super) copied: usize,
    /// The end of the last name or value that was read whole.
    done: usize,
    redactor: &'a Redactor,
    nested: usize,
}

/// What is known of a value from what stands around it.
#[derive(Clone, Copy)]
struct Around {
    secret: Secret,
    depth: usize,
    /// It is an item of a list.
    is_listed: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, redactor: &'a Redactor) -> Self {
        Self { text, at: 0, copied: 0, done: 0, redactor, nested: 0 }
    }

    /// The whole text as one value; `None` if it is not JSON.
    pub(super) fn document(mut self, out: &mut String) -> Option<()> {
        let way = Way::root(&self.redactor.pointers);
        self.all(&way, out)
    }

    /// The beginning of a text that may end anywhere: what is whole in it, and no part of anything else.
    pub(super) fn beginning(mut self, out: &mut String) {
        let way = Way::root(&self.redactor.pointers);
        if self.all(&way, out).is_none() && self.copied < self.done {
            self.copy(self.done, out);
        }
    }

    fn all(&mut self, way: &Way<'_>, out: &mut String) -> Option<()> {
        self.value(way, Around { secret: Secret::NO, depth: 0, is_listed: false }, out)?;
        self.space(out);
        self.copy(self.at, out);
        (self.at == self.text.len()).then_some(())
    }

    fn value(&mut self, way: &Way<'_>, around: Around, out: &mut String) -> Option<()> {
        self.space(out);
        let secret = if way.is_secret() { Secret::ByFact } else { around.secret };
        let (start, for_approver) = (self.at, self.redactor.is_for_approver());
        let inner = Around { secret: secret.below(for_approver), depth: around.depth + 1, is_listed: around.is_listed };
        match self.peek()? {
            b'{' | b'[' if secret.covers_nest(for_approver) || around.depth >= DEEPEST => {
                self.skip_nest()?;
                self.placeholder(start, out);
            }
            b'{' => self.object(way, inner, out)?,
            b'[' => self.array(way, inner, out)?,
            b'"' => {
                let text = self.string()?;
                self.text_value(start, &text, secret, out);
            }
            first => {
                self.word()?;
                let number = first == b'-' || first.is_ascii_digit();
                if secret == Secret::ByFact || (number && secret.covers_number()) {
                    self.placeholder(start, out);
                }
            }
        }
        self.done = self.at;
        Some(())
    }

    fn object(&mut self, way: &Way<'_>, inner: Around, out: &mut String) -> Option<()> {
        let mut pair = Pair::default();
        let read = self.members(way, Around { is_listed: false, ..inner }, &mut pair, out);
        if read.is_none() {
            // its name may be in the part that can't be read
            self.hide(&mut pair, Label::Word, out);
        }
        read
    }

    fn members(&mut self, way: &Way<'_>, inner: Around, pair: &mut Pair, out: &mut String) -> Option<()> {
        self.take(b'{')?;
        self.space(out);
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.space(out);
            let start = self.at;
            let name = self.string()?;
            // A name may be a secret itself: a table of sessions by their tokens.
            self.text_value(start, &name, Secret::NO, out);
            self.space(out);
            self.take(b':')?;
            let kind = self.kind_of(&name);
            let way = way.down(|step| step == name);
            let own = Around { secret: inner.secret.or(self.named(kind)), ..inner };
            match Role::of(&name) {
                role @ (Role::Value | Role::Content) if pair.label.is_some_and(|label| label.names(role)) => {
                    let labelled = self.worded(NameKind::Typed).labelled(role);
                    let secret = if kind.is_certain() { self.named(kind) } else { labelled };
                    self.value(&way, Around { secret, ..inner }, out)?;
                }
                role @ (Role::Value | Role::Content) => {
                    self.space(out);
                    self.copy(self.at, out);
                    let (from, source) = (out.len(), self.at);
                    let read = self.value(&way, own, out);
                    // of a value that ends with the text, the part that was read is one too
                    let end = if read.is_some() { self.at } else { self.done.max(self.copied) };
                    self.copy(end, out);
                    pair.values.push(EarlyValue { role, written: from..out.len(), source: source..end });
                    read?;
                }
                Role::Name => {
                    self.space(out);
                    let start = self.at;
                    let label = self.string().and_then(|label| Label::of(&label));
                    self.at = start;
                    self.value(&way, own, out)?;
                    if let Some(label) = label {
                        self.copy(self.at, out);
                        self.hide(pair, label, out);
                        pair.label = Some(label);
                    }
                }
                Role::Other => self.value(&way, own, out)?,
            }
            self.space(out);
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    fn kind_of(&self, name: &str) -> NameKind {
        if self.redactor.is_for_approver() { approver_name_kind(name) } else { name_kind(name) }
    }

    /// The secret that a member's name makes of its value. Within text the caller chose the name.
    fn named(&self, kind: NameKind) -> Secret {
        if self.nested == 0 { Secret::ByName(kind) } else { self.worded(kind) }
    }

    /// The secret that another value makes of this one: a name beside it, an option before it.
    fn worded(&self, kind: NameKind) -> Secret {
        if self.redactor.is_for_approver() { Secret::InCallersWords(kind) } else { Secret::ByName(kind) }
    }

    /// Takes the values of a pair out again, now that its name is known. What follows the first of them is written once more,
    /// however many there are.
    fn hide(&self, pair: &mut Pair, label: Label, out: &mut String) {
        let Some(first) = pair.values.first().map(|value| value.written.start) else { return };
        let written_before = out.split_off(first.min(out.len()));
        let part = |from: usize, to: usize| written_before.get(from - first..to - first).unwrap_or_default();
        let mut end = first;
        for EarlyValue { role, written, source } in pair.values.drain(..) {
            out.push_str(part(end, written.start));
            end = written.end;
            let (kept, value) = (part(written.start, end), self.text.get(source).unwrap_or_default());
            let text = serde_json::from_str::<String>(value);
            let secret = self.worded(NameKind::Typed).labelled(role);
            let stays = match &text {
                _ if !label.names(role) => true,
                _ if matches!(value, "true" | "false" | "null") || is_placeholder(kept.trim_matches('"')) => true,
                Ok(text) => !secret.covers_text(text),
                Err(_) => value.starts_with(['{', '[']) && !secret.covers_nest(self.redactor.is_for_approver()),
            };
            if stays {
                out.push_str(kept);
                continue;
            }
            out.push('"');
            self.redactor.placeholder(text.as_deref().unwrap_or(value), out);
            out.push('"');
        }
        out.push_str(part(end, first + written_before.len()));
    }

    fn array(&mut self, way: &Way<'_>, inner: Around, out: &mut String) -> Option<()> {
        self.take(b'[')?;
        self.space(out);
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        let mut index = 0_usize;
        let mut secret = Secret::NO;
        loop {
            let way = way.down(|step| step.parse() == Ok(index));
            self.space(out);
            let next = self.said_of_next(index == 0, inner.is_listed);
            self.value(&way, Around { secret: inner.secret.or(secret), is_listed: true, ..inner }, out)?;
            secret = next;
            index += 1;
            self.space(out);
            match self.next()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// What an item of a list says of the next one: `"--password"` stands before a password, and of a list of two the first
    /// may be the name of the second.
    fn said_of_next(&mut self, is_first: bool, is_listed: bool) -> Secret {
        let start = self.at;
        let is_option = self.text.as_bytes().get(start..).is_some_and(|rest| rest.starts_with(b"\"-"));
        let is_name = is_first && self.peek() == Some(b'"');
        if !is_option && !is_name {
            return Secret::NO;
        }
        let secret = match self.string() {
            Some(item) if is_option && userinfo::is_option(&item) => Secret::UserInfo,
            Some(item) if is_option => self.worded(self.kind_of(item.trim_start_matches('-'))),
            Some(item) if can_name_second(&item) => match self.second_of_two() {
                Some(value) if is_second(&value, is_listed) => self.worded(NameKind::Secret),
                _ => Secret::NO,
            },
            _ => Secret::NO,
        };
        self.at = start;
        secret
    }

    /// A string that has just been read, quotes included, stays as it stands or loses what is secret in it.
    fn text_value(&mut self, start: usize, text: &str, secret: Secret, out: &mut String) {
        if secret.covers_text(text) {
            self.copy(start, out);
            out.push('"');
            self.redactor.placeholder(text, out);
            out.push('"');
        } else if let Some(password) = userinfo::password(text).filter(|_| secret == Secret::UserInfo) {
            let mut clean = text.get(..password.start).unwrap_or_default().to_owned();
            self.redactor.placeholder(text.get(password.clone()).unwrap_or_default(), &mut clean);
            clean.push_str(text.get(password.end..).unwrap_or_default());
            self.copy(start, out);
            out.push_str(&serde_json::Value::from(clean).to_string());
        } else if let Some(clean) = self.without_nested(text).or_else(|| self.redactor.replaced(text)) {
            self.copy(start, out);
            out.push_str(&serde_json::Value::from(clean).to_string());
        } else {
            self.done = self.at;
            return;
        }
        (self.copied, self.done) = (self.at, self.at);
    }

    /// Puts what is harmless up to here into the output.
    pub(super) fn copy(&mut self, end: usize, out: &mut String) {
        out.push_str(self.text.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }

    /// JSON in a string is redacted as JSON, facts aside; `None` where it is none or holds no secret.
    fn without_nested(&self, text: &str) -> Option<String> {
        if !matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
            return None;
        }
        if self.nested >= NESTED {
            if self.redactor.is_for_approver() {
                return None;
            }
            let mut out = String::new();
            self.redactor.placeholder(text, &mut out);
            return Some(out);
        }
        let mut inner = Scan { nested: self.nested + 1, ..Scan::new(text, self.redactor) };
        let mut out = String::with_capacity(text.len());
        inner.all(&Way::default(), &mut out)?;
        (out != compact(text)).then_some(out)
    }

    /// Instead of everything since `start`.
    fn placeholder(&mut self, start: usize, out: &mut String) {
        self.copy(start, out);
        out.push('"');
        self.redactor.placeholder(self.text.get(start..self.at).unwrap_or_default(), out);
        out.push('"');
        self.copied = self.at;
    }
}
