//! From text to rulebook: parse, read annotations, type arguments, validate. Whatever could never match is refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use aws_lc_rs::digest;
use cedar_policy::{ActionConstraint, Effect, Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};

use super::{
    APPROVE_PERMIT, ArgumentTypes, Rule, RuleFile, RuleProblem, Rulebook, SHIPPED_SCHEMA, Setting, Texts,
    ToolSignature,
    addresses::note_addresses,
    arguments::quote,
    checks::{action_tool, check_arguments, check_names, check_tests, problem, refuse_repeated_ids},
    reads::Reads,
    vocabulary::{self, Misspelt},
};
use crate::suggest::{closest, did_you_mean};

const ANNOTATIONS: &[&str] =
    &["id", "order", "code", "source", "hides", "obligation", "message", "message_ja", "remedy", "remedy_ja"];

/// Where an operator's rules stand when they do not say: after all that ship.
const OPERATOR_ORDER: i64 = 1000;

const APPROVE: &str = "approve";

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A policy on its way to becoming a rule.
pub(super) struct Draft<'a> {
    pub(super) file: &'a RuleFile,
    pub(super) policy: Policy,
    shipped: bool,
    pub(super) id: String,
    /// Byte range to point at when Cedar names no better one.
    pub(super) place: (usize, usize),
    pub(super) reads: Reads,
    /// Addresses in another spelling than the one they are compared in.
    notes: Vec<RuleProblem>,
}

impl Rulebook {
    /// Loads the shipped rules and the operator's files. Every problem of every file is reported, not the first.
    pub fn load(
        shipped: Option<&RuleFile>,
        files: &[RuleFile],
        tools: &[ToolSignature<'_>],
        setting: &Setting,
    ) -> Result<Self, Vec<RuleProblem>> {
        let mut problems = Vec::new();
        let mut drafts = Vec::new();
        for (file, is_shipped) in
            shipped.map(|file| (file, true)).into_iter().chain(files.iter().map(|file| (file, false)))
        {
            parse(file, is_shipped, &mut drafts, &mut problems);
        }
        refuse_repeated_ids(&drafts, &mut problems);
        let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name).collect();
        let mut named_tools = BTreeSet::new();
        let mut argument_tools = BTreeSet::new();
        for draft in &drafts {
            check_names(draft, &names, &mut named_tools, &mut argument_tools, &mut problems);
        }
        let mut arguments: BTreeMap<String, ArgumentTypes> = tools
            .iter()
            .filter(|tool| argument_tools.contains(tool.name))
            .map(|tool| (tool.name.to_owned(), ArgumentTypes::of(tool.definition, &tool.declared)))
            .collect();
        for draft in &drafts {
            check_tests(draft, &mut problems);
            check_arguments(draft, &arguments, &mut problems);
            for literal in draft.policy.entity_literals() {
                if let Some(types) = action_tool(&literal).and_then(|tool| arguments.get_mut(tool)) {
                    types.read_by(&draft.reads);
                }
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let schema = schema_with(&arguments).map_err(|problem| vec![problem])?;
        validate(&drafts, &schema)?;
        Self::assemble(drafts, schema, arguments, named_tools, setting)
    }

    fn assemble(
        drafts: Vec<Draft<'_>>,
        schema: Schema,
        arguments: BTreeMap<String, ArgumentTypes>,
        named_tools: BTreeSet<String>,
        setting: &Setting,
    ) -> Result<Self, Vec<RuleProblem>> {
        // who may approve is in nobody's view, so that rules about it make no classes
        let mut seen = drafts.iter().filter(|draft| !is_about(&draft.policy, APPROVE));
        let reads_identity = seen.clone().any(|draft| draft.reads.identity());
        let reads_tool_name = seen.any(|draft| draft.reads.tool_name());
        let notes = drafts.iter().flat_map(|draft| draft.notes.iter().cloned()).collect();
        let mut permits = Vec::new();
        let mut ranked = Vec::new();
        for (position, draft) in drafts.into_iter().enumerate() {
            let text = draft.policy.to_string();
            if draft.policy.effect() == Effect::Permit {
                let kind = if is_about(&draft.policy, APPROVE) { APPROVE_PERMIT } else { "permit" };
                permits.push((format!("{kind}{position}"), text));
            } else {
                ranked.push((rule_of(&draft, position)?, text));
            }
        }
        ranked.sort_by_key(|(rule, _)| rule.order);
        let mut policies = permits;
        let mut rules = Vec::new();
        for (index, (rule, text)) in ranked.into_iter().enumerate() {
            policies.push((index.to_string(), text));
            rules.push(rule);
        }
        let mut hash = digest::Context::new(&digest::SHA256);
        for text in policies.iter().map(|(_, text)| text).chain(&setting.plans) {
            hash.update(&(text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.finish().as_ref());
        Ok(Self {
            digest,
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            rules,
            policies,
            schema,
            arguments,
            named_tools,
            reads_tool_name,
            reads_identity,
            plans: setting.plans.clone(),
            sign_in: sign_in(setting.has_authenticate),
            task_header: setting.task_header.clone(),
            asked: AtomicU64::new(0),
            notes,
        })
    }
}

fn sign_in(has_authenticate: bool) -> Texts {
    let (en, ja) = if has_authenticate {
        ("Call authenticate first.", "先にauthenticateを呼び出してください。")
    } else {
        (
            "Send a bearer token; the operator makes one with 'toolgate token mint'.",
            "ベアラートークンを送ってください。運用者が'toolgate token mint'で発行します。",
        )
    };
    Texts { en: en.to_owned(), ja: Some(ja.to_owned()) }
}

fn parse<'a>(file: &'a RuleFile, shipped: bool, drafts: &mut Vec<Draft<'a>>, problems: &mut Vec<RuleProblem>) {
    let set = match PolicySet::from_str(&file.text) {
        Ok(set) => set,
        Err(faults) => {
            problems.extend(faults.iter().map(|fault| RuleProblem::from_cedar(&file.name, &file.text, fault, (0, 0))));
            return;
        }
    };
    if set.templates().next().is_some() {
        problems.push(RuleProblem::at(&file.name, &file.text, 0, 0, "a template is no rule: nothing fills its slots"));
    }
    let mut policies: Vec<Policy> = set.policies().cloned().collect();
    // Cedar numbers policies in file order, but keeps them in a map
    policies.sort_by_key(|policy| policy.id().to_string().trim_start_matches("policy").parse::<usize>().unwrap_or(0));
    for (number, policy) in policies.into_iter().enumerate() {
        let id = policy.annotation("id").map_or_else(|| format!("{}#{}", file.name, number + 1), str::to_owned);
        let place = place_of(file, &policy, number);
        for (name, _) in policy.annotations().filter(|(name, _)| !ANNOTATIONS.contains(name)) {
            let near = closest(name, ANNOTATIONS.iter().copied()).map(|near| format!("@{near}"));
            let hint = did_you_mean(near.as_deref());
            problems.push(RuleProblem::at(
                &file.name,
                &file.text,
                place.0,
                place.1,
                format!("unknown annotation '@{name}' on rule '{id}'{hint}"),
            ));
        }
        if policy.effect() == Effect::Permit && !shipped && !is_about(&policy, APPROVE) {
            problems.push(
                RuleProblem::at(
                    &file.name,
                    &file.text,
                    place.0,
                    place.1,
                    format!("rule '{id}' is a permit and would change nothing"),
                )
                .with_help(
                    "the shipped rulebook permits all calls that no rule forbids: write a forbid, or change the tool's facts; \
                     only who may approve is permitted: action == Action::\"approve\"",
                ),
            );
        }
        let json = policy.to_json().unwrap_or_default();
        for Misspelt { fact, word, near } in vocabulary::misspelt(&json) {
            let hint = did_you_mean(near);
            let message = format!("rule '{id}' compares {fact} with '{word}', which it never is{hint}");
            problems.push(RuleProblem::at(&file.name, &file.text, place.0, place.1, message));
        }
        let reads = Reads::of(&json);
        let mut draft = Draft { file, policy, shipped, id, place, reads, notes: Vec::new() };
        let mut notes = Vec::new();
        note_addresses(&draft, &json, &mut notes);
        draft.notes = notes;
        drafts.push(draft);
    }
}

/// The place of a policy: its `@id` if it has one, else the n-th `forbid` or `permit` of the file.
fn place_of(file: &RuleFile, policy: &Policy, number: usize) -> (usize, usize) {
    let by_id = policy.annotation("id").and_then(|id| {
        let quoted = quote(id);
        file.text.find(&quoted).map(|at| (at, quoted.len()))
    });
    by_id.unwrap_or_else(|| {
        let mut heads: Vec<usize> =
            ["permit", "forbid"].iter().flat_map(|word| file.text.match_indices(word)).map(|(at, _)| at).collect();
        heads.sort_unstable();
        heads.get(number).map_or((0, 0), |at| (*at, 6))
    })
}

fn schema_with(arguments: &BTreeMap<String, ArgumentTypes>) -> Result<Schema, RuleProblem> {
    let mut text = SHIPPED_SCHEMA.to_owned();
    for (tool, types) in arguments {
        text.push_str(&format!(
            "action {} in [\"call\"] appliesTo {{ principal: Caller, resource: Tool, context: {{ allowlisted: Bool, override?: Bool, arguments: {} }} }};\n",
            quote(&format!("call:{tool}")),
            types.to_cedar_schema()
        ));
    }
    Schema::from_cedarschema_str(&text)
        .map(|(schema, _)| schema)
        .map_err(|fault| RuleProblem::from_cedar("rulebook/toolgate.cedarschema", &text, &fault, (0, 0)))
}

fn validate(drafts: &[Draft<'_>], schema: &Schema) -> Result<(), Vec<RuleProblem>> {
    let mut set = PolicySet::new();
    let mut problems = Vec::new();
    for draft in drafts {
        if let Err(fault) = set.add(draft.policy.new_id(PolicyId::new(&draft.id))) {
            problems.push(RuleProblem::from_cedar(&draft.file.name, &draft.file.text, &fault, draft.place));
        }
    }
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    let mut report = |policy: &PolicyId, fault: &dyn miette::Diagnostic| {
        let draft = drafts.iter().find(|draft| policy == &PolicyId::new(&draft.id));
        problems
            .extend(draft.map(|draft| RuleProblem::from_cedar(&draft.file.name, &draft.file.text, fault, draft.place)));
    };
    for fault in result.validation_errors() {
        report(fault.policy_id(), fault);
    }
    // a rule that is type-impossible is only a warning to Cedar; to an operator it is a rule that does nothing
    for warning in result.validation_warnings() {
        report(warning.policy_id(), warning);
    }
    // Cedar says it once for tools, once for prompts and once for resources
    let place = |problem: &RuleProblem| (problem.file.clone(), problem.line, problem.column);
    let of_tools: BTreeSet<_> =
        problems.iter().filter(|problem| problem.message.contains("entity type `Tool`")).map(place).collect();
    problems.retain(|problem| {
        let of_others = ["`Prompt`", "`Resource`"].iter().any(|kind| problem.message.contains(kind));
        !of_others || !of_tools.contains(&place(problem))
    });
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn rule_of(draft: &Draft<'_>, position: usize) -> Result<Rule, Vec<RuleProblem>> {
    let note = |name: &str| draft.policy.annotation(name).filter(|text| !text.is_empty()).map(str::to_owned);
    let bad = |message: String| vec![problem(draft, message)];
    let order = match note("order") {
        Some(text) => {
            text.parse().map_err(|_| bad(format!("@order(\"{text}\") of rule '{}' is not a whole number", draft.id)))?
        }
        None => OPERATOR_ORDER.saturating_add(i64::try_from(position).unwrap_or(i64::MAX)),
    };
    let needs_approval = match note("obligation").as_deref() {
        None => false,
        Some("approval") => true,
        Some(other) => {
            return Err(bad(format!(
                "@obligation(\"{other}\") of rule '{}' is unknown; \"approval\" is the one there is",
                draft.id
            )));
        }
    };
    let reads_arguments = draft.reads.any_argument();
    let hides = match note("hides").as_deref() {
        Some("yes") => true,
        Some("no") => false,
        // what ships says so where it hides; an operator's rule hides unless it is about what was passed
        None => !draft.shipped && !reads_arguments && !needs_approval,
        Some(other) => {
            return Err(bad(format!("@hides(\"{other}\") of rule '{}' is neither \"yes\" nor \"no\"", draft.id)));
        }
    };
    let id = draft.id.clone();
    Ok(Rule {
        code: note("code").unwrap_or_else(|| if needs_approval { "approval_required" } else { "forbidden" }.to_owned()),
        source: note("source"),
        message: Texts {
            en: note("message").unwrap_or_else(|| format!("{{kind}} '{{tool}}' is not allowed by rule '{id}'.")),
            ja: note("message_ja"),
        },
        remedy: note("remedy").map(|en| Texts { en, ja: note("remedy_ja") }),
        file: draft.file.name.clone(),
        id,
        order,
        hides,
        needs_approval,
        reads_arguments,
        about_lists: is_about(&draft.policy, "list"),
        about_approvals: is_about(&draft.policy, APPROVE),
        own_action: draft.policy.entity_literals().iter().any(|literal| action_tool(literal).is_some()),
    })
}

/// It is about this one action alone.
fn is_about(policy: &Policy, action: &str) -> bool {
    matches!(policy.action_constraint(), ActionConstraint::Eq(named) if named.id().unescaped() == action)
}
