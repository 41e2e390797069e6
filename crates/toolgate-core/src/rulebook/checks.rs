//! What is wrong with single rules before Cedar validates them: names, tests and arguments that could never match.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::EntityUid;

use super::{ArgumentTypes, RuleProblem, arguments::quote, known, load::Draft};
use crate::suggest::{did_you_mean, hint};

pub(super) fn refuse_repeated_ids(drafts: &[Draft<'_>], problems: &mut Vec<RuleProblem>) {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for draft in drafts {
        if let Some(first) = seen.insert(&draft.id, &draft.file.name) {
            problems.push(problem(draft, format!("rule id '{}' is taken by a rule in {first}", draft.id)));
        }
    }
}

pub(super) fn problem(draft: &Draft<'_>, message: String) -> RuleProblem {
    RuleProblem::at(&draft.file.name, &draft.file.text, draft.place.0, draft.place.1, message)
}

/// Rules name tools and tools' actions; a name that is not registered could never match.
pub(super) fn check_names(
    draft: &Draft<'_>,
    names: &BTreeSet<&str>,
    named: &mut BTreeSet<String>,
    argument_tools: &mut BTreeSet<String>,
    problems: &mut Vec<RuleProblem>,
) {
    for literal in draft.policy.entity_literals() {
        let kind = literal.type_name().to_string();
        let id: &str = literal.id().unescaped();
        let tool = match kind.as_str() {
            "Tool" => Some(id),
            "Action" => id.strip_prefix("call:"),
            // these come and go with their servers, so that nothing can be said of a name that is not there
            "Prompt" | "Resource" => {
                named.insert(id.to_owned());
                None
            }
            "Caller" => {
                problems.push(
                    problem(draft, format!("rule '{}' names {literal}, which is never a caller", draft.id))
                        .with_help("compare a fact instead: principal has user && principal.user == \"…\""),
                );
                None
            }
            _ => None,
        };
        let Some(tool) = tool else { continue };
        if names.contains(tool) {
            named.insert(tool.to_owned());
            if kind == "Action" {
                argument_tools.insert(tool.to_owned());
            }
        } else {
            let hint = hint(tool, names.iter().copied());
            problems.push(point_at(
                draft,
                id,
                format!("rule '{}' names the tool '{tool}', which is not registered{hint}", draft.id),
            ));
        }
    }
}

/// Points at the quoted name if it stands in the file, else at the rule.
pub(super) fn point_at(draft: &Draft<'_>, name: &str, message: String) -> RuleProblem {
    let quoted = quote(name);
    let from = draft.place.0;
    let found = draft.file.text.get(from..).and_then(|text| text.find(&quoted)).map(|at| from + at);
    match found {
        Some(at) => RuleProblem::at(&draft.file.name, &draft.file.text, at, quoted.len(), message),
        None => problem(draft, message),
    }
}

/// A test for a fact that does not exist is never true.
pub(super) fn check_tests(draft: &Draft<'_>, problems: &mut Vec<RuleProblem>) {
    if let Some(tool) =
        draft.policy.entity_literals().iter().find_map(action_tool).filter(|_| !draft.reads.any_argument())
    {
        problems.push(
            problem(draft, format!("rule '{}' is for the arguments of '{tool}' and reads none of them", draft.id))
                .with_help(format!("write (principal, action, resource == Tool::{}) instead", quote(tool))),
        );
    }
    for path in draft.reads.tests() {
        if let Some(near) = known::undeclared(path) {
            let hint = did_you_mean(near);
            let (asked, of) =
                path.split_last().map_or((String::new(), String::new()), |(last, of)| (last.clone(), of.join(".")));
            problems.push(problem(
                draft,
                format!("rule '{}' asks '{of} has {asked}', which nothing ever has{hint}", draft.id),
            ));
        }
    }
}

pub(super) fn check_arguments(
    draft: &Draft<'_>,
    arguments: &BTreeMap<String, ArgumentTypes>,
    problems: &mut Vec<RuleProblem>,
) {
    for argument in draft.reads.arguments() {
        for literal in draft.policy.entity_literals() {
            let Some(tool) = action_tool(&literal) else {
                continue;
            };
            if let Some(reason) = arguments.get(tool).and_then(|types| types.unclear(argument)) {
                problems.push(
                    problem(draft, format!("rule '{}' reads the argument '{argument}' of '{tool}', which has no single type: {reason}", draft.id))
                        .with_help(format!("declare it: [tools.\"{tool}\".arguments] {argument} = \"string\" (or boolean, integer, decimal)")),
                );
            }
        }
    }
}

pub(super) fn action_tool(literal: &EntityUid) -> Option<&str> {
    (literal.type_name().to_string() == "Action").then(|| literal.id().unescaped().strip_prefix("call:")).flatten()
}
