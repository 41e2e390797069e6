//! A review as text: new tools on one line each, changed ones with their difference.

use serde_json::{Value, json};
use toolgate_core::{
    line_escape,
    pin::{self, Judged, State, visible},
};
use toolgate_upstream::Definition;

use super::{
    claim::{Claim, ToolLine, has_hidden_warnings, tool_lines},
    survey::ServerReview,
};

impl ServerReview {
    pub fn state(&self) -> &'static str {
        match (self.is_enabled, &self.fault) {
            (false, _) => "disabled",
            (true, Some(_)) => "no answer",
            (true, None) => "answers",
        }
    }

    /// The tools by state, or the reason why they are not known.
    pub fn summary(&self) -> String {
        if let Some(fault) = &self.fault {
            return fault.clone();
        }
        let count = |wanted: fn(&State) -> bool| self.judged.iter().filter(|judged| wanted(&judged.state)).count();
        let accepted = count(|state| *state == State::Accepted);
        let waiting = count(|state| matches!(state, State::New | State::Changed { .. }));
        let mut parts = vec![format!("{accepted} accepted")];
        let counts = [
            ("waiting", waiting),
            ("left out for their names", self.clashes.len()),
            ("gone", count(|state| *state == State::Gone)),
            ("unusable", count(|state| matches!(state, State::Unusable { .. }))),
        ];
        parts.extend(counts.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}")));
        let hint = if waiting > 0 { format!("  (toolgate upstream accept {})", self.name) } else { String::new() };
        let is_empty = self.judged.is_empty();
        if !self.is_enabled {
            String::new()
        } else if is_empty {
            "no tools".to_owned()
        } else {
            parts.join(", ") + &hint
        }
    }

    /// All that waits.
    pub fn text(&self, full: bool, width: usize) -> String {
        self.text_of(&self.waiting().collect::<Vec<_>>(), full, width)
    }

    /// Some of what waits.
    pub fn text_of(&self, judged: &[&Judged], full: bool, width: usize) -> String {
        if let Some(fault) = &self.fault {
            return format!("{} does not answer: it {}\n", self.name, line_escape(fault));
        }
        let is_line = |judged: &Judged| !full && judged.state == State::New;
        let lines: Vec<ToolLine> = judged
            .iter()
            .filter(|judged| is_line(judged))
            .filter_map(|judged| self.definition(&judged.name))
            .map(|definition| ToolLine::of(definition, self.looks(&definition.name)))
            .collect();
        let mut text = String::new();
        if !lines.is_empty() {
            text.push_str(&format!("{}: {} new\n{}", self.name, lines.len(), tool_lines(&lines, width)));
        }
        if has_hidden_warnings(&lines) {
            text.push_str(&format!("   ! warnings: toolgate upstream diff {} --full\n", self.name));
        }
        text.extend(judged.iter().filter(|judged| !is_line(judged)).map(|judged| self.difference(judged)));
        text
    }

    fn difference(&self, judged: &Judged) -> String {
        let mut text = format!("{} {}: {}\n", self.name, visible(&judged.name), word(&judged.state));
        let now = self.definition(&judged.name);
        let before = match &judged.state {
            State::Changed { before } => Some(before.as_str()),
            State::New => Some("{}"),
            _ => None,
        };
        if let Some((before, now)) = before.zip(now)
            && let Ok(difference) = pin::diff(before, now.raw.get())
        {
            text.push_str(&indented(&difference.render()));
        }
        if let State::Unusable { reason } = &judged.state {
            text.push_str(&indented(reason));
        }
        for warning in now.map(|now| self.warnings(now)).unwrap_or_default() {
            text.push_str(&format!("    look: {warning}\n"));
        }
        // an attribute may rest on the former claim
        if let (State::Changed { before }, Some(now)) = (&judged.state, now)
            && Claim::of_json(before) == Claim::Reads
            && Claim::of(now) != Claim::Reads
        {
            text.push_str(
                "    look: claim: the server no longer says that the tool reads; check its effect in [tools]\n",
            );
        }
        text
    }

    /// What the names and the configuration make of a tool, if that is worth a look.
    fn looks(&self, tool: &str) -> Vec<String> {
        self.clashes.get(tool).into_iter().chain(self.covered.get(tool)).cloned().collect()
    }

    /// The places that a person should look at twice before accepting.
    fn warnings(&self, now: &Definition) -> Vec<String> {
        let warned = pin::warnings(now.raw.get()).into_iter();
        let warned =
            warned.map(|warning| format!("{} at {}: {}", warning.kind, visible(&warning.path), warning.excerpt));
        warned.chain(self.looks(&now.name)).collect()
    }

    pub fn json(&self) -> Value {
        let tool = |judged: &Judged| {
            let now = self.definition(&judged.name);
            let warnings = now.map(|now| self.warnings(now)).unwrap_or_default();
            let claim = now.map(|now| Claim::of(now).as_str());
            json!({"name": judged.name, "state": word(&judged.state), "claims": claim, "warnings": warnings})
        };
        let tools: Vec<Value> = self.judged.iter().map(tool).collect();
        json!({"upstream": self.name, "state": self.state(), "fault": self.fault, "tools": tools})
    }
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
