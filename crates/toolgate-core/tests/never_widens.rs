//! An operator's rule does what its text says and nothing else: it narrows, and never gives anyone anything.

use std::{collections::BTreeMap, sync::Arc};

use toolgate_core::{
    Caller, Gate, Lang, Tool,
    explain::{Listed, Outcome},
};

use crate::fixtures::{
    condition::Condition,
    gate, gate_with,
    random::{Random, callers, tools},
};

const RULES: usize = 60;

#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Call,
    List,
    Everything,
}

/// A random forbid with its parts, from which its effect follows.
struct Rule {
    text: String,
    on: On,
    tool: Option<String>,
    condition: Condition,
    unless: bool,
    asks: bool,
}

impl Rule {
    fn random(random: &mut Random, tools: &[Tool]) -> Self {
        let on = random.pick(&[On::Call, On::Call, On::List, On::Everything]);
        let action = match on {
            On::Call if random.one_in(2) => "action == Action::\"call\"",
            On::Call => "action in Action::\"call\"",
            On::List => "action == Action::\"list\"",
            On::Everything => "action",
        };
        let tool = random.one_in(6).then(|| random.pick(tools).name.to_string());
        let resource = tool.as_ref().map_or("resource".to_owned(), |name| format!("resource == Tool::\"{name}\""));
        let condition = Condition::random(random, 3, tools);
        let unless = random.one_in(3);
        let asks = on == On::Call && random.one_in(4);
        let mut text = String::from("@id(\"ours\")\n");
        if random.one_in(3) {
            text += &format!("@order(\"{}\")\n", random.below(300));
        }
        if random.one_in(3) {
            text += random.pick(&["@hides(\"yes\")\n", "@hides(\"no\")\n"]);
        }
        if asks {
            text += "@obligation(\"approval\")\n";
        }
        let word = if unless { "unless" } else { "when" };
        text += &format!("forbid (principal, {action}, {resource})\n{word} {{ {} }};\n", condition.cedar);
        Self { text, on, tool, condition, unless, asks }
    }

    /// Whether it says no to this call, or can't be evaluated for it.
    fn strikes(&self, caller: &Caller, tool: &Tool) -> Result<bool, ()> {
        if self.on == On::List || self.tool.as_deref().is_some_and(|name| name != tool.name.as_str()) {
            return Ok(false);
        }
        self.condition.holds(caller, tool).map(|holds| holds != self.unless).map_err(|_| ())
    }
}

type Answers = BTreeMap<(usize, String), (Outcome, Listed, bool, Option<String>)>;

fn answers(gate: &Arc<Gate>, callers: &[Caller], tools: &[Tool]) -> Answers {
    let mut answers = Answers::new();
    for (number, caller) in callers.iter().enumerate() {
        let view = gate.view(caller).unwrap();
        for tool in tools {
            let why = gate.explain(&view, caller, tool.name.as_str(), false, Lang::En).unwrap();
            let code = why.reason.map(|denial| denial.code);
            answers.insert((number, tool.name.to_string()), (why.outcome, why.listed, why.hidden, code));
        }
    }
    answers
}

#[test]
fn a_random_rule_of_ones_own_narrows_exactly_as_written_and_never_widens() {
    let mut random = Random::new(77);
    let tools = tools(&mut random, 16);
    let callers = callers(&mut random, 24, &tools);
    let before = answers(&gate(tools.clone()), &callers, &tools);
    let (mut refused, mut struck, mut failed) = (0, 0, 0);
    for _ in 0..RULES {
        let rule = Rule::random(&mut random, &tools);
        let Ok(gate) = gate_with(tools.clone(), &rule.text) else {
            // a condition that can't be true is refused; most can
            refused += 1;
            continue;
        };
        let after = answers(&gate, &callers, &tools);
        for (number, caller) in callers.iter().enumerate() {
            for tool in &tools {
                let key = (number, tool.name.to_string());
                let ((was, was_listed, was_hidden, _), (is, is_listed, is_hidden, code)) =
                    (&before[&key], &after[&key]);
                let context = || format!("{}\n{caller:?}\n{tool:?}", rule.text);
                // outcomes are ordered from allow to deny, lists from yes to no
                assert!(is >= was, "a call was widened: {}", context());
                assert!(*was_listed != Listed::No || *is_listed == Listed::No, "a list was widened: {}", context());
                assert!(!was_hidden || *is_hidden, "a hidden tool came to light: {}", context());
                let wanted = match rule.strikes(caller, tool) {
                    Err(()) => {
                        failed += 1;
                        assert_eq!(code.as_deref(), Some("evaluation_failed"), "{}", context());
                        Outcome::Deny
                    }
                    Ok(true) if rule.asks => *was.max(&Outcome::NeedsApproval),
                    Ok(true) => Outcome::Deny,
                    Ok(false) => *was,
                };
                assert_eq!(*is, wanted, "the rule does not do what it says: {}", context());
                struck += usize::from(is > was);
            }
        }
    }
    assert!(refused < RULES / 3, "{refused} of {RULES} random rules were refused");
    assert!(struck > 500 && failed > 40, "{struck} calls were narrowed, {failed} failed to evaluate");
}

#[test]
fn a_rule_on_the_list_takes_from_the_list_and_leaves_the_call() {
    let mut random = Random::new(9);
    let tools = tools(&mut random, 30);
    let callers = callers(&mut random, 40, &tools);
    let before = answers(&gate(tools.clone()), &callers, &tools);
    let rule = "forbid (principal, action == Action::\"list\", resource) when { resource.effect == \"write\" };";
    let after = answers(&gate_with(tools.clone(), rule).unwrap(), &callers, &tools);
    for ((number, name), (was, was_listed, ..)) in &before {
        let (is, is_listed, ..) = &after[&(*number, name.clone())];
        assert_eq!(is, was);
        let writes = tools.iter().any(|tool| tool.name.as_str() == name && tool.facts.effect.as_str() == "write");
        assert_eq!(*is_listed, if writes { Listed::No } else { *was_listed });
    }
}
