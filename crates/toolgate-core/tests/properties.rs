//! Over random callers and tools, every face of the gate says what the reference says.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::Value;
use toolgate_core::tool::Approval;
use toolgate_core::{
    Blueprint, Caller, Decision, Found, Gate, Lang, RuleFile, Tool,
    explain::{Listed, Outcome},
};

use crate::{
    fixtures::{
        gate, gate_with, list,
        random::{Random, callers, tools},
    },
    reference::{self, Answer, Shown},
};

const SEEDS: [u64; 3] = [11, 222, 3333];
const TOOLS: usize = 60;
const CALLERS: usize = 140;

/// A random catalogue, its gate, and callers of it.
fn world(seed: u64, tool_count: usize, caller_count: usize) -> (Arc<Gate>, Vec<Tool>, Vec<Caller>) {
    let mut random = Random::new(seed);
    let tools = tools(&mut random, tool_count);
    let callers = callers(&mut random, caller_count, &tools);
    (gate(tools.clone()), tools, callers)
}

fn answer_of(decision: &Decision) -> (&'static str, String, String) {
    match decision {
        Decision::Allow => ("allow", String::new(), String::new()),
        Decision::NeedsApproval(denial) => ("approval", denial.rule.clone(), denial.code.clone()),
        Decision::Deny(denial) => ("deny", denial.rule.clone(), denial.code.clone()),
    }
}

fn expected(answer: Answer) -> (&'static str, String, String) {
    match answer {
        Answer::Allow => ("allow", String::new(), String::new()),
        Answer::Approval => ("approval", "approval".to_owned(), "approval_required".to_owned()),
        Answer::Deny(no) => ("deny", no.rule.to_owned(), no.code.to_owned()),
    }
}

/// Compares every call of one world; returns how many, and how often each first reason was met.
fn compare_calls(seed: u64) -> (usize, BTreeMap<String, usize>) {
    let (gate, tools, callers) = world(seed, TOOLS, CALLERS);
    let mut compared = 0;
    let mut reasons = BTreeMap::new();
    for caller in &callers {
        let view = gate.view(caller).unwrap();
        for tool in &tools {
            for (approved, dry_run) in [(false, false), (false, true), (true, false), (true, true)] {
                let name = tool.name.as_str();
                let wanted = expected(reference::answer(caller, tool, approved, dry_run));
                match gate.find(&view, caller, name, approved, dry_run, Lang::En) {
                    Found::Nothing => {
                        assert!(reference::hidden(caller, tool), "seed {seed}: hidden\n{caller:?}\n{tool:?}");
                    }
                    Found::Tool { tool: found, decision } => {
                        assert!(!reference::hidden(caller, tool), "seed {seed}: not hidden\n{caller:?}\n{tool:?}");
                        assert_eq!(found.name, tool.name);
                        assert_eq!(answer_of(&decision), wanted, "seed {seed}\n{caller:?}\n{tool:?}");
                    }
                }
                *reasons.entry(format!("{} {}", wanted.0, wanted.1)).or_insert(0) += 1;
                compared += 1;
            }
        }
    }
    (compared, reasons)
}

#[test]
fn a_call_gets_what_the_reference_says_and_a_hidden_tool_is_no_tool() {
    let runs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = SEEDS.map(|seed| scope.spawn(move || compare_calls(seed))).into_iter().collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let compared: usize = runs.iter().map(|(compared, _)| compared).sum();
    assert!(compared >= 100_000, "only {compared} calls were compared");
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (reason, count) in runs.into_iter().flat_map(|(_, reasons)| reasons) {
        *reasons.entry(reason).or_insert(0) += count;
    }
    // a run that never meets a rule would prove nothing of it
    let (gate, ..) = world(SEEDS[0], 1, 0);
    for rule in gate.rulebook().rules().iter().filter(|rule| !rule.about_lists && !rule.about_approvals) {
        let outcome = if rule.needs_approval { "approval" } else { "deny" };
        let met = reasons.get(&format!("{outcome} {}", rule.id)).copied().unwrap_or(0);
        assert!(met >= 100, "'{}' was the reason of {met} calls only: {reasons:?}", rule.id);
    }
    assert!(reasons["allow "] >= 5_000, "{reasons:?}");
    eprintln!("compared {compared} calls: {reasons:?}");
}

#[test]
fn an_explanation_names_every_failed_condition_and_reports_the_first() {
    let (gate, tools, callers) = world(SEEDS[0], 40, 80);
    for caller in &callers {
        let view = gate.view(caller).unwrap();
        for (tool, dry_run) in tools.iter().flat_map(|tool| [(tool, false), (tool, true)]) {
            let why = gate.explain(&view, caller, tool.name.as_str(), dry_run, Lang::En).unwrap();
            let wanted = expected(reference::answer(caller, tool, false, dry_run));
            let outcome = match why.outcome {
                Outcome::Allow => "allow",
                Outcome::NeedsApproval => "approval",
                Outcome::Deny => "deny",
            };
            let reason = why.reason.unwrap_or(toolgate_core::Denial {
                code: String::new(),
                message: String::new(),
                rule: String::new(),
                remedy: None,
                source: None,
            });
            assert_eq!((outcome, reason.rule.clone(), reason.code), wanted, "{caller:?}\n{tool:?}");
            assert_eq!(why.hidden, reference::hidden(caller, tool));
            let listed = match why.listed {
                Listed::Yes => Shown::Plainly,
                Listed::Marked => Shown::Marked,
                Listed::No => Shown::Not,
            };
            assert_eq!(listed, reference::shown(caller, tool));
            let failed: Vec<_> = why.conditions.iter().filter(|condition| !condition.passed).collect();
            assert!(failed.is_sorted_by_key(|condition| condition.order), "conditions stand in their order");
            if outcome == "deny" {
                let mut refusals: Vec<_> = reference::refusals(caller, tool).iter().map(|no| no.rule).collect();
                if tool.facts.approval == Approval::Required && !dry_run {
                    refusals.push("approval");
                }
                let failed: Vec<_> = failed.iter().map(|condition| condition.rule.as_str()).collect();
                assert_eq!(failed, refusals);
                assert_eq!(failed[0], reason.rule, "the reason is the first that failed");
            }
        }
    }
}

#[test]
fn a_list_holds_what_the_reference_shows_and_marks_what_can_not_be_called() {
    let (mut plain, mut marked, mut absent) = (0, 0, 0);
    for seed in SEEDS {
        let (gate, tools, callers) = world(seed, TOOLS, 60);
        for caller in &callers {
            let listed: BTreeMap<String, Option<String>> = list(&gate, caller).into_iter().collect();
            assert_eq!(listed.len(), gate.listing(caller).unwrap().len());
            let view = gate.view(caller).unwrap();
            for tool in &tools {
                let entry = listed.get(tool.wire_name.as_str());
                match reference::shown(caller, tool) {
                    Shown::Plainly => plain += usize::from(entry == Some(&None)),
                    Shown::Not => absent += usize::from(entry.is_none()),
                    Shown::Marked => {
                        let Answer::Deny(no) = reference::answer(caller, tool, false, false) else {
                            panic!("marked but not denied");
                        };
                        assert_eq!(entry, Some(&Some(no.code.to_owned())), "{caller:?}\n{tool:?}");
                        marked += 1;
                    }
                }
                // without the reference: the gate's own faces agree with each other
                let Some(mark) = entry else { continue };
                match gate.find(&view, caller, tool.wire_name.as_str(), false, false, Lang::En) {
                    Found::Tool { decision: Decision::Deny(denial), .. } => {
                        assert_eq!(mark.as_ref(), Some(&denial.code))
                    }
                    Found::Tool { .. } => assert_eq!(mark, &None),
                    Found::Nothing => panic!("a listed tool is unknown to its caller: {caller:?}\n{tool:?}"),
                }
            }
        }
    }
    assert_eq!(plain + marked + absent, SEEDS.len() * TOOLS * 60);
    assert!(plain > 500 && marked > 500 && absent > 500, "{plain} {marked} {absent}");
}

#[test]
fn help_says_available_exactly_when_a_call_would_pass() {
    let (gate, tools, callers) = world(SEEDS[1], TOOLS, 100);
    for caller in &callers {
        let view = gate.view(caller).unwrap();
        let overview = gate.help(&view, caller, Lang::En);
        let available: BTreeSet<String> = overview.available_tools.iter().map(|line| line.name.clone()).collect();
        assert_eq!(overview.total_available, available.len());
        let named = serde_json::to_string(&overview.unavailable_info).unwrap();
        for tool in &tools {
            let wire = tool.wire_name.as_str();
            let help = gate.help_on(&view, caller, wire, Lang::En).available();
            assert_eq!(help, reference::help(caller, tool), "{caller:?}\n{tool:?}");
            let passes = match gate.find(&view, caller, wire, false, false, Lang::En) {
                Found::Tool { decision, .. } => !matches!(decision, Decision::Deny(_)),
                Found::Nothing => false,
            };
            assert_eq!(help == Some(true), passes);
            assert_eq!(available.contains(wire), passes);
            assert!(help == Some(false) || !named.contains(wire), "{wire} is named as unavailable: {named}");
        }
    }
}

#[test]
fn help_on_a_tool_not_to_be_named_is_byte_equal_to_help_on_an_unknown_name() {
    let (gate, tools, callers) = world(SEEDS[2], TOOLS, 60);
    let mut compared = 0;
    for caller in &callers {
        let view = gate.view(caller).unwrap();
        for (tool, lang) in tools.iter().flat_map(|tool| [(tool, Lang::En), (tool, Lang::Ja)]) {
            if reference::help(caller, tool).is_some() {
                continue;
            }
            for name in [tool.name.as_str(), tool.wire_name.as_str()] {
                let unknown = "no-such".to_owned();
                assert_eq!(unknown.len(), name.len());
                let of_unknown = serde_json::to_string(&gate.help_on(&view, caller, &unknown, lang)).unwrap();
                let of_secret = serde_json::to_string(&gate.help_on(&view, caller, name, lang)).unwrap();
                assert_eq!(of_secret.replace(name, &unknown), of_unknown);
                compared += 1;
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

#[test]
fn the_reason_follows_the_order_wherever_a_rule_of_ones_own_stands() {
    let mut random = Random::new(5);
    let tools = tools(&mut random, 30);
    let callers = callers(&mut random, 60, &tools);
    let orders: BTreeMap<String, i64> =
        gate(tools.clone()).rulebook().rules().iter().map(|rule| (rule.id.clone(), rule.order)).collect();
    for order in [1, 25, 65, 105, 5000] {
        let rule =
            format!("@id(\"ours\") @order(\"{order}\") forbid (principal, action in Action::\"call\", resource);");
        let gate = gate_with(tools.clone(), &rule).unwrap();
        for caller in &callers {
            let view = gate.view(caller).unwrap();
            for tool in &tools {
                let why = gate.explain(&view, caller, tool.name.as_str(), false, Lang::En).unwrap();
                let first = reference::refusals(caller, tool)
                    .first()
                    .map_or("ours", |no| if orders[no.rule] < order { no.rule } else { "ours" });
                assert_eq!(why.outcome, Outcome::Deny);
                assert_eq!(why.reason.unwrap().rule, first);
            }
        }
    }
}

#[test]
fn what_help_serialises_never_holds_a_parameter_of_a_tool_that_is_not_available() {
    let (gate, tools, callers) = world(SEEDS[0], 30, 60);
    for caller in &callers {
        let view = gate.view(caller).unwrap();
        for tool in &tools {
            let detail = gate.help_on(&view, caller, tool.name.as_str(), Lang::En);
            let mut json = serde_json::to_value(&detail).unwrap();
            if let Some(source) = json.as_object_mut().unwrap().shift_remove("source") {
                let sources = ["global_disabled", "plan_restriction", "tenant_override", "default"];
                assert!(sources.contains(&source.as_str().unwrap()), "{source}");
            } else {
                assert!(caller.tenant.is_none() || detail.available() != Some(true), "who acts for a tenant is told");
            }
            let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
            match detail.available() {
                Some(true) => assert_eq!(keys, ["name", "description", "category", "available", "parameters"]),
                Some(false) => {
                    assert_eq!(keys, ["name", "description", "category", "available", "reason"]);
                    assert_ne!(json["reason"], Value::String(String::new()));
                }
                None => assert_eq!(keys, ["context", "error"]),
            }
        }
    }
}

/// The shipped rulebook without the rule of this id.
fn without(id: &str) -> RuleFile {
    let shipped = RuleFile::shipped();
    let start = shipped.text.find(&format!("@id(\"{id}\")")).unwrap();
    let length = shipped.text[start..].find(";\n").unwrap() + 1;
    RuleFile { name: shipped.name, text: shipped.text.replace(&shipped.text[start..start + length], "") }
}

#[test]
fn a_rulebook_that_lacks_any_one_of_its_rules_disagrees_with_the_reference() {
    let (whole, tools, callers) = world(SEEDS[0], 60, 120);
    for rule in whole.rulebook().rules().iter().filter(|rule| !rule.about_approvals) {
        let shipped_rules = Some(without(&rule.id));
        let lacking = Gate::new(Blueprint { tools: tools.clone(), shipped_rules, ..Blueprint::default() }).unwrap();
        assert_eq!(lacking.rulebook().rules().len(), whole.rulebook().rules().len() - 1);
        let disagrees = callers.iter().any(|caller| {
            let view = lacking.view(caller).unwrap();
            tools.iter().any(|tool| {
                let why = lacking.explain(&view, caller, tool.name.as_str(), false, Lang::En).unwrap();
                let reason = why.reason.map(|denial| denial.rule).unwrap_or_default();
                let listed = why.listed != Listed::No;
                reason != expected(reference::answer(caller, tool, false, false)).1
                    || listed != (reference::shown(caller, tool) != Shown::Not)
            })
        });
        assert!(disagrees, "nobody misses '{}'", rule.id);
    }
}
