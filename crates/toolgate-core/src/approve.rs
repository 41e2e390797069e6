//! Who may say yes to a call that waits for one: a decision of the rulebook about the tool as it is now.

use std::sync::Arc;

use crate::{
    caller::Caller,
    decision::{Decision, Denial, Lang},
    gate::Gate,
    rulebook::AskedFacts,
    tool::{Kind, Tool},
};

impl Gate {
    /// Whether this caller may approve a call of what has this canonical name. An approval names no kind: where several
    /// go by one name, each must allow it; where none does any more, nobody may.
    pub fn decide_approve(&self, approver: &Caller, name: &str, asked: &AskedFacts<'_>, lang: Lang) -> Decision {
        let mut decided = None;
        for tool in self.called(name) {
            match self.decide_approve_of(approver, &tool, name, asked, lang) {
                Decision::Allow => decided = Some(Decision::Allow),
                denied => return denied,
            }
        }
        decided.unwrap_or_else(|| Decision::Deny(gone(name)))
    }

    fn called(&self, name: &str) -> Vec<Arc<Tool>> {
        let meant = Kind::ALL.iter().filter_map(|kind| self.catalog().meant(*kind, name));
        meant.filter_map(|meant| self.catalog().entry(meant.index)).map(|entry| Arc::clone(&entry.tool)).collect()
    }

    fn decide_approve_of(
        &self,
        approver: &Caller,
        tool: &Tool,
        name: &str,
        asked: &AskedFacts<'_>,
        lang: Lang,
    ) -> Decision {
        let rulebook = self.rulebook();
        let (Some(subject), Some(attributes)) = (rulebook.subject(approver), rulebook.attributes(tool, name)) else {
            return Decision::Deny(gone(name));
        };
        match self.decision(&rulebook.decide_approve(&subject, &attributes, asked), approver, tool, lang) {
            Decision::Deny(denial) if denial.code == "no_rule" => Decision::Deny(Denial {
                code: "not_an_approver".to_owned(),
                message: format!("No rule lets this caller approve {}.", tool.called()),
                ..denial
            }),
            decision => decision,
        }
    }
}

fn gone(name: &str) -> Denial {
    let code = "tool_gone".to_owned();
    let message = format!("'{name}' is not registered now, so that nobody can approve a call of it.");
    Denial { rule: code.clone(), code, message, remedy: None, source: None }
}
