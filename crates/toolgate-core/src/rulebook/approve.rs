//! Who may approve: asked of Cedar like a call, and of the same rulebook. Nobody may whom no permit names.

use cedar_policy::{Context, RestrictedExpression};

use super::{
    CallFacts, Rulebook, Subject, ToolAttributes,
    evaluate::{Among, denied, text},
};
use crate::decision::{Fault, Verdict};

/// What waits for a yes, as far as rules read it.
#[derive(Debug, Clone, Copy)]
pub struct AskedFacts<'a> {
    /// The principal that asked.
    pub asker: &'a str,
    pub tenant: Option<&'a str>,
    pub flow: Option<&'a str>,
    /// Whoever wants to approve asked for it, or is the person who did through an agent or a task.
    pub owner: bool,
    pub four_eyes: bool,
    pub wide: bool,
    /// The person at the asker's own client is asked.
    pub at_client: bool,
}

impl Rulebook {
    /// Never `NeedsApproval`: nobody approves of an approval.
    pub fn decide_approve(&self, approver: &Subject, tool: &ToolAttributes, asked: &AskedFacts<'_>) -> Verdict {
        let Some(context) = context(asked) else { return denied(Fault::Evaluation) };
        let plain = CallFacts { allowlisted: true, switched: None, approved: false, dry_run: false };
        let verdict = self
            .ask(approver, tool, "approve", context, Among::Everything)
            .map(|response| self.verdict(&response, plain));
        match verdict {
            Some(Verdict::NeedsApproval(failed)) => Verdict::Deny { failed, concealed: true, fault: None },
            verdict => verdict.unwrap_or(denied(Fault::Evaluation)),
        }
    }
}

fn context(asked: &AskedFacts<'_>) -> Option<Context> {
    let flags =
        [("owner", asked.owner), ("four_eyes", asked.four_eyes), ("wide", asked.wide), ("at_client", asked.at_client)];
    let flags = flags.map(|(name, value)| (name, RestrictedExpression::new_bool(value)));
    let texts = [("asker", Some(asked.asker)), ("tenant", asked.tenant), ("flow", asked.flow)];
    let texts = texts.into_iter().filter_map(|(name, value)| value.map(|value| (name, text(value))));
    Context::from_pairs(flags.into_iter().chain(texts).map(|(name, value)| (name.to_owned(), value))).ok()
}
