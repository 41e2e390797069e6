//! A process's definition, read from a file: TOML, YAML or JSON, by its ending.

use std::{fs, path::Path};

use toolgate_store::ProcessDefinition;

use crate::Misuse;

/// Larger than any that a person wrote.
const LARGEST: u64 = 1 << 20;

/// The YAML reader's advice to programmers, which is no use to who wrote the file.
const YAML_ADVICE: &str = ", set DuplicateKeyPolicy in Options if acceptable";

pub fn read(path: &Path) -> Result<ProcessDefinition, Misuse> {
    let file = path.display();
    let unreadable = |fault: std::io::Error| format!("{file} can't be read: {fault}");
    if fs::metadata(path).map_err(unreadable)?.len() > LARGEST {
        return Err(format!("{file} is larger than {LARGEST} bytes; a definition is short").into());
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let definition = parsed(ending, &text).map_err(|reason| format!("{file}: {reason}"))?;
    definition.check().map_err(|problem| format!("{file}: {problem}"))?;
    Ok(definition)
}

fn parsed(ending: &str, text: &str) -> Result<ProcessDefinition, String> {
    let short = |fault: String| fault.trim().to_owned();
    match ending {
        "toml" => toml::from_str(text).map_err(|fault| short(fault.to_string())),
        "yaml" | "yml" => {
            serde_saphyr::from_str(text).map_err(|fault| short(fault.to_string().replace(YAML_ADVICE, "")))
        }
        "json" => serde_json::from_str(text).map_err(|fault| short(fault.to_string())),
        _ => Err("its name must end in .toml, .yaml, .yml or .json".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "in a test, giving up is how a failure is reported")]
mod tests {
    use super::*;

    const TOML: &str = r#"
        name = "feature"
        [orchestrator]
        max_injections = 2
        [tasks.repair]
        prompt = "Mend it."
        [[steps]]
        task = "analyse"
        skip_orchestrator = true
        [[steps]]
        task = "implement"
        prompt = "Do it."
    "#;
    const YAML: &str = "
name: feature
orchestrator:
  max_injections: 2
tasks:
  repair:
    prompt: Mend it.
steps:
  - task: analyse
    skip_orchestrator: true
  - task: implement
    prompt: Do it.
";

    #[test]
    fn the_same_process_can_be_written_in_each_language() {
        let definition = parsed("toml", TOML).unwrap();
        assert_eq!(parsed("yaml", YAML).unwrap(), definition);
        let json = serde_json::to_string(&definition).unwrap();
        assert_eq!(parsed("json", &json).unwrap(), definition);
        assert_eq!((definition.steps.len(), definition.orchestrator.max_injections), (2, 2));
        assert!(definition.steps[0].skip_orchestrator && definition.orchestrator.enabled);
        assert_eq!(definition.known_tasks().into_iter().collect::<Vec<_>>(), ["analyse", "implement", "repair"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (ending, text, said) in [
            ("toml", "name = \"x\"\nstep = []", "step"),
            ("toml", "name = \"x\"\n[[steps]]\ntask = 5", "line 3"),
            ("yaml", "name: x\nsteps:\n  - taks: a\n", "taks"),
            ("yaml", "name: x\nsteps: [", "line"),
            ("yaml", "name: x\n", "steps"),
            ("json", "{}", "name"),
            ("txt", "", "must end in"),
        ] {
            let reason = parsed(ending, text).unwrap_err();
            assert!(reason.contains(said), "{ending}: {reason}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_in_words_for_who_wrote_the_file() {
        let reason = parsed("yaml", "name: x\nname: y\nsteps: []\n").unwrap_err();
        assert!(reason.contains("duplicate mapping key: name") && !reason.contains("Options"), "{reason}");
    }

    #[test]
    fn a_yaml_file_can_not_make_more_of_itself_than_it_is() {
        let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, of) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e"), ("g", "f"), ("h", "g")] {
            bomb.push_str(&format!("{name}: &{name} [{}]\n", vec![format!("*{of}"); 10].join(", ")));
        }
        bomb.push_str("name: x\nsteps: []\n");
        assert!(parsed("yaml", &bomb).is_err());
    }

    #[test]
    fn definitions_are_read_in_linear_time() {
        for (ending, start, part) in [
            ("yaml", "name: x\nsteps:\n", "  - task: a\n"),
            ("yaml", "name: x\nsteps: []\ntasks:\n", "  ? a\n  : {}\n"),
            ("yaml", "name: &a x\nsteps:\n", "  - task: *a\n"),
            ("yaml", "name: x\nsteps: ", "["),
            ("yaml", "name: x\nsteps: ", "{a: "),
            ("yaml", "name: \"", "\\x41\\u0041"),
            ("yaml", "name: |\n", "  a\n\n"),
            ("yaml", "", "# a\n"),
            ("yaml", "", "- "),
            ("yaml", "name: x\nsteps:\n", "- &a\n"),
            ("toml", "name = \"x\"\n", "[[steps]]\ntask = \"a\"\n"),
            ("toml", "name = \"x\"\nsteps = ", "["),
            ("toml", "name = \"", "\\u0041"),
            ("toml", "", "a.b.c."),
            ("toml", "", "# a\n"),
            ("json", "{\"name\":\"x\",\"steps\":[", "{\"task\":\"a\"},"),
            ("json", "", "["),
        ] {
            crate::linear::assert_linear(&format!("{ending}: {start}{part}"), 64, |times| {
                let _ = parsed(ending, &format!("{start}{}", part.repeat(times)));
            });
        }
        for (ending, key) in [("yaml", "  KEY: {}\n"), ("toml", "KEY = {}\n")] {
            crate::linear::assert_linear(key, 64, |times| {
                let keys: String = (0..times).map(|number| key.replace("KEY", &format!("k{number}"))).collect();
                let head = if ending == "yaml" {
                    "name: x\nsteps: []\ntasks:\n"
                } else {
                    "name = \"x\"\nsteps = []\n[tasks]\n"
                };
                assert!(parsed(ending, &format!("{head}{keys}")).is_ok());
            });
        }
    }
}
