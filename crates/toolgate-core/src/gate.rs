//! The gate: one revision of rulebook and catalogue, and the one decision that every list, call, help and explanation asks.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use quick_cache::sync::Cache;
use serde_json::value::RawValue;

use crate::{
    caller::Caller,
    catalog::{Catalog, CatalogProblem, Classes, Meant},
    class::{Class, ClassOf},
    decision::{Decision, Denial, Fault, Lang, Verdict},
    rulebook::{CallFacts, DeclaredType, RuleFile, RuleProblem, Rulebook, Setting, ToolSignature},
    tool::{Kind, Tool, WhenDenied},
    view::{Listing, Pages, View},
};

/// Immutable: a change of rules, tools or settings makes a new gate with a new revision.
#[derive(Debug)]
pub struct Gate {
    revision: u64,
    rulebook: Rulebook,
    catalog: Catalog,
    classes: Classes,
    views: Cache<Class, Arc<View>>,
    pages: Pages,
    page_size: usize,
    lang: Lang,
}

/// Everything a gate is made of.
#[derive(Debug)]
pub struct Blueprint {
    pub tools: Vec<Tool>,
    /// Tools that rules may name although nobody is shown them now: accepted once, and not there as accepted.
    pub absent: Vec<Tool>,
    /// `None` only in tests: without rules nothing is allowed.
    pub shipped_rules: Option<RuleFile>,
    pub rules: Vec<RuleFile>,
    /// Argument types the operator declared, by canonical tool name.
    pub declared: BTreeMap<String, BTreeMap<String, DeclaredType>>,
    pub plans: Vec<String>,
    /// The header that carries a task's key, as denials name it.
    pub task_header: String,
    /// The default language of what people read.
    pub lang: Lang,
    pub page_size: usize,
    /// How many caller classes keep their view.
    pub kept_views: usize,
    /// How many bytes of pages are kept ready to send.
    pub kept_page_bytes: u64,
}

impl Default for Blueprint {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            absent: Vec::new(),
            shipped_rules: Some(RuleFile::shipped()),
            rules: Vec::new(),
            declared: BTreeMap::new(),
            plans: Setting::default().plans,
            task_header: Setting::default().task_header,
            lang: Lang::En,
            page_size: 1000,
            kept_views: 1000,
            kept_page_bytes: 64 << 20,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateProblem {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Rules(Vec<RuleProblem>),
    #[error(transparent)]
    Catalog(#[from] CatalogProblem),
    #[error("the tool '{tool}' asks for the plan '{plan}', which is none of: {plans}")]
    UnknownPlan { tool: String, plan: String, plans: String },
    #[error("the facts of a tool can't be put to the rulebook")]
    Facts,
}

/// A tool someone asked for by name, as far as they may know of it.
#[derive(Debug)]
pub enum Found {
    /// Unknown, or hidden from this caller: nobody downstream can tell which.
    Nothing,
    Tool {
        tool: Arc<Tool>,
        decision: Decision,
    },
}

static NEXT_REVISION: AtomicU64 = AtomicU64::new(1);

impl Gate {
    pub fn new(blueprint: Blueprint) -> Result<Arc<Self>, GateProblem> {
        let setting = Setting {
            has_authenticate: blueprint.tools.iter().any(|tool| tool.name.as_str() == "authenticate"),
            plans: blueprint.plans,
            task_header: blueprint.task_header,
        };
        for tool in &blueprint.tools {
            if let Some(plan) = tool.facts.min_plan.as_ref().filter(|plan| !setting.plans.contains(plan)) {
                return Err(GateProblem::UnknownPlan {
                    tool: tool.name.to_string(),
                    plan: plan.clone(),
                    plans: setting.plans.join(" "),
                });
            }
        }
        let catalog = Catalog::new(blueprint.tools)?;
        let signatures: Vec<ToolSignature<'_>> = catalog
            .tools()
            .map(|tool| &**tool)
            .chain(&blueprint.absent)
            .map(|tool| ToolSignature {
                name: tool.name.as_str(),
                definition: &tool.definition,
                declared: blueprint.declared.get(tool.name.as_str()).cloned().unwrap_or_default(),
            })
            .collect();
        let rulebook = Rulebook::load(blueprint.shipped_rules.as_ref(), &blueprint.rules, &signatures, &setting)
            .map_err(GateProblem::Rules)?;
        let classes = Classes::of(&catalog, &rulebook).ok_or(GateProblem::Facts)?;
        Ok(Arc::new(Self {
            revision: NEXT_REVISION.fetch_add(1, Ordering::Relaxed),
            rulebook,
            catalog,
            classes,
            views: Cache::new(blueprint.kept_views.max(1)),
            pages: Pages::new(blueprint.kept_views.max(1), blueprint.kept_page_bytes),
            page_size: blueprint.page_size.max(1),
            lang: blueprint.lang,
        }))
    }

    pub fn revision(&self) -> u64 {
        self.revision
    }

    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub fn rulebook(&self) -> &Rulebook {
        &self.rulebook
    }

    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// What this caller is shown.
    pub fn listing(self: &Arc<Self>, caller: &Caller) -> Option<Listing> {
        self.view(caller).map(|view| Listing::new(Arc::clone(self), view))
    }

    /// The caller's view, made on first sight of its class.
    pub fn view(&self, caller: &Caller) -> Option<Arc<View>> {
        let rank = self.rulebook.plan_rank(caller.tenant.as_ref().and_then(|tenant| tenant.plan.as_deref()));
        let class = ClassOf::new(caller, rank, self.rulebook.reads_identity());
        if let Some(view) = self.views.get(&class) {
            return Some(view);
        }
        let class = class.to_owned(self.rulebook.plans());
        let subject = self.rulebook.subject(&class.caller)?;
        let view = Arc::new(View::new(self.revision, class.caller.clone(), subject, self.classes.attributes.len()));
        self.views.insert(class, Arc::clone(&view));
        Some(view)
    }

    /// Looks a tool up by name and decides a call of it, arguments not yet considered.
    pub fn find(&self, view: &View, caller: &Caller, name: &str, approved: bool, dry_run: bool, lang: Lang) -> Found {
        self.find_any(view, caller, (Kind::Tool, name), (approved, dry_run), lang)
    }

    /// The same for whatever else is offered: a prompt by its name, a resource by its address, a template by its text.
    pub fn find_any(
        &self,
        view: &View,
        caller: &Caller,
        (kind, name): (Kind, &str),
        (approved, dry_run): (bool, bool),
        lang: Lang,
    ) -> Found {
        let meant = self.catalog.meant(kind, name).filter(|_| kind != Kind::Resource || !self.dodges_a_rule(name));
        let Some(Meant { index, by_pattern }) = meant else {
            self.decide_in_vain(view, kind, name);
            return Found::Nothing;
        };
        let Some(entry) = self.catalog.entry(index) else {
            return Found::Nothing;
        };
        // a rule that names addresses, or reads them, means this one and not the pattern it was found by
        let verdict = if by_pattern && self.rulebook.singles_out(name) {
            self.verdict_on(view, &entry.tool, name, approved, dry_run)
        } else {
            self.verdict(view, index, approved, dry_run)
        };
        // an address is on no list, though the pattern it was found by may be
        let is_shown = || !by_pattern && view.shows(self, index);
        self.found((&entry.tool, &verdict), is_shown, caller, lang)
    }

    /// The same for a prompt or resource that no source offers now, by what is known of it: what was asked for once, decided
    /// once more.
    pub fn find_absent(
        &self,
        view: &View,
        caller: &Caller,
        (tool, asked): (&Arc<Tool>, &str),
        (approved, dry_run): (bool, bool),
        lang: Lang,
    ) -> Found {
        let name = if self.rulebook.singles_out(asked) { asked } else { tool.name.as_str() };
        let verdict = self.verdict_on(view, tool, name, approved, dry_run);
        let by_pattern = matches!(tool.kind, Kind::Template | Kind::Address);
        let is_listed = || {
            let attributes = self.rulebook.attributes(tool, name);
            let call = self.verdict_on(view, tool, name, false, false);
            attributes.is_some_and(|attributes| self.rulebook.decide_list(&view.subject, &attributes, &call))
        };
        self.found((tool, &verdict), || !by_pattern && is_listed(), caller, lang)
    }

    fn found(
        &self,
        (tool, verdict): (&Arc<Tool>, &Verdict),
        is_shown: impl FnOnce() -> bool,
        caller: &Caller,
        lang: Lang,
    ) -> Found {
        if is_hidden(tool, verdict, is_shown) {
            return Found::Nothing;
        }
        Found::Tool { tool: Arc::clone(tool), decision: self.decision(verdict, caller, tool, lang) }
    }

    /// The rules over arguments, for a call that passed all others.
    pub fn decide_arguments(
        &self,
        view: &View,
        caller: &Caller,
        tool: &Tool,
        (approved, dry_run): (bool, bool),
        arguments: Option<&RawValue>,
        lang: Lang,
    ) -> Decision {
        if !self.rulebook.reads_arguments_of(tool.name.as_str()) {
            return Decision::Allow;
        }
        let Some(index) = self.catalog.index(tool.name.as_str()) else {
            return self.decision(&no_rule(), caller, tool, lang);
        };
        let Some(attributes) = self.classes.attributes.get(self.class_of(index)) else {
            return self.decision(&no_rule(), caller, tool, lang);
        };
        let facts = call_facts(&view.class, tool, approved, dry_run);
        let verdict = self.rulebook.decide_arguments(&view.subject, (tool.name.as_str(), attributes), facts, arguments);
        self.decision(&verdict, caller, tool, lang)
    }

    /// The verdict on a call of the tool at `index`, remembered by the view.
    pub(crate) fn verdict(&self, view: &View, index: usize, approved: bool, dry_run: bool) -> Verdict {
        // INVARIANT: a view decides for the gate it was made by, and for no other revision
        if view.revision != self.revision {
            return no_rule();
        }
        let class = self.class_of(index);
        let (Some(entry), Some(attributes)) = (self.catalog.entry(index), self.classes.attributes.get(class)) else {
            return no_rule();
        };
        let facts = call_facts(&view.class, &entry.tool, approved, dry_run);
        view.remember(class, facts, || self.rulebook.decide_call(&view.subject, attributes, facts))
    }

    /// The verdict on one address of a pattern; not remembered, since callers choose addresses.
    pub(crate) fn verdict_on(&self, view: &View, tool: &Tool, address: &str, approved: bool, dry_run: bool) -> Verdict {
        if view.revision != self.revision {
            return no_rule();
        }
        let Some(attributes) = self.rulebook.attributes(tool, address) else { return no_rule() };
        let facts = call_facts(&view.class, tool, approved, dry_run);
        self.rulebook.decide_call(&view.subject, &attributes, facts)
    }

    pub(crate) fn lists(&self, view: &View, index: usize, verdict: &Verdict) -> bool {
        self.classes
            .attributes
            .get(self.class_of(index))
            .is_some_and(|attributes| self.rulebook.decide_list(&view.subject, attributes, verdict))
    }

    pub(crate) fn class_of(&self, index: usize) -> usize {
        self.classes.of.get(index).copied().unwrap_or(usize::MAX)
    }

    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }

    pub(crate) fn page_size(&self) -> usize {
        self.page_size
    }

    /// Hidden tools answer as unknown ones, unless the caller sees them on its list.
    pub(crate) fn hides(&self, view: &View, index: usize, tool: &Tool, verdict: &Verdict) -> bool {
        is_hidden(tool, verdict, || view.shows(self, index))
    }

    pub(crate) fn decision(&self, verdict: &Verdict, caller: &Caller, tool: &Tool, lang: Lang) -> Decision {
        match verdict {
            Verdict::Allow => Decision::Allow,
            Verdict::NeedsApproval(_) => Decision::NeedsApproval(self.denial(verdict, caller, tool, lang)),
            Verdict::Deny { .. } => Decision::Deny(self.denial(verdict, caller, tool, lang)),
        }
    }

    /// The first failed rule in words.
    pub(crate) fn denial(&self, verdict: &Verdict, caller: &Caller, tool: &Tool, lang: Lang) -> Denial {
        let (failed, fault) = match verdict {
            Verdict::Allow => (None, None),
            Verdict::NeedsApproval(failed) => (failed.first(), None),
            Verdict::Deny { failed, fault, .. } => (failed.first(), *fault),
        };
        if let Some(rule) = failed.and_then(|index| self.rulebook.rule(*index)) {
            let (message, remedy) = self.rulebook.words(rule, caller, tool, lang);
            let source = rule.source.as_deref().map(Into::into);
            return Denial { code: rule.code.clone(), message, rule: rule.id.clone(), remedy, source };
        }
        let name = &tool.wire_name;
        let (code, message) = match fault {
            Some(Fault::Evaluation) => {
                ("evaluation_failed", format!("Tool '{name}' can't be decided: a rule failed to evaluate."))
            }
            Some(Fault::Argument) => (
                "argument_not_exact",
                format!(
                    "An argument of tool '{name}' that a rule reads is missing its exact value (numbers: at most four decimals)."
                ),
            ),
            Some(Fault::NoRule) | None => ("no_rule", format!("No rule allows tool '{name}'.")),
        };
        Denial { code: code.to_owned(), message, rule: code.to_owned(), remedy: None, source: None }
    }
}

/// Whether a no is that there is no such thing: who is shown it knows better.
fn is_hidden(tool: &Tool, verdict: &Verdict, is_shown: impl FnOnce() -> bool) -> bool {
    tool.facts.when_denied == WhenDenied::Hidden && verdict.is_concealed() && !is_shown()
}

fn no_rule() -> Verdict {
    Verdict::Deny { failed: Arc::from([]), concealed: true, fault: Some(Fault::NoRule) }
}

pub(crate) fn call_facts(caller: &Caller, tool: &Tool, approved: bool, dry_run: bool) -> CallFacts {
    CallFacts {
        allowlisted: caller
            .flow
            .as_ref()
            .and_then(|flow| flow.allowlist.as_ref())
            .is_none_or(|allowlist| tool.found_in(|name| allowlist.get(name)).is_some()),
        switched: caller.tenant.as_ref().and_then(|tenant| tool.found_in(|name| tenant.overrides.get(name).copied())),
        approved,
        dry_run,
    }
}
