//! A class of callers: those no rule can tell apart, so that they share one view.

use std::{
    collections::BTreeSet,
    hash::{Hash, Hasher},
    sync::Arc,
};

use quick_cache::Equivalent;

use crate::caller::{AgentKind, Caller, Overrides, Purpose, Role, Runtime, UserId};

/// A caller seen as its class, borrowed: looking up a view allocates nothing.
#[derive(Clone, Copy)]
pub(crate) struct ClassOf<'a> {
    caller: &'a Caller,
    /// Equal ranks decide equally, whatever the plan is called.
    plan_rank: usize,
    /// Some rule reads who the caller is, so every caller is a class of its own.
    by_identity: bool,
}

/// The same, owned, as a cache key.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) caller: Caller,
    plan_rank: usize,
    by_identity: bool,
}

/// An id and what it is of (a project, a process), where rules read who the caller is.
type Who<'a> = Option<(&'a str, Option<&'a str>)>;

/// Exactly the facts a view depends on.
#[derive(PartialEq, Eq, Hash)]
struct Facts<'a> {
    user: Option<Who<'a>>,
    tenant: Option<(Who<'a>, Role, usize)>,
    /// Shared ones are equal without being compared.
    overrides: Option<&'a Arc<Overrides>>,
    /// Whether there is a project, or a process, is part of the class: bound arguments may need one.
    agent: Option<(Who<'a>, AgentKind, Option<Purpose>, bool)>,
    task: Option<(Who<'a>, bool, bool)>,
    flow: Option<(Who<'a>, Option<&'a BTreeSet<String>>)>,
    runtime: Runtime,
    scopes: &'a BTreeSet<String>,
    operator: bool,
    unknown_task: bool,
}

impl<'a> ClassOf<'a> {
    pub(crate) fn new(caller: &'a Caller, plan_rank: usize, by_identity: bool) -> Self {
        Self { caller, plan_rank, by_identity }
    }

    /// Owned, without what the class does not share.
    pub(crate) fn to_owned(self, plans: &[String]) -> Class {
        let mut caller = self.caller.clone();
        caller.session = None;
        if let Some(agent) = &mut caller.agent {
            agent.session = None;
        }
        if let Some(tenant) = &mut caller.tenant {
            tenant.plan = plans.get(self.plan_rank).cloned();
        }
        if !self.by_identity {
            forget_who(&mut caller);
        }
        Class { caller, plan_rank: self.plan_rank, by_identity: self.by_identity }
    }

    fn facts(self) -> Facts<'a> {
        let Self { caller, plan_rank, by_identity } = self;
        let who = |id: &'a str, of: Option<&'a str>| by_identity.then_some((id, of));
        Facts {
            user: caller.user.as_ref().map(|user| who(user.as_str(), None)),
            tenant: caller.tenant.as_ref().map(|tenant| (who(&tenant.id, None), tenant.role, plan_rank)),
            overrides: caller.tenant.as_ref().map(|tenant| &tenant.overrides),
            agent: caller.agent.as_ref().map(|agent| {
                let who = who(&agent.id, agent.project.as_deref());
                (who, agent.kind, agent.purpose, agent.project.is_some())
            }),
            task: caller.task.as_ref().map(|task| {
                let who = who(&task.id, task.process.as_deref());
                (who, task.orchestrator, task.process.is_some())
            }),
            flow: caller.flow.as_ref().map(|flow| (who(&flow.id, None), flow.allowlist.as_ref())),
            runtime: caller.runtime,
            scopes: &caller.scopes,
            operator: caller.operator,
            unknown_task: caller.unknown_task,
        }
    }
}

impl Class {
    fn borrowed(&self) -> ClassOf<'_> {
        ClassOf { caller: &self.caller, plan_rank: self.plan_rank, by_identity: self.by_identity }
    }
}

/// Ids that every caller of the class has in common: none.
fn forget_who(caller: &mut Caller) {
    let nobody = || "-".to_owned();
    caller.user = caller.user.take().and_then(|_| UserId::own("-").ok());
    if let Some(tenant) = &mut caller.tenant {
        tenant.id = nobody();
    }
    if let Some(agent) = &mut caller.agent {
        agent.id = nobody();
        agent.project = agent.project.take().map(|_| nobody());
    }
    if let Some(task) = &mut caller.task {
        task.id = nobody();
        task.process = task.process.take().map(|_| nobody());
    }
    if let Some(flow) = &mut caller.flow {
        flow.id = nobody();
    }
}

impl Hash for ClassOf<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.facts().hash(state);
    }
}

impl Hash for Class {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.borrowed().hash(state);
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Self) -> bool {
        self.borrowed().facts() == other.borrowed().facts()
    }
}

impl Eq for Class {}

impl Equivalent<Class> for ClassOf<'_> {
    fn equivalent(&self, key: &Class) -> bool {
        self.facts() == key.borrowed().facts()
    }
}
