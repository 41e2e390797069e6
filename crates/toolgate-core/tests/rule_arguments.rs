//! Rules over what is passed: typed from the tool's schema, exact or refused.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_core::{Blueprint, Decision, Gate, GateProblem, Lang, RuleFile, rulebook::DeclaredType, tool::Permission};

use crate::fixtures::{code, code_of, defined, explained, raw, user};

const TRANSFER: &str = r#"{"name":"transfer","inputSchema":{"type":"object","properties":{
    "amount":{"type":"number"},
    "count":{"type":"integer"},
    "rate":{"type":"number"},
    "currency":{"type":"string","enum":["EUR","USD"]},
    "speed":{"enum":["slow","fast"]},
    "urgent":{"type":"boolean"},
    "tags":{"type":"array","items":{"type":"string"}},
    "to":{"type":"object","properties":{"country":{"type":"string"},"bank":{"type":"object","properties":
        {"bic":{"type":"string"}}}},"required":["country"]},
    "memo":{"anyOf":[{"type":"string"},{"type":"null"}]},
    "level":{"type":["string","integer"]}
},"required":["amount"]}}"#;

const LIMIT: &str = r#"@id("limit") @obligation("approval")
    forbid (principal, action == Action::"call:transfer", resource)
    when { context.arguments.amount.greaterThan(decimal("1000.0")) };"#;

fn when(condition: &str) -> String {
    format!("forbid (principal, action == Action::\"call:transfer\", resource) when {{ {condition} }};")
}

fn load(rules: &str, declared: &[(&str, DeclaredType)]) -> Result<Arc<Gate>, GateProblem> {
    let types: BTreeMap<String, DeclaredType> =
        declared.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
    let facts = explained(Permission::SignedIn);
    let other = TRANSFER.replace("\"transfer\"", "\"other\"");
    Gate::new(Blueprint {
        tools: vec![defined("transfer", TRANSFER, facts.clone()), defined("other", &other, facts)],
        rules: vec![RuleFile { name: "own.cedar".to_owned(), text: rules.to_owned() }],
        declared: BTreeMap::from([("transfer".to_owned(), types)]),
        ..Blueprint::default()
    })
}

fn decide(gate: &Arc<Gate>, name: &str, arguments: Option<&str>, given: (bool, bool)) -> Decision {
    let caller = user("ann");
    // everything that is not about arguments passed
    assert_eq!(code(gate, &caller, name), "allow");
    let view = gate.view(&caller).unwrap();
    let tool = Arc::clone(gate.catalog().find(name).unwrap());
    let arguments = arguments.map(raw);
    gate.decide_arguments(&view, &caller, &tool, given, arguments.as_deref(), Lang::En)
}

/// A gate with the tool `transfer` and rules over its arguments.
pub(crate) fn gate_of(rules: &str) -> Arc<Gate> {
    load(rules, &[]).unwrap()
}

pub(crate) fn decide_transfer(gate: &Arc<Gate>, arguments: &str) -> Decision {
    decide(gate, "transfer", Some(arguments), (false, false))
}

/// The code a call of `transfer` with these arguments gets.
fn ask(rules: &str, arguments: &str) -> String {
    code_of(&decide(&load(rules, &[]).unwrap(), "transfer", Some(arguments), (false, false)))
}

fn refused(rules: &str) -> String {
    match load(rules, &[]) {
        Err(problem) => problem.to_string(),
        Ok(_) => panic!("not refused: {rules}"),
    }
}

#[test]
fn a_limit_is_exact_to_four_decimals_and_what_is_not_exact_is_denied() {
    for (amount, wanted) in [
        ("1000", "allow"),
        ("1000.0", "allow"),
        ("1e3", "allow"),
        ("1E+3", "allow"),
        ("999.9999", "allow"),
        ("-5", "allow"),
        ("1000.0001", "approval: approval_required"),
        ("1000.00010", "approval: approval_required"),
        ("1e9", "approval: approval_required"),
        ("922337203685477.5807", "approval: approval_required"),
        ("922337203685477.5808", "argument_not_exact"),
        ("1000.00001", "argument_not_exact"),
        ("1e400", "argument_not_exact"),
        ("1e-400", "argument_not_exact"),
        ("1e99999999999999999999", "argument_not_exact"),
        ("\"1\"", "argument_not_exact"),
        ("null", "argument_not_exact"),
        ("[1]", "argument_not_exact"),
    ] {
        assert_eq!(ask(LIMIT, &format!("{{\"amount\": {amount}}}")), wanted, "{amount}");
    }
}

#[test]
fn the_reason_names_the_rule_and_a_dry_run_or_an_approval_lifts_it() {
    let gate = load(LIMIT, &[]).unwrap();
    let arguments = Some(r#"{"amount": 5000}"#);
    let Decision::NeedsApproval(denial) = decide(&gate, "transfer", arguments, (false, false)) else { panic!() };
    assert_eq!((denial.rule.as_str(), denial.code.as_str()), ("limit", "approval_required"));
    assert_eq!(decide(&gate, "transfer", arguments, (true, false)), Decision::Allow);
    assert_eq!(decide(&gate, "transfer", arguments, (false, true)), Decision::Allow);
    let inexact = Some(r#"{"amount": 0.00001}"#);
    assert_eq!(code_of(&decide(&gate, "transfer", inexact, (true, true))), "argument_not_exact");
}

#[test]
fn a_rule_over_one_tools_arguments_leaves_other_tools_alone() {
    let gate = load(LIMIT, &[]).unwrap();
    assert!(gate.rulebook().reads_arguments_of("transfer") && !gate.rulebook().reads_arguments_of("other"));
    assert_eq!(decide(&gate, "other", Some(r#"{"amount": 0.00001}"#), (false, false)), Decision::Allow);
}

#[test]
fn an_argument_that_no_rule_reads_need_not_be_exact() {
    assert_eq!(ask(LIMIT, r#"{"amount": 1, "rate": 0.123456789, "count": 1e30, "currency": null}"#), "allow");
    let other = when("context.arguments has rate && context.arguments.rate.greaterThan(decimal(\"1.0\"))");
    let both = format!("{LIMIT}\n{other}");
    assert_eq!(ask(&both, r#"{"amount": 1, "rate": 0.123456789}"#), "argument_not_exact");
}

#[test]
fn a_missing_required_argument_that_a_rule_reads_is_a_denial() {
    assert_eq!(ask(LIMIT, "{}"), "evaluation_failed");
    let gate = load(LIMIT, &[]).unwrap();
    assert_eq!(code_of(&decide(&gate, "transfer", None, (true, true))), "evaluation_failed");
    assert_eq!(ask(LIMIT, "[]"), "argument_not_exact");
}

#[test]
fn an_optional_argument_is_asked_with_has() {
    let rule = when("context.arguments has urgent && context.arguments.urgent");
    assert_eq!(ask(&rule, r#"{"amount": 1}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "urgent": false}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "urgent": true}"#), "forbidden");
    assert!(refused(&when("context.arguments.urgent")).contains("urgent"), "read without has");
    let mere = when("context.arguments has urgent");
    assert_eq!(ask(&mere, r#"{"amount": 1}"#), "allow");
    assert_eq!(ask(&mere, r#"{"amount": 1, "urgent": false}"#), "forbidden");
}

#[test]
fn integers_are_whole_and_within_sixty_four_bits() {
    let rule = when("context.arguments has count && context.arguments.count > 10");
    for (count, wanted) in [
        ("10", "allow"),
        ("11", "forbidden"),
        ("1.1e1", "forbidden"),
        ("10.0", "allow"),
        ("10.5", "argument_not_exact"),
        ("9223372036854775807", "forbidden"),
        ("9223372036854775808", "argument_not_exact"),
        ("-9223372036854775808", "allow"),
        ("-9223372036854775809", "argument_not_exact"),
    ] {
        assert_eq!(ask(&rule, &format!("{{\"amount\": 1, \"count\": {count}}}")), wanted, "{count}");
    }
}

#[test]
fn a_forbid_that_overflows_denies_although_cedar_skips_it() {
    let rule = when("context.arguments has count && context.arguments.count * 2 > 10");
    assert_eq!(ask(&rule, r#"{"amount": 1, "count": 5}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "count": 6}"#), "forbidden");
    assert_eq!(ask(&rule, r#"{"amount": 1, "count": 9223372036854775807}"#), "evaluation_failed");
    let asks = format!("@obligation(\"approval\") {rule}");
    let gate = load(&asks, &[]).unwrap();
    let arguments = Some(r#"{"amount": 1, "count": 9223372036854775807}"#);
    assert_eq!(code_of(&decide(&gate, "transfer", arguments, (true, true))), "evaluation_failed");
}

#[test]
fn strings_with_an_enumeration_are_strings_with_or_without_a_type() {
    let rule = when("context.arguments has currency && context.arguments.currency != \"EUR\"");
    assert_eq!(ask(&rule, r#"{"amount": 1, "currency": "EUR"}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "currency": "US\u0044"}"#), "forbidden");
    let rule = when("context.arguments has speed && context.arguments.speed == \"fast\"");
    assert_eq!(ask(&rule, r#"{"amount": 1, "speed": "f\u0061st"}"#), "forbidden");
    assert_eq!(ask(&rule, r#"{"amount": 1, "sp\u0065ed": "fast"}"#), "forbidden", "an escaped key is the same key");
}

#[test]
fn arrays_are_sets_and_objects_records() {
    let rule = when("context.arguments has tags && context.arguments.tags.contains(\"gift\")");
    assert_eq!(ask(&rule, r#"{"amount": 1, "tags": ["loan"]}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "tags": ["loan", "gift"]}"#), "forbidden");
    assert_eq!(ask(&rule, r#"{"amount": 1, "tags": ["loan", 7]}"#), "argument_not_exact");
    let rule = when("context.arguments has to && context.arguments.to.country == \"XX\"");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": {"country": "FR"}}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": {"country": "XX"}}"#), "forbidden");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": {}}"#), "evaluation_failed");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": "XX"}"#), "argument_not_exact");
    let rule = when("context.arguments has to.bank.bic && context.arguments.to.bank.bic like \"BAD*\"");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": {"country": "FR", "bank": {}}}"#), "allow");
    assert_eq!(ask(&rule, r#"{"amount": 1, "to": {"country": "FR", "bank": {"bic": "BADBANK"}}}"#), "forbidden");
}

#[test]
fn an_argument_without_one_type_is_refused_unless_declared() {
    for (argument, why) in [("memo", "uses 'anyOf'"), ("level", "several types")] {
        for condition in [
            format!("context.arguments has {argument} && context.arguments.{argument} == \"x\""),
            format!("context.arguments has {argument} || principal.operator"),
        ] {
            let rule = when(&condition);
            let said = refused(&rule);
            assert!(said.contains(why) && said.contains(&format!("'{argument}' of 'transfer'")), "{said}");
            assert!(said.contains(&format!("[tools.\"transfer\".arguments] {argument} = ")), "{said}");
            let gate = load(&rule, &[(argument, DeclaredType::String)]).unwrap();
            let asked = |value: &str| {
                let arguments = format!("{{\"amount\": 1, \"{argument}\": {value}}}");
                code_of(&decide(&gate, "transfer", Some(&arguments), (false, false)))
            };
            assert_eq!(asked("\"x\""), "forbidden");
            assert_eq!(asked("null"), "argument_not_exact", "declared a string, so nothing else is one");
        }
    }
}

#[test]
fn an_unknown_argument_is_refused() {
    let said = refused(&when("context.arguments has ammount && context.arguments.ammount == 1"));
    assert!(said.starts_with("own.cedar:1:"), "{said}");
}

#[test]
fn the_caller_and_the_arguments_can_be_asked_together() {
    let rule = when("context.arguments.amount.greaterThan(decimal(\"10.0\")) && !principal.operator");
    assert_eq!(ask(&rule, r#"{"amount": 11}"#), "forbidden");
    let rule = when("context.arguments.amount.greaterThan(decimal(\"10.0\")) && principal.operator");
    assert_eq!(ask(&rule, r#"{"amount": 11}"#), "allow");
}

#[test]
fn a_rule_on_a_tools_own_action_that_reads_no_argument_is_refused_with_what_to_write_instead() {
    let problem = refused("forbid (principal, action == Action::\"call:transfer\", resource);");
    assert!(problem.contains("is for the arguments of 'transfer' and reads none of them"), "{problem}");
    assert!(problem.contains("write (principal, action, resource == Tool::\"transfer\") instead"), "{problem}");
}
