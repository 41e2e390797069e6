//! Operators' rule files: what is wrong is refused with the place, the text and a way out; what is right narrows.

use std::collections::BTreeMap;

use toolgate_core::{Blueprint, Caller, Decision, Gate, GateProblem, RuleFile, RuleProblem, Tool, tool::Permission};

use crate::fixtures::{call, code, denial, explained, gate_with, hidden, line, tool, user};

fn catalogue() -> Vec<Tool> {
    vec![
        tool("transfer", explained(Permission::SignedIn)),
        tool("vault.move", explained(Permission::SignedIn)),
        tool("secret", hidden(Permission::SignedIn)),
    ]
}

fn problems(rules: &str) -> Vec<RuleProblem> {
    match gate_with(catalogue(), rules) {
        Err(GateProblem::Rules(problems)) => problems,
        other => panic!("the file was not refused for its rules: {other:?}\n{rules}"),
    }
}

fn only(rules: &str) -> RuleProblem {
    let problems = problems(rules);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].clone()
}

fn place(problem: &RuleProblem) -> (usize, usize, &str) {
    (problem.line, problem.column, problem.text.as_str())
}

#[test]
fn a_syntax_error_is_reported_with_file_line_column_and_the_text_there() {
    let problem = only("// ours\nforbid (principal, action, resource)\n  wehn { true };\n");
    assert_eq!(place(&problem), (3, 3, "wehn"));
    assert!(problem.to_string().starts_with("policy/own.cedar:3:3: "), "{problem}");
    assert!(problem.to_string().contains("\n    wehn"), "{problem}");
}

#[test]
fn columns_count_characters_not_bytes() {
    let problem = only("forbid (principal, action, resource) when { \"日本\" === \"\" };");
    assert_eq!(problem.column, 52, "{problem}");
}

#[test]
fn an_unknown_attribute_is_refused_with_cedars_suggestion() {
    let problem = only("forbid (principal, action, resource)\nwhen { resource.permision == \"signed_in\" };");
    assert_eq!(problem.line, 2);
    assert!(problem.message.contains("permision"), "{problem}");
    assert!(problem.help.as_deref().unwrap_or("").contains("permission"), "{problem}");
}

#[test]
fn an_optional_fact_read_without_has_is_refused() {
    let problem = only("forbid (principal, action, resource) when { principal.user == \"ann\" };");
    assert!(problem.message.contains("user"), "{problem}");
    assert!(problem.to_string().contains("has"), "{problem}");
}

#[test]
fn an_unknown_tool_is_refused_with_the_nearest_name() {
    let problem = only("forbid (principal, action,\n  resource == Tool::\"tranfser\");");
    assert_eq!(place(&problem), (2, 21, "\"tranfser\""));
    assert!(problem.message.contains("'tranfser', which is not registered; did you mean 'transfer'?"), "{problem}");
    let far = only("forbid (principal, action, resource == Tool::\"unrelated_thing\");");
    assert!(!far.message.contains("did you mean"), "{far}");
}

#[test]
fn an_unknown_tools_own_action_is_refused_with_the_nearest_name() {
    let problem = only(
        "forbid (principal, action == Action::\"call:vault_move\", resource) when { context.arguments.to == \"x\" };",
    );
    assert_eq!(problem.text, "\"call:vault_move\"");
    assert!(problem.message.contains("did you mean 'vault.move'?"), "{problem}");
}

#[test]
fn an_unknown_action_is_refused() {
    let problem = problems("@id(\"ours\") forbid (principal, action == Action::\"invoke\", resource);").remove(0);
    assert_eq!(place(&problem), (1, 42, "Action::\"invoke\""));
    assert!(problem.message.contains("`ours`"), "the rule is named by its id: {problem}");
}

#[test]
fn a_rule_that_can_never_match_is_refused() {
    for rule in [
        "forbid (principal, action, resource) when { resource.disabled && !resource.disabled && false };",
        "forbid (principal is Tool, action, resource);",
        "forbid (principal, action == Action::\"list\", resource == Tool::\"transfer\") when { resource is Caller };",
    ] {
        assert!(!problems(rule).is_empty(), "{rule}");
    }
}

#[test]
fn a_comparison_of_different_types_is_refused() {
    assert_eq!(only("forbid (principal, action, resource)\n\nwhen { resource.min_plan == \"pro\" };").line, 3);
}

#[test]
fn a_permit_is_refused_with_what_to_write_instead() {
    let problem = only("@id(\"let_bob\")\npermit (principal, action, resource) when { principal.operator };");
    assert_eq!(place(&problem), (1, 5, "\"let_bob\""));
    assert!(problem.message.contains("'let_bob' is a permit"), "{problem}");
    assert!(problem.help.as_deref().unwrap().contains("write a forbid"), "{problem}");
}

#[test]
fn a_literal_caller_is_refused_with_what_to_write_instead() {
    let problem = only("forbid (principal == Caller::\"bob\", action, resource);");
    assert!(problem.message.contains("never a caller"), "{problem}");
    assert!(problem.help.as_deref().unwrap().contains("principal.user =="), "{problem}");
    let inside = problems("forbid (principal, action, resource) when { principal == Caller::\"bob\" };");
    assert!(inside[0].message.contains("never a caller"));
}

#[test]
fn an_unknown_annotation_is_refused_with_the_nearest_one() {
    let problem = only("@mesage(\"no\") forbid (principal, action, resource);");
    assert!(problem.message.contains("unknown annotation '@mesage'"), "{problem}");
    assert!(problem.message.contains("did you mean '@message'?"), "{problem}");
}

#[test]
fn annotations_must_have_values_that_mean_something() {
    for (annotation, said) in [
        ("@order(\"first\")", "not a whole number"),
        ("@order(\"1.5\")", "not a whole number"),
        ("@hides(\"maybe\")", "neither \"yes\" nor \"no\""),
        ("@obligation(\"two_approvals\")", "\"approval\" is the one there is"),
    ] {
        let problem = only(&format!("@id(\"ours\")\n{annotation}\nforbid (principal, action, resource);"));
        assert!(problem.message.contains(said), "{problem}");
        assert_eq!(place(&problem), (1, 5, "\"ours\""));
    }
}

#[test]
fn an_id_that_is_taken_is_refused_also_when_a_shipped_rule_has_it() {
    let twice =
        only("@id(\"x\") forbid (principal, action, resource); @id(\"x\") forbid (principal, action, resource);");
    assert!(twice.message.contains("'x' is taken by a rule in policy/own.cedar"), "{twice}");
    let shipped = only("@id(\"plan\") forbid (principal, action, resource);");
    assert!(shipped.message.contains("'plan' is taken by a rule in rulebook/toolgate.cedar"), "{shipped}");
}

#[test]
fn a_template_is_refused() {
    assert!(only("forbid (principal == ?principal, action, resource);").message.contains("template"));
}

#[test]
fn arguments_can_be_read_only_under_a_tools_own_action() {
    let problem =
        only("forbid (principal, action in Action::\"call\", resource) when { context.arguments has amount };");
    assert!(problem.message.contains("arguments"), "{problem}");
}

#[test]
fn every_problem_of_every_file_is_reported() {
    let file = |name: &str, text: &str| RuleFile { name: name.to_owned(), text: text.to_owned() };
    let rules = vec![
        file("a.cedar", "permit (principal, action, resource);\nforbid (principal, action, resource == Tool::\"x\");"),
        file("b.cedar", "forbid (principal action, resource);"),
        file("c.cedar", "@ordre(\"1\") forbid (principal, action, resource);"),
    ];
    let result = Gate::new(Blueprint { tools: catalogue(), rules, ..Blueprint::default() });
    let Err(GateProblem::Rules(problems)) = result else { panic!("not refused") };
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    problems.iter().for_each(|problem| *found.entry(problem.file.as_str()).or_insert(0) += 1);
    assert_eq!(found, BTreeMap::from([("a.cedar", 2), ("b.cedar", 1), ("c.cedar", 1)]), "{problems:#?}");
}

#[test]
fn no_rules_at_all_allow_and_list_nothing() {
    for operators in ["", "forbid (principal, action, resource) when { principal.operator };"] {
        let rules = vec![RuleFile { name: "own.cedar".into(), text: operators.into() }];
        let blueprint = Blueprint { tools: catalogue(), shipped_rules: None, rules, ..Blueprint::default() };
        let gate = Gate::new(blueprint).unwrap();
        for caller in [Caller::anonymous(), user("ann"), Caller { operator: true, ..user("op") }] {
            assert_eq!(line(&gate, &caller), "");
            assert_eq!(code(&gate, &caller, "transfer"), "no_rule");
            assert_eq!(code(&gate, &caller, "secret"), "unknown");
        }
    }
}

#[test]
fn a_rule_speaks_with_its_own_words() {
    let rule = r#"@id("quiet_hours") @code("closed") @message("No '{tool}' now.") @message_ja("今は'{tool}'を使えません。")
        @remedy("Come back with '{tool}' tomorrow.")
        forbid (principal, action in Action::"call", resource == Tool::"vault.move");"#;
    let gate = gate_with(catalogue(), rule).unwrap();
    let denial = denial(&gate, &user("ann"), "vault.move");
    assert_eq!((denial.code.as_str(), denial.rule.as_str()), ("closed", "quiet_hours"));
    assert_eq!(denial.message, "No 'vault_move' now.");
    assert_eq!(denial.remedy.as_deref(), Some("Come back with 'vault_move' tomorrow."));
    let plain = gate_with(catalogue(), "forbid (principal, action in Action::\"call\", resource);").unwrap();
    let denial = crate::fixtures::denial(&plain, &user("ann"), "transfer");
    assert_eq!(denial.message, "Tool 'transfer' is not allowed by rule 'policy/own.cedar#1'.");
    assert_eq!((denial.code.as_str(), denial.remedy), ("forbidden", None));
}

#[test]
fn a_rule_of_ones_own_hides_a_hidden_tool_wherever_it_stands_unless_it_says_no() {
    for (annotations, wanted) in [
        ("", "unknown"),
        ("@order(\"45\")", "unknown"),
        ("@order(\"2000\")", "unknown"),
        ("@hides(\"no\")", "forbidden"),
        ("@order(\"45\") @hides(\"no\")", "forbidden"),
        ("@obligation(\"approval\")", "approval: approval_required"),
    ] {
        let rule = format!("{annotations} forbid (principal, action in Action::\"call\", resource);");
        let gate = gate_with(catalogue(), &rule).unwrap();
        assert_eq!(code(&gate, &user("ann"), "secret"), wanted, "{annotations}");
    }
}

#[test]
fn a_rule_that_fails_to_evaluate_denies_and_brings_no_hidden_tool_to_light() {
    let rule = r#"forbid (principal, action in Action::"call", resource)
        when { resource.min_plan + 9223372036854775807 < 0 || principal.operator };"#;
    let fine = gate_with(catalogue(), rule).unwrap();
    assert_eq!(code(&fine, &user("ann"), "transfer"), "allow", "0 + the largest is no overflow");
    let rule = rule.replace("resource.min_plan + ", "resource.min_plan + 1 + ");
    let broken = gate_with(catalogue(), &rule).unwrap();
    assert!(matches!(call(&broken, &user("ann"), "transfer"), Some(Decision::Deny(_))));
    assert_eq!(code(&broken, &user("ann"), "transfer"), "evaluation_failed");
    assert_eq!(code(&broken, &Caller::anonymous(), "secret"), "unknown");
    assert_eq!(line(&broken, &user("ann")), "", "what can't be decided is not shown");
}

#[test]
fn a_test_for_a_fact_that_does_not_exist_is_refused_with_the_nearest_one() {
    let problem = only("forbid (principal, action, resource) when { principal has usr || resource.disabled };").message;
    assert!(problem.contains("asks 'principal has usr', which nothing ever has; did you mean 'user'?"), "{problem}");
    let problem = only(
        "forbid (principal, action, resource) when { principal has agent && principal.agent has porpose || resource.disabled };",
    )
    .message;
    assert!(problem.contains("'principal.agent has porpose'") && problem.contains("'purpose'"), "{problem}");
}

#[test]
fn a_word_that_a_fact_never_is_is_refused_with_the_nearest_one() {
    for (condition, wanted) in [
        (
            r#"resource.permission == "managr_only""#,
            "compares resource.permission with 'managr_only', which it never is; did you mean 'manager_only'?",
        ),
        (
            r#"["server", "cleint"].contains(principal.runtime)"#,
            "compares principal.runtime with 'cleint', which it never is; did you mean 'client'?",
        ),
        (r#"resource.runtimes.contains("browser")"#, "compares resource.runtimes with 'browser', which it never is"),
        (
            r#"principal has agent && principal.agent.kind != "boss""#,
            "compares principal.agent.kind with 'boss', which it never is",
        ),
    ] {
        let problem = only(&format!("forbid (principal, action, resource) when {{ {condition} }};")).message;
        assert!(problem.contains(wanted), "{problem}");
    }
}

#[test]
fn an_address_that_is_not_in_normal_form_is_noted_with_the_form_to_write() {
    let rule = |condition: &str| format!("@id(\"ours\") forbid (principal, action, resource) when {{ {condition} }};");
    for (condition, name, normal) in [
        ("resource == Resource::\"file:///gehälter\"", "file:///gehälter", "file:///geh%C3%A4lter"),
        ("resource.name == \"FILE:///a/../b\"", "FILE:///a/../b", "file:///b"),
        ("resource.name like \"file:///gehälter/*\"", "file:///gehälter/*", "file:///geh%C3%A4lter/*"),
        ("resource.name like \"*gehälter*\"", "*gehälter*", "*geh%C3%A4lter*"),
        ("resource.name like \"https://Example.com/a%2fb*\"", "https://Example.com/a%2fb*", "https://example.com/a/b*"),
        ("!([\"x:%41\"].contains(resource.name))", "x:%41", "x:A"),
        ("principal.operator || \"file://localhost/a\" == resource.name", "file://localhost/a", "file:///a"),
    ] {
        let gate = gate_with(catalogue(), &rule(condition)).unwrap();
        let [note] = gate.rulebook().notes() else { panic!("{condition}: {:?}", gate.rulebook().notes()) };
        assert!(note.message.contains(&format!("'{name}', which is not in normal form")), "{note}");
        assert!(note.help.as_deref().unwrap().contains(&format!("write '{normal}'")), "{note}");
        assert_eq!(note.line, 1);
    }
    for condition in [
        "resource.name like \"file:///notes/*\"",
        "resource.name == \"file:///geh%C3%A4lter\"",
        "resource.name == \"Überblick\"",
        "resource.name like \"vault.*\"",
        "principal has user && principal.user == \"FILE:///ä\"",
    ] {
        assert!(gate_with(catalogue(), &rule(condition)).unwrap().rulebook().notes().is_empty(), "{condition}");
    }
}
