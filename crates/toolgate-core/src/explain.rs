//! Why: every condition of a call with its outcome, for operators. The same verdict as the call's own.

use std::sync::Arc;

use serde::Serialize;

use crate::{
    caller::{Caller, Role, Tenant, UserId},
    decision::{Decision, Denial, Lang, Verdict},
    gate::Gate,
    tool::Tool,
    view::View,
};

/// What a caller gets for one tool, and which rules decided it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explanation {
    pub tool: String,
    pub outcome: Outcome,
    pub listed: Listed,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Denial>,
    /// What decided in the cascade: `global_disabled`, `plan_restriction`, `tenant_override` or `default`.
    pub source: String,
    /// A call would be answered as for an unknown tool.
    pub hidden: bool,
    pub conditions: Vec<Condition>,
}

/// The callers whose decisions say what a tenant's members have: a member, and the same user as the operator, whom no rule
/// about roles denies anything.
#[derive(Debug)]
pub struct TenantStanding {
    member: Caller,
    as_member: Arc<View>,
    as_operator: Arc<View>,
}

/// What the tenant cascade and the role make of a tool for a member: whatever else a caller lacks is left aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub enabled: bool,
    /// As in [`Explanation::source`].
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Allow,
    NeedsApproval,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    Yes,
    Marked,
    No,
}

/// One rule of the call, passed or failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    pub rule: String,
    pub order: i64,
    pub code: String,
    pub file: String,
    pub passed: bool,
    /// It is asked once the arguments are known.
    pub on_arguments: bool,
}

impl Gate {
    /// Explains a call of a registered tool; `None` for an unregistered one.
    pub fn explain(&self, view: &View, caller: &Caller, name: &str, dry_run: bool, lang: Lang) -> Option<Explanation> {
        let index = self.catalog().index(name)?;
        let tool = &self.catalog().entry(index)?.tool;
        let verdict = self.verdict(view, index, false, dry_run);
        let failed = failed(&verdict);
        let shown = view.shows(self, index);
        let (outcome, reason) = match self.decision(&verdict, caller, tool, lang) {
            Decision::Allow => (Outcome::Allow, None),
            Decision::NeedsApproval(denial) => (Outcome::NeedsApproval, Some(denial)),
            Decision::Deny(denial) => (Outcome::Deny, Some(denial)),
        };
        Some(Explanation {
            tool: tool.name.to_string(),
            outcome,
            listed: match (shown, verdict.is_callable()) {
                (true, true) => Listed::Yes,
                (true, false) => Listed::Marked,
                (false, _) => Listed::No,
            },
            reason,
            source: self.source(failed, caller, tool),
            hidden: self.hides(view, index, tool, &verdict),
            conditions: self
                .rulebook()
                .rules()
                .iter()
                .enumerate()
                .filter(|(_, rule)| !rule.about_lists && !rule.about_approvals)
                .map(|(at, rule)| Condition {
                    rule: rule.id.clone(),
                    order: rule.order,
                    code: rule.code.clone(),
                    file: rule.file.clone(),
                    passed: !failed.contains(&at),
                    on_arguments: rule.reads_arguments,
                })
                .collect(),
        })
    }

    /// Prepares the decisions about a tenant's tools. `None` where the gate can't decide for its members.
    pub fn tenant_standing(&self, tenant: &Tenant) -> Option<TenantStanding> {
        let user = UserId::own("member").ok();
        let caller = |role, operator| {
            let tenant = Some(Tenant { role, ..tenant.clone() });
            Caller { user: user.clone(), tenant, operator, ..Caller::default() }
        };
        let (member, operator) = (caller(Role::Member, false), caller(Role::Owner, true));
        Some(TenantStanding { as_member: self.view(&member)?, as_operator: self.view(&operator)?, member })
    }

    /// Whether a registered tool is on for a tenant's members; `None` for an unregistered one.
    pub fn standing(&self, of: &TenantStanding, name: &str) -> Option<Standing> {
        let index = self.catalog().index(name)?;
        let verdict = self.verdict(&of.as_member, index, false, false);
        let for_operator = self.verdict(&of.as_operator, index, false, false);
        let denied = failed(&verdict);
        let of_cascade = |index: &usize| self.rulebook().rule(*index).is_some_and(|rule| rule.source.is_some());
        let of_role = |index: &usize| !failed(&for_operator).contains(index);
        let source = self.source(denied, &of.member, &self.catalog().entry(index)?.tool);
        let undecided = matches!(verdict, Verdict::Deny { fault: Some(_), .. });
        let is_off = undecided || denied.iter().any(|index| of_cascade(index) || of_role(index));
        Some(Standing { enabled: !is_off, source })
    }

    /// The first of the cascade's conditions that decided.
    pub(crate) fn source(&self, failed: &[usize], caller: &Caller, tool: &Tool) -> String {
        let from_rule =
            failed.iter().filter_map(|index| self.rulebook().rule(*index)).find_map(|rule| rule.source.clone());
        from_rule.unwrap_or_else(|| {
            let switch = |tenant: &Tenant| tool.found_in(|name| tenant.overrides.get(name).copied());
            let switched = caller.tenant.as_ref().and_then(switch).is_some();
            if switched { "tenant_override" } else { "default" }.to_owned()
        })
    }
}

/// Every rule that failed, lowest order first.
fn failed(verdict: &Verdict) -> &[usize] {
    match verdict {
        Verdict::Allow => &[],
        Verdict::NeedsApproval(failed) | Verdict::Deny { failed, .. } => failed,
    }
}
