//! Several credentials on one request: which count, and what they say together.

use std::collections::BTreeSet;

use toolgate_core::{
    Caller,
    caller::{Flow, Runtime},
};
use toolgate_mcp::Rejection;

use super::standing::{Kind, Standing};

/// The scope that lets a credential answer approvals.
const APPROVE: &str = "approve";

/// What became of one credential.
pub(super) enum Outcome {
    Holds(Box<Standing>),
    /// Sound, but what it stood for is over (a finished task): it says nothing, and is no fault.
    Void(Kind),
    Invalid(Kind, Rejection),
}

/// Credentials in the order of their places, settled one by one.
#[derive(Default)]
pub(super) struct Combination {
    standing: Option<Standing>,
    seen: Vec<Kind>,
    /// Some credential named a task that is not known or has ended.
    names_unknown_task: bool,
}

/// The first credential of a kind was invalid: nothing else on the request counts.
pub(super) struct Anonymous(pub(super) Rejection);

impl Combination {
    pub(super) fn add(&mut self, outcome: Outcome) -> Result<(), Anonymous> {
        match outcome {
            Outcome::Invalid(kind, rejection) if !self.seen.contains(&kind) => return Err(Anonymous(rejection)),
            Outcome::Invalid(..) => {}
            Outcome::Void(kind) => {
                self.names_unknown_task = true;
                self.seen.push(kind);
            }
            Outcome::Holds(standing) => self.hold(*standing),
        }
        Ok(())
    }

    fn hold(&mut self, later: Standing) {
        let kind = later.kind();
        if self.seen.contains(&kind) {
            return;
        }
        self.seen.push(kind);
        self.standing = Some(match self.standing.take() {
            None => later,
            Some(first) if agree(&first, &later) => merge(first, later),
            Some(first) => first,
        });
        // An agent's token that names a task has taken the task's place too.
        if self.standing.as_ref().is_some_and(|standing| standing.caller.task.is_some()) {
            self.seen.push(Kind::Task);
        }
    }

    /// What holds, and whether some credential named a task that is not known or has ended.
    pub(super) fn into_standing(self) -> (Option<Standing>, bool) {
        (self.standing, self.names_unknown_task)
    }
}

/// INVARIANT: a caller that speaks as an agent or a task never carries the right to approve, whoever's token came along.
pub(super) fn finish(mut caller: Caller, browser: bool) -> Caller {
    if caller.agent.is_some() || caller.task.is_some() {
        caller.scopes.remove(APPROVE);
    }
    if browser {
        caller.runtime = Runtime::Client;
    }
    caller
}

/// Two credentials speak together only for one owner, and where neither contradicts the other.
fn agree(first: &Standing, later: &Standing) -> bool {
    fn same<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
        a.is_none() || b.is_none() || a == b
    }
    let (a, b) = (&first.caller, &later.caller);
    first.owner.is_some()
        && first.owner == later.owner
        && same(a.tenant.as_ref().map(|tenant| &tenant.id), b.tenant.as_ref().map(|tenant| &tenant.id))
        && same(a.task.as_ref().map(|task| &task.id), b.task.as_ref().map(|task| &task.id))
        && same(a.flow.as_ref().map(|flow| &flow.id), b.flow.as_ref().map(|flow| &flow.id))
}

fn merge(first: Standing, later: Standing) -> Standing {
    let (a, b) = (first.caller, later.caller);
    let caller = Caller {
        user: a.user.or(b.user),
        tenant: a.tenant.or(b.tenant),
        agent: a.agent.or(b.agent),
        task: a.task.or(b.task),
        flow: narrower(a.flow, b.flow),
        runtime: if a.runtime == Runtime::Client { a.runtime } else { b.runtime },
        scopes: a.scopes.into_iter().chain(b.scopes).collect(),
        operator: a.operator || b.operator,
        unknown_task: a.unknown_task || b.unknown_task,
        session: a.session.or(b.session),
    };
    Standing { caller, ..first }
}

/// A flow can't be dropped or widened by showing another credential beside it.
fn narrower(a: Option<Flow>, b: Option<Flow>) -> Option<Flow> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let allowlist: Option<BTreeSet<String>> = match (a.allowlist, b.allowlist) {
                (Some(a), Some(b)) => Some(a.intersection(&b).cloned().collect()),
                (one, other) => one.or(other),
            };
            Some(Flow { id: a.id, allowlist })
        }
        (one, other) => one.or(other),
    }
}
