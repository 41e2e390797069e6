//! Asking Cedar. Slow on purpose nowhere, but called only where no remembered verdict answers.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
};

use cedar_policy::{
    Authorizer, Context, Decision as CedarDecision, Entity, EntityUid, Policy, PolicyId, PolicySet, Request, Response,
    RestrictedExpression,
};
use serde_json::value::RawValue;

use super::{APPROVE_PERMIT, Rulebook};
use crate::{
    caller::Caller,
    decision::{Fault, Verdict},
    tool::{Binding, Tool},
};

/// Facts of one call that no class of callers or tools shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallFacts {
    pub allowlisted: bool,
    /// The tenant's switch for this tool.
    pub switched: Option<bool>,
    pub approved: bool,
    pub dry_run: bool,
}

/// A caller in Cedar's terms.
#[derive(Debug, Clone)]
pub struct Subject(Entity);

/// A tool, or a class of tools with equal facts, in Cedar's terms.
#[derive(Debug, Clone)]
pub struct ToolAttributes(Entity);

type Attributes = HashMap<String, RestrictedExpression>;

impl Rulebook {
    pub fn subject(&self, caller: &Caller) -> Option<Subject> {
        let mut attributes = Attributes::new();
        if let Some(user) = &caller.user {
            attributes.insert("user".into(), text(user.as_str()));
        }
        if let Some(tenant) = &caller.tenant {
            let plan = whole(self.plan_rank(tenant.plan.as_deref()));
            attributes.insert(
                "tenant".into(),
                record([("id", text(&tenant.id)), ("role", text(tenant.role.as_str())), ("plan", plan)])?,
            );
        }
        if let Some(agent) = &caller.agent {
            let mut fields = vec![("id", text(&agent.id)), ("kind", text(agent.kind.as_str()))];
            fields.extend(agent.project.as_deref().map(|project| ("project", text(project))));
            fields.extend(agent.purpose.map(|purpose| ("purpose", text(purpose.as_str()))));
            attributes.insert("agent".into(), record(fields)?);
        }
        if let Some(task) = &caller.task {
            let mut fields =
                vec![("id", text(&task.id)), ("orchestrator", RestrictedExpression::new_bool(task.orchestrator))];
            fields.extend(task.process.as_deref().map(|process| ("process", text(process))));
            attributes.insert("task".into(), record(fields)?);
        }
        if let Some(flow) = &caller.flow {
            attributes.insert("flow".into(), record([("id", text(&flow.id))])?);
        }
        attributes.insert("runtime".into(), text(caller.runtime.as_str()));
        attributes.insert("scopes".into(), set(caller.scopes.iter().map(String::as_str)));
        attributes.insert("operator".into(), RestrictedExpression::new_bool(caller.operator));
        attributes.insert("unknown_task".into(), RestrictedExpression::new_bool(caller.unknown_task));
        let known = Binding::ALL.iter().filter(|binding| binding.value(caller).is_some());
        attributes.insert("known".into(), set(known.map(|binding| binding.as_str())));
        Entity::new(uid("Caller", "caller")?, attributes, HashSet::new()).ok().map(Subject)
    }

    /// `name` is empty for a class whose tools no rule tells apart.
    pub fn attributes(&self, tool: &Tool, name: &str) -> Option<ToolAttributes> {
        let facts = &tool.facts;
        let flag = RestrictedExpression::new_bool;
        let mut attributes = Attributes::from_iter([
            ("name".into(), text(name)),
            ("source".into(), text(&tool.source)),
            ("permission".into(), text(facts.permission.as_str())),
            ("scope".into(), text(facts.scope.as_str())),
            ("advertised".into(), flag(facts.advertised)),
            ("effect".into(), text(facts.effect.as_str())),
            ("approval".into(), text(facts.approval.as_str())),
            ("runtimes".into(), set(facts.runtimes.iter().map(|runtime| runtime.as_str()))),
            ("min_plan".into(), whole(self.plan_rank(facts.min_plan.as_deref()))),
            ("enabled_by_default".into(), flag(facts.enabled_by_default)),
            ("disabled".into(), flag(facts.disabled)),
            ("oauth_scopes".into(), set(facts.oauth_scopes.iter().map(String::as_str))),
            ("requires_flow".into(), flag(facts.requires_flow)),
            ("binds".into(), set(facts.bind.values().map(|binding| binding.as_str()))),
        ]);
        if let Some(group) = &facts.group {
            attributes.insert("group".into(), text(group));
        }
        Entity::new(uid(tool.kind.entity(), name)?, attributes, HashSet::new()).ok().map(ToolAttributes)
    }

    /// The call conditions, without those over arguments.
    pub fn decide_call(&self, subject: &Subject, tool: &ToolAttributes, facts: CallFacts) -> Verdict {
        let Some(context) = context(facts, None) else {
            return denied(Fault::Evaluation);
        };
        self.ask(subject, tool, "call", context, Among::Calls)
            .map_or(denied(Fault::Evaluation), |response| self.verdict(&response, facts))
    }

    /// The conditions over arguments of a tool that has any. The others were asked before, with the same facts.
    pub fn decide_arguments(
        &self,
        subject: &Subject,
        tool: (&str, &ToolAttributes),
        facts: CallFacts,
        arguments: Option<&RawValue>,
    ) -> Verdict {
        let (name, attributes) = tool;
        let Some(types) = self.arguments.get(name) else {
            return Verdict::Allow;
        };
        let Some(values) = types.to_cedar(arguments) else {
            return denied(Fault::Argument);
        };
        let Some(context) = context(facts, Some(values)) else {
            return denied(Fault::Evaluation);
        };
        let action = format!("call:{name}");
        self.ask(subject, attributes, &action, context, Among::Arguments)
            .map_or(denied(Fault::Evaluation), |response| self.verdict(&response, facts))
    }

    /// Whether the tool is on the caller's list, given what a call would get.
    pub fn decide_list(&self, subject: &Subject, tool: &ToolAttributes, call: &Verdict) -> bool {
        let fields = [
            ("callable".to_owned(), RestrictedExpression::new_bool(call.is_callable())),
            ("concealed".to_owned(), RestrictedExpression::new_bool(call.is_concealed())),
        ];
        let Ok(context) = Context::from_pairs(fields) else {
            return false;
        };
        self.ask(subject, tool, "list", context, Among::Calls).is_some_and(|response| {
            response.decision() == CedarDecision::Allow && response.diagnostics().errors().next().is_none()
        })
    }

    pub(super) fn ask(
        &self,
        subject: &Subject,
        tool: &ToolAttributes,
        action: &str,
        context: Context,
        among: Among,
    ) -> Option<Response> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let request = Request::new(subject.0.uid(), uid("Action", action)?, tool.0.uid(), context, None).ok()?;
        // with the schema's action entities: `action in Action::"call"` would fail open without them
        let entities =
            self.schema.action_entities().ok()?.add_entities([subject.0.clone(), tool.0.clone()], None).ok()?;
        with_policies(self, among, |policies| Authorizer::new().is_authorized(&request, policies, &entities))
    }

    pub(super) fn verdict(&self, response: &Response, facts: CallFacts) -> Verdict {
        if response.diagnostics().errors().next().is_some() {
            return denied(Fault::Evaluation);
        }
        if response.decision() == CedarDecision::Allow {
            return Verdict::Allow;
        }
        let mut failed: Vec<usize> =
            response.diagnostics().reason().filter_map(|id| id.to_string().parse().ok()).collect();
        failed.sort_unstable();
        let permits = self.policies.iter().any(|(id, _)| id.starts_with("permit"));
        if failed.is_empty() || !permits {
            return denied(Fault::NoRule);
        }
        let asks = |index: &usize| self.rule(*index).is_some_and(|rule| rule.needs_approval);
        // what refuses comes before what only asks, so that the first is the reason
        let (blocking, asking): (Vec<usize>, Vec<usize>) = failed.iter().partition(|index| !asks(index));
        let lifted = facts.approved || facts.dry_run;
        if blocking.is_empty() {
            return if lifted { Verdict::Allow } else { Verdict::NeedsApproval(failed.into()) };
        }
        let concealed = blocking.iter().any(|index| self.rule(*index).is_some_and(|rule| rule.hides));
        Verdict::Deny {
            failed: blocking.into_iter().chain(asking.into_iter().filter(|_| !lifted)).collect(),
            concealed,
            fault: None,
        }
    }
}

/// Conceals: without an evaluation nobody knows whether a condition that hides is among those that failed.
pub(super) fn denied(fault: Fault) -> Verdict {
    Verdict::Deny { failed: Arc::from([]), concealed: true, fault: Some(fault) }
}

fn context(facts: CallFacts, arguments: Option<RestrictedExpression>) -> Option<Context> {
    let mut fields = vec![("allowlisted".to_owned(), RestrictedExpression::new_bool(facts.allowlisted))];
    fields.extend(facts.switched.map(|on| ("override".to_owned(), RestrictedExpression::new_bool(on))));
    fields.extend(arguments.map(|arguments| ("arguments".to_owned(), arguments)));
    Context::from_pairs(fields).ok()
}

fn uid(kind: &str, id: &str) -> Option<EntityUid> {
    Some(EntityUid::from_type_name_and_id(kind.parse().ok()?, cedar_policy::EntityId::new(id)))
}

pub(super) fn text(value: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(value.to_owned())
}

fn whole(value: usize) -> RestrictedExpression {
    RestrictedExpression::new_long(i64::try_from(value).unwrap_or(i64::MAX))
}

fn set<'a>(values: impl Iterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(values.map(text))
}

fn record<'a>(fields: impl IntoIterator<Item = (&'a str, RestrictedExpression)>) -> Option<RestrictedExpression> {
    RestrictedExpression::new_record(fields.into_iter().map(|(name, value)| (name.to_owned(), value))).ok()
}

/// Which policies have a say in a question; leaving out those that have none makes it cheaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// All but those about approving alone.
    Calls,
    /// Those over arguments, and the permit.
    Arguments,
    Everything,
}

/// A thread's own parsed policies. Sharing one set between threads does not scale: evaluation counts references in it.
struct Parsed {
    rulebook: u64,
    over_calls: PolicySet,
    over_arguments: PolicySet,
    /// Parsed when first asked for: few threads ever are.
    everything: OnceCell<Option<PolicySet>>,
}

/// Rulebooks a thread keeps: the one in use and, around a reload, the one before.
const KEPT: usize = 2;

thread_local! {
    static PARSED: RefCell<Vec<Parsed>> = const { RefCell::new(Vec::new()) };
}

fn with_policies<T>(rulebook: &Rulebook, among: Among, ask: impl FnOnce(&PolicySet) -> T) -> Option<T> {
    PARSED.with_borrow_mut(|kept| {
        let at = match kept.iter().position(|parsed| parsed.rulebook == rulebook.id) {
            Some(at) => at,
            None => {
                if kept.len() >= KEPT {
                    kept.remove(0);
                }
                kept.push(parse(rulebook)?);
                kept.len() - 1
            }
        };
        let parsed = kept.get(at)?;
        let policies = match among {
            Among::Calls => &parsed.over_calls,
            Among::Arguments => &parsed.over_arguments,
            Among::Everything => parsed.everything.get_or_init(|| everything(rulebook)).as_ref()?,
        };
        Some(ask(policies))
    })
}

fn parse(rulebook: &Rulebook) -> Option<Parsed> {
    let mut over_calls = PolicySet::new();
    let mut over_arguments = PolicySet::new();
    for (id, text) in &rulebook.policies {
        let rule = id.parse::<usize>().ok().and_then(|index| rulebook.rule(index));
        if id.starts_with(APPROVE_PERMIT) || rule.is_some_and(|rule| rule.about_approvals) {
            continue;
        }
        let policy = Policy::parse(Some(PolicyId::new(id)), text).ok()?;
        if rule.is_none_or(|rule| rule.own_action) {
            over_arguments.add(policy.clone()).ok()?;
        }
        over_calls.add(policy).ok()?;
    }
    Some(Parsed { rulebook: rulebook.id, over_calls, over_arguments, everything: OnceCell::new() })
}

fn everything(rulebook: &Rulebook) -> Option<PolicySet> {
    let mut all = PolicySet::new();
    for (id, text) in &rulebook.policies {
        all.add(Policy::parse(Some(PolicyId::new(id)), text).ok()?).ok()?;
    }
    Some(all)
}
