//! `test`: policy tests in a small TOML file. Given a caller, these tools are listed, callable, or denied with this code.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use toolgate_core::{
    Decision, Gate,
    explain::{Explanation, Listed, Outcome},
};

use super::print;
use crate::{
    CommandResult, Ending, Misuse,
    caller_facts::CallerFacts,
    cli::{Output, Place},
    ground::Ground,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestFile {
    test: Vec<PolicyTest>,
}

/// One caller and what it should get.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyTest {
    name: String,
    #[serde(default)]
    caller: CallerFacts,
    /// The whole list, nothing else.
    lists_exactly: Option<Vec<String>>,
    #[serde(default)]
    listed: Vec<String>,
    #[serde(default)]
    not_listed: Vec<String>,
    /// Listed but marked as not callable.
    #[serde(default)]
    marked: Vec<String>,
    #[serde(default)]
    callable: Vec<String>,
    #[serde(default)]
    needs_approval: Vec<String>,
    /// Answered as an unknown tool.
    #[serde(default)]
    hidden: Vec<String>,
    /// Tool to the code of the denial.
    #[serde(default)]
    denied: BTreeMap<String, String>,
    #[serde(default)]
    calls: Vec<CallTest>,
}

/// A call with arguments, for rules that read them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallTest {
    tool: String,
    arguments: serde_json::Value,
    /// "allow", "needs_approval" or the code of the denial.
    gets: String,
}

pub fn run(place: &Place, files: Vec<PathBuf>, output: Output) -> CommandResult {
    let ground = Ground::of(place)?;
    let gate = ground.gate()?;
    let files = if files.is_empty() { beside(ground.config_path.as_deref())? } else { files };
    if files.is_empty() {
        return Err("there are no policy tests: name a file, or put *.test.toml beside the configuration".into());
    }
    let (mut passed, mut failures) = (0_usize, Vec::new());
    for path in files {
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|fault| format!("{shown} can't be read: {fault}"))?;
        let file: TestFile = toml::from_str(&text).map_err(|fault| format!("{shown}: {fault}"))?;
        for test in file.test {
            let wrong = check(&gate, &test).map_err(|misuse| format!("{shown}: test '{}': {misuse}", test.name))?;
            if wrong.is_empty() {
                passed += 1;
            }
            failures.extend(wrong.into_iter().map(|what| (shown.clone(), test.name.clone(), what)));
        }
    }
    let failed: std::collections::BTreeSet<_> = failures.iter().map(|(file, test, _)| (file, test)).collect();
    let mut text: String = failures.iter().map(|(file, test, what)| format!("{file}: {test}: {what}\n")).collect();
    text.push_str(&format!("{passed} passed, {} failed\n", failed.len()));
    let value = json!({
        "passed": passed,
        "failed": failed.len(),
        "failures": failures.iter().map(|(file, test, what)| json!({"file": file, "test": test, "what": what})).collect::<Vec<_>>(),
    });
    print(output, &value, &text)?;
    Ok(if failures.is_empty() { Ending::Good } else { Ending::No })
}

fn beside(config: Option<&Path>) -> Result<Vec<PathBuf>, Misuse> {
    let folder =
        config.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".test.toml")))
        .collect();
    found.sort();
    Ok(found)
}

/// What the test expects and does not get.
fn check(gate: &Arc<Gate>, test: &PolicyTest) -> Result<Vec<String>, Misuse> {
    let caller = test.caller.caller()?;
    let view = gate.view(&caller).ok_or("this caller can't be put to the rulebook")?;
    let explain = |tool: &str| -> Result<Explanation, Misuse> {
        gate.explain(&view, &caller, tool, false, gate.lang()).ok_or_else(|| gate.catalog().not_registered(tool).into())
    };
    let mut wrong = Vec::new();
    let mut expect = |tools: &[String], holds: fn(&Explanation) -> bool, what: &str| -> Result<(), Misuse> {
        for tool in tools {
            let explained = explain(tool)?;
            if !holds(&explained) {
                wrong.push(format!("'{tool}' should be {what}, but {}", got(&explained)));
            }
        }
        Ok(())
    };
    expect(&test.listed, |e| e.listed != Listed::No, "listed")?;
    expect(&test.not_listed, |e| e.listed == Listed::No, "not listed")?;
    expect(&test.marked, |e| e.listed == Listed::Marked, "marked")?;
    expect(&test.callable, |e| e.outcome == Outcome::Allow, "callable")?;
    expect(&test.needs_approval, |e| e.outcome == Outcome::NeedsApproval, "held for approval")?;
    expect(&test.hidden, |e| e.hidden, "hidden")?;
    for (tool, code) in &test.denied {
        let explained = explain(tool)?;
        let given =
            explained.reason.as_ref().filter(|_| explained.outcome == Outcome::Deny).map(|reason| reason.code.as_str());
        if given != Some(code) {
            wrong.push(format!("'{tool}' should be denied with {code}, but {}", got(&explained)));
        }
    }
    if let Some(exactly) = &test.lists_exactly {
        let mut wanted = exactly.iter().map(|tool| explain(tool).map(|e| e.tool)).collect::<Result<Vec<_>, _>>()?;
        wanted.sort();
        let mut listed = Vec::new();
        for tool in gate.catalog().tools() {
            if explain(tool.name.as_str())?.listed != Listed::No {
                listed.push(tool.name.to_string());
            }
        }
        listed.sort();
        if wanted != listed {
            wrong.push(format!("the list should be [{}], but is [{}]", wanted.join(", "), listed.join(", ")));
        }
    }
    for call in &test.calls {
        let explained = explain(&call.tool)?;
        let tool = gate.catalog().find(&call.tool).ok_or("a tool vanished")?;
        let arguments = RawValue::from_string(call.arguments.to_string())?;
        let decision = match explained.outcome {
            Outcome::Deny => explained.reason.map_or_else(String::new, |reason| reason.code),
            before => {
                match gate.decide_arguments(&view, &caller, tool, (false, false), Some(&arguments), gate.lang()) {
                    Decision::Allow if before == Outcome::Allow => "allow".to_owned(),
                    Decision::Allow | Decision::NeedsApproval(_) => "needs_approval".to_owned(),
                    Decision::Deny(denial) => denial.code,
                }
            }
        };
        if decision != call.gets {
            wrong.push(format!("'{}' with {arguments} should get {}, but gets {decision}", call.tool, call.gets));
        }
    }
    Ok(wrong)
}

fn got(explained: &Explanation) -> String {
    let listed = match explained.listed {
        Listed::Yes => "listed",
        Listed::Marked => "listed and marked",
        Listed::No => "not listed",
    };
    match (&explained.outcome, &explained.reason) {
        (Outcome::Allow, _) => format!("it is callable and {listed}"),
        (Outcome::NeedsApproval, _) => format!("it needs approval and is {listed}"),
        (Outcome::Deny, reason) => {
            let code = reason.as_ref().map_or("no reason", |reason| reason.code.as_str());
            format!("it is denied with {code} and {listed}")
        }
    }
}
